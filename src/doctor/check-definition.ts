/**
 * Checks the entry of a server without starting it.
 * @module
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expandReferences, lookUpReferences, referencesIn } from '../config/references.ts';
import { howToWriteThem, quotedWords, relativeWords } from '../config/relative-arguments.ts';
import { homeFolder } from '../connections/stdio/home-folder.ts';
import { ConfigurationError } from '../core/errors.ts';
import { isLocal, textsOf } from '../core/transport-parts.ts';
import type { RemoteConnection, ServerDefinition, StdioConnection } from '../core/types.ts';
import { createRedactor } from '../secrets/redactor.ts';
import { secretParts } from '../secrets/secret-values.ts';
import { secretsOf } from '../secrets/server-secrets.ts';
import { oneLine } from '../text/plain-text.ts';
import { serverVariable } from '../text/server-variable.ts';
import type { Check } from './check.ts';
import { findCommand } from './find-command.ts';

/** The environment an entry is checked against. */
export interface DefinitionWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The running Node.js; programs installed with it are beside it. */
  readonly execPath: string;
}

type Finding = Omit<Check, 'kind' | 'subject'>;

/** All findings about an entry. */
export function checkDefinition(definition: ServerDefinition, world: DefinitionWorld): Check[] {
  const { connection, name } = definition;
  if (definition.refusal !== undefined) return [{ kind: 'server', subject: name, ...refused(definition.refusal) }];
  const variables = checkVariables(definition, world);
  const findings =
    variables.status === 'fail'
      ? [variables]
      : [
          variables,
          ...(isLocal(connection)
            ? checkLocal(definition, connection, world)
            : checkRemote(definition, connection, world)),
        ];
  const redact = redactorFor(definition, world);
  return findings.map(({ fix, ...finding }) => ({
    kind: 'server',
    subject: name,
    ...finding,
    detail: redact(finding.detail),
    ...(fix !== undefined && { fix: redact(fix) }),
  }));
}

/** Masks what is secret in an entry, also in the path of its command or folder. */
function redactorFor(definition: ServerDefinition, { env }: DefinitionWorld): (text: string) => string {
  const { connection } = definition;
  const secrets = secretsOf([definition], { env, lookUp: (text) => lookUpReferences(text, env) });
  const folder = isLocal(connection) ? secretParts(connection.cwd ?? '', '') : [];
  return createRedactor([...secrets, ...folder]);
}

