/**
 * `anygpt mcp add`: shows what a server would run or connect to, and writes it into the user's configuration. Starts
 * nothing.
 * @module
 */

import { rm } from 'node:fs/promises';
import { ownConfigurationFile, whileEditing } from '../../clients/installers/own-configuration.ts';
import { ownServer, withServer } from '../../clients/installers/own-servers.ts';
import { isCode } from '../../config/parse-data.ts';
import { nameProblem } from '../../config/server-schema.ts';
import { realWorld, type World } from '../../config/world.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { addressWords, isLocal, namedTextsOf } from '../../core/transport-parts.ts';
import type { AskedInput } from '../../mcp-registry/resolve-way.ts';
import { compact } from '../../meta-tools/answers.ts';
import { type Addition, additionOf } from '../add/addition.ts';
import { type KeptSecret, writeSecret } from '../add/kept-secrets.ts';
import { targetOf } from '../add/target.ts';
import { ask, askHidden, isYes } from '../ask.ts';
import type { Command } from '../command.ts';
import { EXIT, type Io } from '../io.ts';
import { toJson, toWord } from '../json-document.ts';
import { REGISTRY_HELP, REGISTRY_OPTIONS, type RegistrySession, withRegistries } from '../open-registries.ts';
import { withTilde } from '../source-lines.ts';
import { oneOf, UsageError } from '../usage-error.ts';

export const add: Command = {
  usage: `Usage: anygpt mcp add <publisher/server[@version]> [options]
       anygpt mcp add npm:<package[@version]> [options]
       anygpt mcp add [name] <https://address> [options]
       anygpt mcp add [name] [options] -- <command> [arguments]

Adds a server to your configuration. Shows in full what will run, or where it
connects, before anything is written, and starts nothing. Asks before it adds a
server from a registry or from npm. A bundle (MCPB) is downloaded and checked
first, and unpacked below ~/.anygpt/bundles after your yes. Versions are pinned.
Secrets stay out of the configuration, also those in arguments and addresses: it
has \${NAME} instead, and a value that you give is kept in a file below
~/.anygpt/secrets. The arguments of "claude mcp add" and "claude mcp add-json"
and the JSON of "code --add-mcp" work too.

Options:
  --name NAME        The name of the server in your configuration
  --env, -e K=V      An environment variable; K alone takes it from the
                     gateway's environment; repeatable
  --header, -H "N: V"  A header for a server at an address; repeatable
  --set ID=VALUE     Answer another input that a registry's server asks for;
                     repeatable
  --transport, -t T  stdio, http or sse
  --way WAY          One of the ways that "registry show" lists
  --yes, -y          Do not ask
  --dry-run          Show everything, and write nothing
${REGISTRY_HELP}

Examples:
  anygpt mcp add io.github.domdomegg/airtable-mcp-server
  anygpt mcp add npm:@modelcontextprotocol/server-memory@2025.4.25
  anygpt mcp add linear https://mcp.linear.app/mcp
  anygpt mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  anygpt mcp add '{"name":"time","command":"uvx","args":["mcp-server-time"]}'

Exit codes: 0 success, 1 invalid arguments or a missing answer, 2 not found or
cannot be used, 3 cannot be asked or written, 4 not confirmed`,
  options: {
    ...REGISTRY_OPTIONS,
    name: { type: 'string' },
    env: { type: 'string', short: 'e', multiple: true },
    header: { type: 'string', short: 'H', multiple: true },
    set: { type: 'string', multiple: true },
    transport: { type: 'string', short: 't' },
    way: { type: 'string' },
    scope: { type: 'string', short: 's' },
    yes: { type: 'boolean', short: 'y' },
    'dry-run': { type: 'boolean' },
  },
  unknownOption: 'To add a command with options, put -- before it: "anygpt mcp add NAME -- COMMAND".',
  async run(values, positionals, io) {
    const { transport, scope } = values;
    if (transport !== undefined) oneOf('--transport', transport, ['stdio', 'http', 'sse']);
    if (scope !== undefined && scope !== 'user' && scope !== 'local')
      throw new UsageError('--scope can only be user here: servers are added to your own configuration');
    const target = targetOf(values, positionals);
    return withRegistries(values, io, async (session) => {
      const world = realWorld({ env: io.env, cwd: io.cwd });
      const named = values.config as string | undefined;
      const isAsking = io.stdin.isTTY === true && !session.json && !values.yes;
      const asking = isAsking ? asker(session) : undefined;
      const addition = await additionOf(target, { values, io, world, session, ask: asking });
      await using _download = { [Symbol.asyncDispose]: async () => addition.bundle?.discard() };
      const { name } = addition.entry;
      const problem = nameProblem(name);
      if (problem !== undefined) throw new UsageError(`The name of the server ${problem}. Choose one with --name`);
      const file = ownConfigurationFile(world, named);
      const isThere = await refuseTaken(addition, session, await ownServer(world, named, name));
      const report = (status: Status, code: number = EXIT.ok): number => {
        if (session.json) session.printJson(documentOf(addition, file, status, io));
        else if (status !== 'code') session.print(outcomeText(addition, file, status, io));
        return code;
      };
      if (!session.json) session.print(additionText(addition, session));
      for (const note of addition.notes) session.note(note);
      if (isThere) return report('unchanged');
      if (isCode(file)) {
        if (!session.json)
          session.print(
            [
              `\n${withTilde(file, world.home)} is code, which cannot be edited. Add this to its \`servers\`:\n\n${toJson(addition.entry)}`,
              ...addition.secrets.flatMap(({ variable, kept }) =>
                kept ? [`Write the value of ${variable} into ${withTilde(kept.file, world.home)} first.`] : [],
              ),
            ].join('\n'),
          );
        return report('code', EXIT.failed);
      }
      // Reports a file that cannot be edited before anybody is asked.
      await withServer(world, named, addition.entry);
      if (values['dry-run']) return report('dry-run');
      if (addition.from !== undefined && !values.yes) {
        const isSure = isAsking && (await isYes(io, `\nAdd it to ${withTilde(file, world.home)}? [y/N] `));
        if (!isSure) return report('not-confirmed', EXIT.refused);
      }
      const isNew = await whileEditing(world, named, () => written(addition, world, named));
      return report(isNew ? 'added' : 'unchanged');
    });
  },
};

