/**
 * The gateway in, the entry a client expects out: the inverse of the adapters that read such entries.
 * @module
 */
import { ConfigurationError } from '../../core/errors.ts';
import { GATEWAY_MARK } from '../importers/ourselves.ts';
import type { EntryWriter, Gateway, Installation } from './installation.ts';

/** What the entry is called: short, and without `_`, which Gemini splits names at. */
export const ENTRY_NAME = 'anygpt';

const local = ({ command, args, env }: Extract<Gateway, { type: 'stdio' }>) => ({ command, args, env });

/** An entry whose kind shows in its fields, with what the client wants beside it. */
const plain =
  (address: 'url' | 'serverUrl' | 'httpUrl', beside: object = {}): EntryWriter =>
  (gateway) => ({ ...(gateway.type === 'stdio' ? local(gateway) : { [address]: gateway.url }), ...beside });

/** An entry that names its kind. */
const typed =
  (stdio: string | undefined, http: string, beside: object = {}): EntryWriter =>
  (gateway) =>
    gateway.type === 'stdio'
      ? { ...(stdio !== undefined && { type: stdio }), ...local(gateway), ...beside }
      : { type: http, url: gateway.url, ...beside };

/** What most clients take: `command`, `args`, `env`, or `url`. */
export const COMMON: Installation = { entry: plain('url') };
/** Clients that call the address `serverUrl`. */
export const SERVER_URL: Installation = { entry: plain('serverUrl') };
/** Clients in which `url` alone would mean SSE. */
export const HTTP_URL: Installation = { entry: plain('httpUrl') };
/** `type` is `stdio` or `http`. */
export const TYPED: Installation = { entry: typed('stdio', 'http') };
/** Amazon Q: a type only where there is an address. */
export const TYPED_ADDRESS: Installation = { entry: typed(undefined, 'http') };
/** Factory Droid. */
export const FACTORY: Installation = { entry: typed('stdio', 'http', { disabled: false }) };
/** Cline. */
export const CLINE: EntryWriter = typed(undefined, 'streamableHttp', { disabled: false, autoApprove: [] });
/** Roo Code. */
export const ROO_CODE: EntryWriter = typed(undefined, 'streamable-http', { disabled: false, alwaysAllow: [] });
/** Claude Code: its tool search would hide our five tools, which are themselves a search. */
export const CLAUDE_CODE: EntryWriter = typed('stdio', 'http', { alwaysLoad: true });
/** Copilot CLI: the same, and its list of tools is required. */
export const COPILOT_CLI: EntryWriter = typed('local', 'http', { tools: ['*'], deferTools: 'never' });

/** Claude Desktop: programs only, so an address is reached through one. */
export const CLAUDE_DESKTOP: EntryWriter = (gateway) => {
  if (gateway.type === 'stdio') return local(gateway);
  const [command, ...args] = gateway.bridge ?? [];
  if (command === undefined) throw new ConfigurationError('There is no program that could reach the address.');
  return { command, args, env: { [GATEWAY_MARK]: '1' } };
};

/** Codex: no type; variables are handed on by name. */
export const CODEX: EntryWriter = (gateway) =>
  gateway.type === 'stdio'
    ? { ...local(gateway), ...(gateway.inherit.length > 0 && { env_vars: gateway.inherit }) }
    : { url: gateway.url };

/** Mistral Vibe: a list, the kind is called `transport`. */
export const MISTRAL_VIBE: EntryWriter = (gateway) => ({
  name: ENTRY_NAME,
  ...(gateway.type === 'stdio'
    ? { transport: 'stdio', ...local(gateway) }
    : { transport: 'streamable-http', url: gateway.url }),
});

/** Continue: a list in YAML, a map in JSON; the name does no harm in the latter. */
export const CONTINUE: EntryWriter = (gateway) => ({
  name: ENTRY_NAME,
  ...(gateway.type === 'stdio' ? local(gateway) : { type: 'streamable-http', url: gateway.url }),
});

/** OpenCode: the command is a list; since version 2 entries are switched off, before they were switched on. */
export const OPENCODE: EntryWriter = (gateway, way) => {
  const on = way.length > 1 ? { disabled: false } : { enabled: true };
  if (gateway.type === 'http') return { type: 'remote', url: gateway.url, ...on };
  const { command, args, env } = gateway;
  return { type: 'local', command: [command, ...args], environment: env, ...on };
};

/** Goose: its own spellings; secrets are named and come from its keyring. */
export const GOOSE: EntryWriter = (gateway) => {
  const about = { name: ENTRY_NAME, enabled: true, timeout: 300, description: 'All MCP servers behind one' };
  if (gateway.type === 'http') return { type: 'streamable_http', ...about, uri: gateway.url };
  return {
    type: 'stdio',
    ...about,
    cmd: gateway.command,
    args: gateway.args,
    envs: gateway.env,
    env_keys: gateway.inherit,
  };
};

/** The command line that adds the gateway to Claude Code without touching its file. */
export function claudeCommand(gateway: Gateway): string {
  const start = 'claude mcp add --scope user --transport';
  if (gateway.type === 'http') return `${start} http ${ENTRY_NAME} ${quoted(gateway.url)}`;
  const words = [gateway.command, ...gateway.args].map(quoted).join(' ');
  const env = Object.entries(gateway.env).map(([name, value]) => `--env ${quoted(`${name}=${value}`)}`);
  // A flag has to stand between the variables and the name, which would else be taken for another variable.
  return ['claude mcp add', ...env, '--scope user --transport stdio', ENTRY_NAME, '--', words].join(' ');
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
