/**
 * `anygpt mcp registry show`: shows a server of a registry and every way to use it. Starts nothing.
 * @module
 */
import { type ConnectionWay, waysOf } from '../../mcp-registry/connection-ways.ts';
import type { ShownServer } from '../../mcp-registry/mcp-registries.ts';
import { publisherOf, shortNameOf } from '../../mcp-registry/registry-server.ts';
import { type AskedInput, inputsOf, type ResolvedWay, resolveWay } from '../../mcp-registry/resolve-way.ts';
import { compact } from '../../meta-tools/answers.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { toWord } from '../json-document.ts';
import { hasCommand, type RegistrySession, withRegistries } from '../open-registries.ts';
import { exactly } from '../positionals.ts';

export const showServer: Command['run'] = async (values, positionals, io) => {
  const [name = ''] = exactly(positionals, '<name>');
  const version = values['at-version'] as string | undefined;
  return withRegistries(values, io, async (session) => {
    const { registries, offline, signal, onProgress } = session;
    const shown = await registries.show(name, { version, offline, signal, onProgress });
    const prefer = values.local === true ? 'local' : 'remote';
    const ways = waysOf(shown.entry.server, { hasCommand: hasCommand(io), isLocalRegistry: shown.isLocal, prefer }).map(
      (way) => ({
        way,
        inputs: inputsOf(way),
        resolved: resolveWay(way, shortNameOf(name)),
      }),
    );
    session.progress.clear();
    if (session.json) session.printJson(serverDocument(shown, ways));
    else {
      session.print(serverText(shown, ways, session));
      for (const note of [...shown.notes, ...shown.entry.server.notes]) session.note(note);
    }
    return EXIT.ok;
  });
};

interface ShownWay {
  readonly way: ConnectionWay;
  readonly inputs: readonly AskedInput[];
  readonly resolved: ResolvedWay;
}

function serverDocument({ entry, registry, notes }: ShownServer, ways: readonly ShownWay[]) {
  const { server, status, message, publishedAt, updatedAt, raw } = entry;
  const { name, title, description, version, websiteUrl, repository } = server;
  const about = { name, title, description, version, registry, publisher: publisherOf(name), status, message };
  return {
    ...(compact({ ...about, publishedAt, updatedAt, websiteUrl, repository: repository?.url }) as object),
    ways: ways.map(({ way, inputs, resolved }) => {
      const { id, kind, transport, label, runtime, isAvailable, problem, warnings, bundle, postInstall } = way;
      const address = way.words.length === 0 && way.url !== undefined ? resolved.words[0] : way.url;
      const command = way.words.length > 0 ? resolved.words : undefined;
      return compact({
        ...{ id, kind, transport, label, runtime, available: isAvailable, problem, warnings, bundle, postInstall },
        ...{ command, url: address, connection: resolved.connection, startsApart: resolved.startsApart || undefined },
        inputs: inputs.map(compact),
      });
    }),
    ...(compact({ notes: [...notes, ...server.notes] }) as object),
    document: raw,
  };
}

function serverText(
  { entry, registry }: ShownServer,
  ways: readonly ShownWay[],
  { paint, block }: RegistrySession,
): string {
  const { server, status, message, updatedAt } = entry;
  const { name, title, description, version, websiteUrl, repository } = server;
  const facts = [
    `Publisher: ${publisherOf(name)} (a registry does not review what is published)`,
    `Registry: ${registry}`,
    repository && `Repository: ${repository.url}`,
    websiteUrl && `Website: ${websiteUrl}`,
    updatedAt && `Updated: ${updatedAt.slice(0, 10)}`,
    status === 'deprecated' && `Deprecated${message === undefined ? '' : `: ${message}`}`,
  ].filter((line) => typeof line === 'string');
  return [
    [
      `${paint('bold', name)} ${version}${title === undefined ? '' : ` - ${title}`}`,
      description && block(description, '  '),
      ...facts.map((line) => block(line, '  ')),
    ]
      .filter(Boolean)
      .join('\n'),
    ways.length === 0 ? 'The registry lists no way to use it.' : 'Ways to use it, the most suitable first:',
    ...ways.map((way) => wayText(way, { paint, block })),
  ].join('\n\n');
}

function wayText(
  { way, inputs, resolved }: ShownWay,
  { paint, block }: Pick<RegistrySession, 'paint' | 'block'>,
): string {
  const { id, transport, label, runtime, isAvailable, problem, warnings, bundle, postInstall, url } = way;
  const lines = [
    problem && `Cannot be used: ${problem}`,
    runtime && !isAvailable && problem === undefined && `${runtime} is not on this machine`,
    way.words.length > 0 && resolved.words.map(toWord).join(' '),
    resolved.startsApart && `Start it yourself; it is then reached at ${resolved.connection ? url : 'its address'}`,
    way.words.length === 0 && resolved.words[0],
    bundle && `${bundle.url} (SHA-256 ${bundle.sha256})`,
    ...warnings.map((warning) => `Warning: ${warning}`),
    ...inputs.map(inputText),
    ...postInstall.map(
      ({ description, command, optional }) =>
        `After installing${optional ? ', if you like' : ''}: ${[description, command].filter(Boolean).join(' - ')}`,
    ),
  ];
  const shown = lines.filter((line): line is string => typeof line === 'string');
  return [`  ${paint('bold', id)} (${transport}) ${label}`, ...shown.map((line) => block(line, '    '))].join('\n');
}

function inputText({ id, description, default: usual, choices, isRequired, isSecret, isRepeated }: AskedInput): string {
  const traits = [
    isRequired ? 'required' : 'optional',
    isSecret && 'secret',
    isRepeated && 'may be repeated',
    usual !== undefined && `default ${toWord(usual)}`,
    choices.length > 0 && `one of ${choices.map(toWord).join(', ')}`,
  ].filter(Boolean);
  return `Asks for ${id} (${traits.join(', ')})${description === undefined ? '' : `: ${description}`}`;
}