/**
 * Writes the entry and the files of its secrets; of a failed attempt no secret stays. Returns false if another process
 * has added the same entry meanwhile.
 */
async function written(addition: Addition, world: World, named: string | undefined): Promise<boolean> {
  const { entry, secrets, bundle } = addition;
  const own = await ownServer(world, named, entry.name);
  if (own !== undefined && toJson(own) === toJson(entry)) return false;
  if (own !== undefined)
    throw new DiscoveryError('CONFIGURATION_ERROR', `Another process has just added a server "${entry.name}".`);
  const change = await withServer(world, named, entry);
  const files: string[] = [];
  try {
    for (const { kept } of secrets) if (kept && (await writeSecret(kept.file, kept.value))) files.push(kept.file);
    await bundle?.unpack();
    await change.write();
    return true;
  } catch (error) {
    for (const file of files) await rm(file, { force: true });
    throw error;
  }
}

type Status = 'added' | 'unchanged' | 'dry-run' | 'not-confirmed' | 'code';

/**
 * Asks for inputs at the terminal, after showing the command line or address that uses them. A secret is hidden while it
 * is typed, and may be left to the environment.
 */
function asker({ io, block }: RegistrySession) {
  let isSaid = false;
  return ({ id, description, isSecret, choices }: AskedInput, words: readonly string[]) => {
    if (!isSaid) io.stderr.write(`${block(`${words.map(toWord).join(' ')} asks for:`)}\n`);
    isSaid = true;
    const about = [description, choices.length > 0 && `one of ${choices.map(toWord).join(', ')}`].filter(Boolean);
    const text = block(`${id}${about.length > 0 ? ` (${about.join('; ')})` : ''}`, '  ');
    if (isSecret) return askHidden(io, `${text}, hidden; Enter leaves it to the environment: `);
    return ask(io, `${text}: `, (answer) => (answer === '' ? undefined : answer));
  };
}

