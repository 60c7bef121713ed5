/**
 * Writes a first configuration in JSON, YAML or TypeScript, with clients as sources or with copies of their servers. A
 * client whose file may contain a literal secret stays a source, so the secret is not copied.
 * @module
 */
import type { ServerDefinition, ToolRule } from '../core/types.ts';
import type { FoundClient } from './found-clients.ts';
import { joinServers } from './join-servers.ts';

export const STARTER_FORMATS = ['json', 'yaml', 'ts'] as const;
export type StarterFormat = (typeof STARTER_FORMATS)[number];

/** The content of a first configuration. */
export interface Starter {
  readonly sources: readonly { readonly type: string }[];
  readonly servers: readonly object[];
  readonly toolRules: readonly ToolRule[];
  /** Clients that stay sources although copies were wanted, and why. */
  readonly kept: readonly { readonly type: string; readonly reason: string }[];
  /** Notes about renamed servers. */
  readonly warnings: readonly string[];
}

/** Uses clients as sources: changes there take effect here. */
export const asSources = (clients: readonly FoundClient[]): Starter => ({
  sources: clients.map(({ type }) => ({ type })),
  servers: [],
  toolRules: [],
  kept: [],
  warnings: [],
});

/**
 * Copies the servers of clients; references stay references.
 * @param literalIn returns where in a server a literal secret may be, if anywhere
 */
export function asServers(
  clients: readonly FoundClient[],
  literalIn: (server: ServerDefinition) => string | undefined,
): Starter {
  const kept: { type: string; reason: string }[] = [];
  const copied = clients.filter((client) => {
    const reason = reasonToKeep(client, literalIn);
    if (reason !== undefined) kept.push({ type: client.type, reason });
    return reason === undefined;
  });
  const entries = copied.flatMap(({ files }) => files.flatMap((file) => file.entries));
  const { servers, toolRules, warnings } = joinServers([], entries);
  return {
    sources: kept.map(({ type }) => ({ type })),
    servers: servers.map(toAuthor),
    toolRules: toolRules.map(asWritten),
    kept,
    warnings,
  };
}

/** A rule in a file names its server by name alone. */
const asWritten = ({ exact: _exact, ...rule }: ToolRule): ToolRule => rule;

function reasonToKeep(
  { files }: FoundClient,
  literalIn: (server: ServerDefinition) => string | undefined,
): string | undefined {
  for (const { scope, problem, entries } of files) {
    if (problem !== undefined) return problem;
    if (scope === 'project' && entries.length > 0) return 'it has a file in this project, which needs trust';
    for (const server of joinServers([], entries).servers) {
      const place = literalIn(server);
      if (place !== undefined)
        return `${place} of ${JSON.stringify(server.name)} is a literal value there and may be a secret`;
    }
  }
  return undefined;
}

/** Returns the entry as a person would write it. */
function toAuthor({ name, description, enabled, connection, timeouts, tools }: ServerDefinition): object {
  return withoutEmpty({
    name,
    description,
    enabled: enabled ? undefined : false,
    connection: withoutEmpty(connection),
    timeouts: withoutEmpty(timeouts),
    tools,
  });
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

const withoutEmpty = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => !isEmpty(inner)));

/** Returns the text of the file. */
export async function starterText({ sources, servers, toolRules }: Starter, format: StarterFormat): Promise<string> {
  const section = withoutEmpty({ sources, servers, toolRules });
  if (isEmpty(section)) return EMPTY[format];
  const document = { discovery: section };
  if (format === 'json') return `${JSON.stringify(document, undefined, 2)}\n`;
  if (format === 'ts') return `${TS_HEAD}export default defineConfig(${toCode(document)});\n`;
  const { stringify } = await import('yaml');
  return stringify(document, { lineWidth: 0 });
}

const TS_HEAD = "import { defineConfig } from '@anygpt/discovery/config';\n\n";
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function toCode(value: unknown, indent = ''): string {
  const inner = `${indent}  `;
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    const plain = value.every((item) => typeof item !== 'object');
    if (plain) return `[${value.map((item) => toCode(item)).join(', ')}]`;
    return `[\n${value.map((item) => `${inner}${toCode(item, inner)},\n`).join('')}${indent}]`;
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const key = (name: string) => (IDENTIFIER.test(name) && name !== '__proto__' ? name : computed(name));
  if (entries.length === 1 && typeof entries[0]?.[1] !== 'object')
    return `{ ${entries.map(([name, item]) => `${key(name)}: ${toCode(item)}`).join('')} }`;
  return `{\n${entries.map(([name, item]) => `${inner}${key(name)}: ${toCode(item, inner)},\n`).join('')}${indent}}`;
}

/** `"__proto__": x` would set the prototype; `["__proto__"]: x` is an ordinary key. */
const computed = (name: string): string => (name === '__proto__' ? "['__proto__']" : quoted(name));

const quoted = (text: string): string =>
  /['\\\u0000-\u001f\u2028\u2029]/.test(text) ? JSON.stringify(text) : `'${text}'`;

const FILES = ['-y', '@modelcontextprotocol/server-filesystem', '${workspaceFolder}'];
const EXAMPLES = [
  { name: 'files', connection: { type: 'stdio', command: 'npx', args: FILES } },
  {
    name: 'docs',
    connection: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${DOCS_TOKEN}' } },
  },
];

const ABOUT_SOURCES =
  'Programs whose servers are also used here: { "type": "cursor" }, or { "type": "auto" } for all that are found.';
const ABOUT_SERVERS = [
  'Servers of your own. Secrets stay outside: ${NAME} is read from the environment when a server starts. For example:',
  ...EXAMPLES.map((example) => `  ${JSON.stringify(example)},`),
];

const comments = (mark: string, indent: string, lines: readonly string[]): string =>
  lines.map((line) => `${indent}${mark} ${line}\n`).join('');

const braces = (before: string, key: (name: string) => string, after: string): string =>
  `${before}{\n  ${key('discovery')}: {\n${comments('//', '    ', [ABOUT_SOURCES])}    ${key('sources')}: [],\n\n` +
  `${comments('//', '    ', ABOUT_SERVERS)}    ${key('servers')}: []\n  }\n}${after}\n`;

/** The starter for a machine where no client has servers. */
const EMPTY: Readonly<Record<StarterFormat, string>> = {
  json: braces('', (name) => JSON.stringify(name), ''),
  ts: braces(`${TS_HEAD}export default defineConfig(`, (name) => name, ');'),
  yaml: `discovery:\n${comments('#', '  ', [ABOUT_SOURCES])}  sources: []\n\n${comments('#', '  ', ABOUT_SERVERS)}  servers: []\n`,
};
