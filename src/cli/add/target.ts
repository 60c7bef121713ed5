/**
 * Reads from a command line which server is to be added. Understands `claude mcp add`, `claude mcp add-json` and
 * `code --add-mcp` as well. Pure.
 * @module
 */

import { parseWritten } from '../../json/json-nesting.ts';
import { isObject } from '../../json/plain-object.ts';
import { isRegistryName } from '../../mcp-registry/read-server.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Values } from '../command.ts';
import { UsageError } from '../usage-error.ts';

/** What is to be added. */
export type Target = { readonly name: string | undefined } & (
  | { readonly kind: 'registry'; readonly of: string; readonly version: string | undefined }
  | { readonly kind: 'npm'; readonly of: string; readonly version: string | undefined }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'command'; readonly words: readonly string[] }
  | { readonly kind: 'json'; readonly raw: Readonly<Record<string, unknown>> }
);

export type Pair = readonly [name: string, value: string];

/** Returns the target. Throws `UsageError` for what cannot be understood. */
export function targetOf(values: Values, positionals: readonly string[]): Target {
  const command = values['--'] as readonly string[] | undefined;
  const before = positionals.slice(0, positionals.length - (command?.length ?? 0));
  const option = values.name as string | undefined;
  if (command !== undefined) {
    if (command.length === 0) throw new UsageError('The command after -- is missing');
    if (before.length > 1) throw new UsageError(`unexpected argument "${before.slice(1).join(' ')}"`);
    return { kind: 'command', name: option ?? before[0], words: command };
  }
  const [first, second] = before;
  if (first === undefined)
    throw new UsageError('Say what to add: a name in a registry, npm:PACKAGE, an address, or -- and a command');
  if (second === undefined) return { ...understood(first), name: option ?? nameIn(first) };
  const target = before.length === 2 ? known(second) : undefined;
  if (target === undefined && before.length === 2 && SCOPED.test(second))
    throw new UsageError(`"${second}" is a package of npm: anygpt mcp add --name ${first} npm:${second}`);
  if (target === undefined) {
    const [program = '', ...rest] = before.slice(1);
    // It was read as --yes.
    const meant = [program, ...(values.yes && /^(?:npx|bunx)$/.test(program) ? ['-y'] : []), ...rest];
    throw new UsageError(`Put -- before the command: anygpt mcp add ${first} -- ${meant.map(shellWord).join(' ')}`);
  }
  return { ...target, name: option ?? first };
}

/** `@scope/package@version`, which is never a command. */
const SCOPED = /^@[\w.-]+\/[\w.-]+(?:@[\w.-]+)?$/;

type Unnamed = Target extends infer T ? (T extends Target ? Omit<T, 'name'> : never) : never;

function understood(word: string): Unnamed {
  const target = known(word);
  if (target !== undefined) return target;
  if (SCOPED.test(word)) throw new UsageError(`"${word}" is a package of npm: anygpt mcp add npm:${word}`);
  throw new UsageError(
    `"${word}" is not a registry name (publisher/server), npm:PACKAGE or an address. To add a command, put -- before it: anygpt mcp add -- ${word}`,
  );
}

function known(word: string): Unnamed | undefined {
  if (/^\s*\{/.test(word)) return { kind: 'json', raw: jsonOf(word) };
  if (/^https?:\/\//i.test(word)) return { kind: 'url', url: word };
  const npm = /^npm:((?:@[^@/]+\/)?[^@/]+)(?:@(.+))?$/.exec(word);
  if (npm !== null) return { kind: 'npm', of: npm[1] as string, version: npm[2] };
  const [, of, version] = /^([^@]+)(?:@(.+))?$/.exec(word) ?? [];
  return isRegistryName(of) ? { kind: 'registry', of, version } : undefined;
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const raw = parseWritten(text);
    if (isObject(raw)) return raw;
  } catch {
    // Reported below.
  }
  throw new UsageError('The JSON of the server cannot be read');
}

/** `code --add-mcp` writes the name into the entry. */
const nameIn = (word: string): string | undefined => {
  const target = known(word);
  const name = target?.kind === 'json' ? target.raw.name : undefined;
  return typeof name === 'string' ? name : undefined;
};

/** Reads `KEY=VALUE`; `KEY` alone is the variable of that name. */
export const environmentOf = (values: Values): readonly Pair[] =>
  listOf(values.env).map((text) => {
    const [, name, value] = /^([A-Za-z_][\w.-]*)(?:=(.*))?$/s.exec(text) ?? [];
    if (name === undefined) throw new UsageError('--env takes KEY=VALUE');
    return [name, value ?? `\${${name}}`];
  });

/** Reads `Name: value`. */
export const headersOf = (values: Values): readonly Pair[] =>
  listOf(values.header).map((text) => {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+)\s*[:=]\s*(.*)$/s.exec(text) ?? [];
    if (name === undefined || value === undefined || /[\r\n\0]/.test(value))
      throw new UsageError('--header takes "Name: value"');
    return [name, value];
  });

/** Reads `ID=VALUE`. */
export const answersOf = (values: Values): readonly Pair[] =>
  listOf(values.set).map((text) => {
    const [, id, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (id === undefined || value === undefined) throw new UsageError('--set takes ID=VALUE');
    return [id, value];
  });

const listOf = (value: unknown): readonly string[] => (value as readonly string[] | undefined) ?? [];

const RUNNERS = /^(?:npx|bunx|uvx|pipx|pnpx|dnx|node|deno|bun|python3?|uv|tsx)$/i;

/** Suggests a name for an entry. */
export function suggestedName(target: Target): string {
  if (target.kind === 'url') return hostName(target.url);
  if (target.kind === 'json') return '';
  if (target.kind !== 'command') return plain(target.of);
  const [command = '', ...args] = target.words;
  const program = plain(command);
  const subject = RUNNERS.test(program) ? args.find((word) => !/^(?:-|run$|exec$)/.test(word)) : undefined;
  return plain(subject ?? command);
}

/** The last part of a path or a package name, without version and extension, in characters that need no quotes. */
const plain = (text: string): string =>
  (text.split(/[\\/]/).findLast((part) => part !== '') ?? '')
    .replace(/(?<=.)(?:@|==).*$/s, '')
    .replace(/\.(?:[cm]?[jt]s|py|exe|cmd|sh)$/i, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 64);

/** `https://mcp.linear.app/mcp` gives `linear`. */
function hostName(url: string): string {
  const { hostname } = URL.canParse(url) ? new URL(url) : { hostname: '' };
  if (/^[\d.]+$|:/.test(hostname)) return plain(hostname);
  const labels = hostname.split('.');
  const telling = labels.slice(0, Math.max(1, labels.length - 1)).filter((label) => !/^(?:mcp|api|www)$/.test(label));
  return plain(telling.at(-1) ?? labels[0] ?? '');
}
