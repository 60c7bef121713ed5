/**
 * Writes the gateway's entry in each client's format: the inverse of the adapters that read entries.
 * @module
 */
import { ConfigurationError } from '../../core/errors.ts';
import { GATEWAY_MARK } from '../importers/ourselves.ts';
import type { EntryWriter, Gateway, Installation } from './installation.ts';

/** The name of the entry: short, and without `_`, at which Gemini splits names. */
export const ENTRY_NAME = 'anygpt';

const local = ({ command, args, env }: Extract<Gateway, { type: 'stdio' }>) => ({ command, args, env });

/** Writes an entry whose fields show its kind, with the client's extra fields. */
const plain =
  (address: 'url' | 'serverUrl' | 'httpUrl', beside: object = {}): EntryWriter =>
  (gateway) => ({ ...(gateway.type === 'stdio' ? local(gateway) : { [address]: gateway.url }), ...beside });

/** Writes an entry that names its kind. */
const typed =
  (stdio: string | undefined, http: string, beside: object = {}): EntryWriter =>
  (gateway) =>
    gateway.type === 'stdio'
      ? { ...(stdio !== undefined && { type: stdio }), ...local(gateway), ...beside }
      : { type: http, url: gateway.url, ...beside };

/** The format of most clients: `command`, `args`, `env`, or `url`. */
export const COMMON: Installation = { entry: plain('url') };
/** Clients that name the address `serverUrl`. */
export const SERVER_URL: Installation = { entry: plain('serverUrl') };
/** Clients for which `url` alone would mean SSE. */
export const HTTP_URL: Installation = { entry: plain('httpUrl') };
/** `type` is `stdio` or `http`. */
export const TYPED: Installation = { entry: typed('stdio', 'http') };
/** Amazon Q: `type` only with an address. */
export const TYPED_ADDRESS: Installation = { entry: typed(undefined, 'http') };
/** Factory Droid. */
export const FACTORY: Installation = { entry: typed('stdio', 'http', { disabled: false }) };
export const CLINE: EntryWriter = typed(undefined, 'streamableHttp', { disabled: false, autoApprove: [] });
export const ROO_CODE: EntryWriter = typed(undefined, 'streamable-http', { disabled: false, alwaysAllow: [] });
/** Claude Code: its own tool search would hide our five tools, which are themselves a search. */
export const CLAUDE_CODE: EntryWriter = typed('stdio', 'http', { alwaysLoad: true });
/** Copilot CLI: like Claude Code; its list of tools is required. */
export const COPILOT_CLI: EntryWriter = typed('local', 'http', { tools: ['*'], deferTools: 'never' });

/** Claude Desktop: starts programs only, so an address is reached through one. */
export const CLAUDE_DESKTOP: EntryWriter = (gateway) => {
  if (gateway.type === 'stdio') return local(gateway);
  const [command, ...args] = gateway.bridge ?? [];
  if (command === undefined)
    throw new ConfigurationError(
      'Claude Desktop starts programs only, and no local program was given that could reach the URL. Install without --url.',
    );
  return { command, args, env: { [GATEWAY_MARK]: '1' } };
};

/** Codex: no type; variables are passed on by name. */
export const CODEX: EntryWriter = (gateway) =>
  gateway.type === 'stdio'
    ? { ...local(gateway), ...(gateway.inherit.length > 0 && { env_vars: gateway.inherit }) }
    : { url: gateway.url };

/** Mistral Vibe: a list; the kind is named `transport`. */
export const MISTRAL_VIBE: EntryWriter = (gateway) => ({
  name: ENTRY_NAME,
  ...(gateway.type === 'stdio'
    ? { transport: 'stdio', ...local(gateway) }
    : { transport: 'streamable-http', url: gateway.url }),
});

/** Continue: a list in YAML, a map in JSON, where the extra name does no harm. */
export const CONTINUE: EntryWriter = (gateway) => ({
  name: ENTRY_NAME,
  ...(gateway.type === 'stdio' ? local(gateway) : { type: 'streamable-http', url: gateway.url }),
});

/** OpenCode: the command is a list; version 2 has `disabled`, version 1 `enabled`. */
export const OPENCODE: EntryWriter = (gateway, way) => {
  const on = way.length > 1 ? { disabled: false } : { enabled: true };
  if (gateway.type === 'http') return { type: 'remote', url: gateway.url, ...on };
  const { command, args, env } = gateway;
  return { type: 'local', command: [command, ...args], environment: env, ...on };
};

/** Goose: its own key names; secrets are named and come from its keyring. */
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

/** Returns the command line that adds the gateway to Claude Code without editing its file. */
export function claudeCommand(gateway: Gateway): string {
  const start = 'claude mcp add --scope user --transport';
  if (gateway.type === 'http') return `${start} http ${ENTRY_NAME} ${quoted(gateway.url)}`;
  const words = [gateway.command, ...gateway.args].map(quoted).join(' ');
  const env = Object.entries(gateway.env).map(([name, value]) => `--env ${quoted(`${name}=${value}`)}`);
  // A flag must separate the variables from the name, which would otherwise be read as another variable.
  return ['claude mcp add', ...env, '--scope user --transport stdio', ENTRY_NAME, '--', words].join(' ');
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