/** Tells whether exactly this entry exists. Throws if another server has the name. */
async function refuseTaken(
  { entry, from }: Addition,
  { engine, io }: RegistrySession,
  own: Readonly<Record<string, unknown>> | undefined,
): Promise<boolean> {
  const { name } = entry;
  if (own !== undefined && toJson(own) === toJson(entry)) return true;
  const { servers } = await engine.getConfig();
  const other = servers.find((server) => server.name === name);
  if (other === undefined && own === undefined) return false;
  const where = withTilde(other?.origin.file || 'your configuration', io.env.HOME);
  const word = from === undefined ? 'Give this one another name' : 'Give this one another name with --name';
  throw new DiscoveryError(
    'CONFIGURATION_ERROR',
    `There is already a server "${name}", in ${where}. ${word}, or run "anygpt mcp remove ${toWord(name)}" first.`,
  );
}

function additionText(addition: Addition, { paint, block }: RegistrySession): string {
  const { entry, connection, startsApart, from, warnings, postInstall } = addition;
  const local = isLocal(connection);
  const shown = addressWords(connection).map(toWord).join(' ');
  const lines = [
    from?.registry !== undefined &&
      `Publisher: ${from.publisher} (registry ${from.registry}; a registry does not review what is published)`,
    `${local ? 'Will run' : 'Will connect to'}: ${shown}`,
    from?.bundle &&
      `Bundle: ${from.bundle.url} (its SHA-256 is ${from.bundle.sha256}, as the registry says), to be unpacked into ${from.bundle.folder}`,
    startsApart && `Start it yourself: ${startsApart.map(toWord).join(' ')}`,
    ...Object.entries(namedTextsOf(connection)).map(([name, text]) =>
      local ? `Environment: ${toWord(name)}=${toWord(text)}` : `Header: ${toWord(name)}: ${toWord(text)}`,
    ),
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...postInstall.map(
      ({ description, command, optional }) =>
        `After adding${optional ? ', if you like' : ''} (not run automatically): ${[description, command].filter(Boolean).join(' - ')}`,
    ),
    from !== undefined && from.otherWays.length > 0 && `Other ways: ${from.otherWays.join(', ')} (--way)`,
  ].filter((line) => typeof line === 'string');
  const source = from === undefined ? '' : ` from ${toWord(from.name)} ${toWord(from.version)} (${from.way})`;
  return [`${paint('bold', entry.name)}${source}`, ...lines.map((line) => block(line, '  '))].join('\n');
}

function outcomeText({ entry, connection, secrets }: Addition, file: string, status: Status, io: Io): string {
  const [name, where] = [toWord(entry.name), withTilde(file, io.env.HOME)];
  if (status === 'dry-run') return `\nNothing was written. Without --dry-run it is added to ${where}.`;
  if (status === 'not-confirmed') return '\nNothing was written. --yes adds it without a question.';
  const unset = secrets.filter((secret) => isUnset(secret, io)).map(({ variable }) => variable);
  return [
    status === 'unchanged' ? `\n"${entry.name}" is already in ${where}.` : `\n✓ Added "${entry.name}" to ${where}`,
    ...secrets.flatMap(({ variable, kept }) =>
      kept === undefined ? [] : [`  The value of ${variable} is in ${withTilde(kept.file, io.env.HOME)}.`],
    ),
    ...unset.map(
      (variable) =>
        `  Set ${variable} in the environment of the gateway: in your shell's profile, or as \`env\` of anygpt in your client.`,
    ),
    entry.registry === undefined
      ? `  Next: anygpt mcp tools ${name}   ${isLocal(connection) ? 'starts it' : 'connects'} and lists its tools`
      : `  Next: anygpt mcp approve ${name}   shows its tools; agents may use those that you approve`,
  ].join('\n');
}

const isUnset = ({ variable, kept }: KeptSecret, { env }: Io): boolean =>
  kept === undefined && (env[variable] ?? '') === '';

function documentOf(addition: Addition, file: string, status: Status, io: Io): object {
  const { entry, connection, startsApart, secrets, warnings, postInstall, notes, from } = addition;
  const words = addressWords(connection);
  return compact({
    name: entry.name,
    file,
    status,
    entry,
    ...(isLocal(connection) ? { command: words } : { url: words[0] }),
    startsApart,
    from: from && compact(from),
    secrets: secrets.map((secret) =>
      compact({ variable: secret.variable, file: secret.kept?.file, set: !isUnset(secret, io) }),
    ),
    warnings,
    postInstall,
    notes,
  }) as object;
}
