/**
 * The `mcpServers` map that Docker, Claude Desktop, Windsurf and most other clients write in, server entries out. Each
 * entry is converted on its own: a bad one is reported and does not lose the others. Nothing is started or looked up.
 * @module
 */
import { isObject } from '../plain-object.ts';
import { type Imported, joinImported, leftOut, toImported } from './imported-entry.ts';

type Raw = Readonly<Record<string, unknown>>;
type TransportType = 'stdio' | 'http' | 'sse';

/** Converts a whole `mcpServers` map. */
export const fromMcpServers = (map: Raw): Imported =>
  joinImported(
    Object.entries(map).map(([name, raw]) => toServer(name, raw, `mcpServers[${JSON.stringify(name.slice(0, 200))}]`)),
  );

/** Converts one entry of such a map. */
export function toServer(name: string, raw: unknown, path: string): Imported {
  if (!isObject(raw)) return leftOut(`${path}: expected an object`);
  if (isOurselves(raw)) return leftOut(`${path}: it starts this gateway itself`);
  const transport = transportOf(raw);
  if ('problem' in transport) return leftOut(`${path}: ${transport.problem}`);
  return toImported(name, toAuthorEntry(raw, transport.type), path);
}

/** The spellings clients use for the transport, lower-cased, without dashes and underscores. */
const TRANSPORTS: ReadonlyMap<string, TransportType> = new Map<string, TransportType>([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['streamablehttp', 'http'],
  ['remote', 'http'],
  ['sse', 'sse'],
]);

function transportOf(raw: Raw): { readonly type: TransportType } | { readonly problem: string } {
  const command = raw.command !== undefined;
  const url = addressOf(raw) !== undefined;
  if (!command && !url) return { problem: 'it has neither `command` nor `url`' };
  const said = raw.type ?? raw.transport;
  if (said === undefined) {
    return command && url ? { problem: 'it has both `command` and `url`' } : { type: command ? 'stdio' : 'http' };
  }
  const type = typeof said === 'string' ? TRANSPORTS.get(said.toLowerCase().replace(/[-_]/g, '')) : undefined;
  if (type === undefined) return { problem: 'its `type` is none of stdio, http and sse' };
  if (type === 'stdio' && !command) return { problem: 'its `type` is stdio, but it has no `command`' };
  if (type !== 'stdio' && !url) return { problem: `its \`type\` is ${type}, but it has no \`url\`` };
  return { type };
}

/** Only what concerns us is taken over; clients keep many keys of their own in an entry. */
function toAuthorEntry(raw: Raw, type: TransportType): Raw {
  const connection =
    type === 'stdio'
      ? { type, command: raw.command, args: raw.args, env: toTexts(raw.env), cwd: raw.cwd }
      : { type, url: addressOf(raw), headers: toTexts(raw.headers) };
  return {
    connection,
    ...(typeof raw.description === 'string' && { description: raw.description }),
    enabled: raw.disabled !== true && raw.enabled !== false,
  };
}

const addressOf = (raw: Raw): unknown => raw.url ?? raw.serverUrl ?? raw.httpUrl;

/** Clients accept numbers and booleans where text is meant, and `null` for "leave it out". */
function toTexts(map: unknown): unknown {
  if (!isObject(map)) return map ?? undefined;
  const texts = Object.entries(map).filter(([, value]) => value !== null);
  return Object.fromEntries(
    texts.map(([name, value]) => [
      name,
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
    ]),
  );
}

/** Importing the entry by which a client starts us would make the gateway its own server. */
function isOurselves(raw: Raw): boolean {
  const words = [raw.command, ...(Array.isArray(raw.args) ? raw.args : [])].filter((word) => typeof word === 'string');
  return words.some((word) => /^@?anygpt\/discovery(?:[@:][^/]*)?$/.test(word));
}