/** A server that may not start in this folder, or not before trust is given: a warning, not an error of the entry. */
function refused(refusal: string): Finding {
  const command = /`(anygpt mcp [^`]{1,500})`/.exec(refusal)?.[1];
  return { check: 'folder', status: 'warn', detail: refusal, ...(command !== undefined && { fix: command }) };
}

/** The file and place of an entry, for messages. */
export const placeOf = ({ origin: { file, path } }: ServerDefinition): string => (path ? `${file}, ${path}` : file);

/** The names of the variables that an entry refers to. */
export const variablesOf = (definition: ServerDefinition): string[] => [
  ...new Set(textsOf(definition.connection).flatMap((text) => referencesIn(text).map(({ name }) => name))),
];

function checkVariables(definition: ServerDefinition, { env }: DefinitionWorld): Finding {
  const check = 'variables';
  const texts = textsOf(definition.connection);
  const needed = texts.flatMap((text) => referencesIn(text).filter(({ fallback }) => fallback === undefined));
  const missing = [...new Set(needed.map(({ name }) => name))].filter(
    (name) => !Object.hasOwn(env, name) || env[name] === undefined,
  );
  if (missing.length > 0) {
    const [detail, them] =
      missing.length === 1 ? [`${missing[0]} is not set`, 'it'] : [`${missing.join(', ')} are not set`, 'them'];
    const fix = `export ${missing.map((name) => `${name}=…`).join(' ')} (${placeOf(definition)} refers to ${them})`;
    return { check, status: 'fail', detail, fix };
  }
  try {
    for (const text of texts) expandReferences(text, env, placeOf(definition));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { check, status: 'fail', detail: oneLine(error.message, 500), fix: `Correct ${placeOf(definition)}` };
  }
  const names = variablesOf(definition);
  return { check, status: 'ok', detail: names.length > 0 ? `${names.join(', ')} can be resolved` : 'none needed' };
}

function checkLocal(definition: ServerDefinition, connection: StdioConnection, world: DefinitionWorld): Finding[] {
  const { env, platform } = world;
  const expand = (text: string) => expandReferences(text, env);
  const { cwd = homeFolder(env, platform) } = connection;
  if (!existsSync(cwd)) {
    const fix = `Create that folder, or correct cwd in ${placeOf(definition)}`;
    return [{ check: 'folder', status: 'fail', detail: `the folder ${cwd} does not exist`, fix }];
  }
  const command = expand(connection.command);
  const own = (name: string) => {
    const key = Object.keys(connection.env).find((other) => isSameVariable(other, name, platform));
    const ours = Object.keys(env).find((other) => isSameVariable(other, name, platform));
    return key === undefined ? ours && env[ours] : expand(connection.env[key] ?? '');
  };
  const found = findCommand(command, { path: own('PATH'), pathExt: own('PATHEXT'), cwd, platform });
  // The value of a reference may be secret, so the reference itself is shown.
  const shown = connection.command === command ? command : connection.command;
  if (found !== undefined)
    return [
      { check: 'command', status: 'ok', detail: shown === command ? found : shown },
      ...checkArguments(definition, connection, cwd),
    ];
  const detail = `the command ${JSON.stringify(oneLine(shown, 200))} was not found${/[\\/]/.test(command) ? '' : ' on PATH'}`;
  return [{ check: 'command', status: 'fail', detail, fix: howToGet(connection, definition, world) }];
}

/** Finds relative paths that meant the folder of the client: behind the gateway a server starts in the home folder. */
function checkArguments(definition: ServerDefinition, { args, cwd }: StdioConnection, home: string): Finding[] {
  if (cwd !== undefined) return [];
  const words = relativeWords('', args).filter((word) => /^\.{1,2}$/.test(word) || !existsSync(join(home, word)));
  if (words.length === 0) return [];
  const detail = `it starts in ${home}, so ${quotedWords(words)} in its arguments means a path there`;
  return [{ check: 'arguments', status: 'warn', detail, fix: `In ${placeOf(definition)}, ${howToWriteThem(words)}` }];
}

const isSameVariable = (a: string, b: string, platform: NodeJS.Platform): boolean =>
  platform === 'win32' ? a.toUpperCase() === b.toUpperCase() : a === b;

/** What to install for the most common commands. */
const INSTALL: ReadonlyMap<string, string> = new Map([
  ...['npx', 'npm', 'node'].map((name) => [name, 'Install Node.js: https://nodejs.org'] as const),
  ...['uvx', 'uv'].map((name) => [name, 'Install uv: https://docs.astral.sh/uv/'] as const),
  ...['python', 'python3'].map((name) => [name, 'Install Python: https://www.python.org'] as const),
  ...['bun', 'bunx'].map((name) => [name, 'Install Bun: https://bun.sh'] as const),
  ['pipx', 'Install pipx: https://pipx.pypa.io'],
  ['docker', 'Install Docker: https://docs.docker.com/get-docker/'],
  ['deno', 'Install Deno: https://deno.com'],
]);

function howToGet(
  { command, args: more }: StdioConnection,
  definition: ServerDefinition,
  { platform, execPath }: DefinitionWorld,
): string {
  const place = placeOf(definition);
  const [program = '', ...args] = command.split(/\s+/);
  if (args.length > 0 && !/[\\/]/.test(program)) {
    const written = args.map((arg) => JSON.stringify(oneLine(arg, 100))).join(', ');
    return `Write the command and its arguments apart in ${place}: command ${JSON.stringify(program)}, args [${written}${more.length > 0 ? ', …' : ''}]`;
  }
  const beside = findCommand(join(dirname(execPath), command), { path: '', cwd: dirname(execPath), platform });
  // The program exists but is not on PATH, as with version managers and desktop clients.
  if (beside !== undefined && !/[\\/]/.test(command)) return `Write its full path into ${place}: ${beside}`;
  return INSTALL.get(command) ?? `Install it, or write its full path into ${place}`;
}

function checkRemote(definition: ServerDefinition, connection: RemoteConnection, { env }: DefinitionWorld): Finding[] {
  const url = expandReferences(connection.url, env);
  const isUrl = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isUrl) {
    const detail = 'its url does not begin with http:// or https://';
    return [{ check: 'url', status: 'fail', detail, fix: `Correct url in ${placeOf(definition)}` }];
  }
  const findings: Finding[] = [{ check: 'url', status: 'ok', detail: new URL(url).origin }];
  const own = serverVariable(definition.name, 'MCP_TOKEN');
  if (connection.auth === 'env' && !env[own] && !env.MCP_AUTH_TOKEN) {
    const detail = `auth is "env", and neither ${own} nor MCP_AUTH_TOKEN is set`;
    findings.push({ check: 'token', status: 'warn', detail, fix: `export ${own}=…` });
  }
  return findings;
}
