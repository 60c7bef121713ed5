/**
 * Names for LLM APIs: pairs of server and tool in, names out that are legal and unique there, and the way back. A name
 * depends on the set of tools, never on their order; it is looked up, never taken apart.
 * @module
 */
import { createHash } from 'node:crypto';
import { ValidationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolRef } from '../../core/types.ts';

/** What an API allows in a name, beside letters, digits and `_`. */
export interface NameRule {
  readonly maxLength: number;
  /** Whether a name may not begin with a digit or a sign. */
  readonly letterFirst: boolean;
  /** Further characters that are allowed. */
  readonly characters: string;
}

/** What every API takes: `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`. */
export const COMMON_NAME_RULE: NameRule = { maxLength: 64, letterFirst: true, characters: '-' };

/** A tool that wants a name. Without a server it is the program's own, and keeps its name before all others. */
export interface NamedTool {
  readonly server?: string | undefined;
  readonly name: string;
}

/** Names both ways. */
export interface NameTable {
  readonly size: number;
  /** The name of a tool; a tool without a server has the server `''`. */
  nameOf(ref: ToolRef): string | undefined;
  /** The tool behind a name. */
  refOf(name: string): ToolRef | undefined;
  /** All names with their tools, sorted by name. */
  entries(): readonly (readonly [name: string, ref: ToolRef])[];
}

/** Shorter names have no room for a readable part and a hash. */
const MIN_LENGTH = 16;
const HEX_LENGTHS = [0, 8, 12, 24, 40];

interface Entry {
  readonly ref: ToolRef;
  /** Without a server, and legal as it is. */
  readonly first: boolean;
  level: number;
}

/**
 * Names `<server>__<tool>`, other characters replaced by `_`; what is longer or collides is cut and gets `_` and eight
 * hex digits of a hash of the pair.
 * @example
 * const names = createNameTable([{ server: 'github', name: 'create_issue' }]);
 * names.nameOf({ server: 'github', tool: 'create_issue' }); // 'github__create_issue'
 * names.refOf('github__create_issue'); // { server: 'github', tool: 'create_issue' }
 */
export function createNameTable(tools: Iterable<NamedTool>, rule: NameRule = COMMON_NAME_RULE): NameTable {
  if (!(rule.maxLength >= MIN_LENGTH)) throw new ValidationError(`Names need at least ${MIN_LENGTH} characters.`);
  const known = new PairMap<Entry>();
  const entries: Entry[] = [];
  for (const { server = '', name } of tools) {
    if (known.get(server, name)) continue;
    const entry = { ref: { server, tool: name }, first: server === '' && isLegalName(name, rule), level: 0 };
    known.set(server, name, entry);
    entries.push(entry);
  }
  let named = group(entries, rule);
  // Everybody in a collision takes the next longer form, so the order in which tools came decides nothing.
  while (raiseCollisions(named)) named = group(entries, rule);
  return toTable(named);
}

function group(entries: Iterable<Entry>, rule: NameRule): Map<string, Entry[]> {
  const named = new Map<string, Entry[]>();
  for (const entry of entries) {
    const name = nameAt(entry, rule);
    const others = named.get(name);
    if (others) others.push(entry);
    else named.set(name, [entry]);
  }
  return named;
}

function raiseCollisions(named: ReadonlyMap<string, readonly Entry[]>): boolean {
  let raised = false;
  for (const entries of named.values()) {
    if (entries.length < 2) continue;
    for (const entry of entries) {
      if (entry.first || entry.level + 1 >= HEX_LENGTHS.length) continue;
      entry.level++;
      raised = true;
    }
  }
  return raised;
}

function nameAt(entry: Entry, rule: NameRule): string {
  const { server, tool } = entry.ref;
  const whole = legal(server === '' ? tool : `${server}__${tool}`, rule);
  if (entry.level === 0 && whole.length <= rule.maxLength) return whole;
  const hex = Math.min(HEX_LENGTHS[Math.max(entry.level, 1)] ?? 8, rule.maxLength - 2);
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, hex);
  return `${whole.slice(0, rule.maxLength - hex - 1)}_${hash}`;
}

/** Whether a name can stay as it is. */
export function isLegalName(name: string, rule: NameRule): boolean {
  if (name === '' || name.length > rule.maxLength || (rule.letterFirst && !isLetter(name.charCodeAt(0)))) return false;
  for (let at = 0; at < name.length; at++) if (!isLegal(name.charCodeAt(at), rule)) return false;
  return true;
}

/** The text with legal characters only; one UTF-16 unit in, one character out. */
function legal(text: string, rule: NameRule): string {
  if (isLegalName(text, rule)) return text;
  const name = text
    .slice(0, LIMITS.names.tool)
    .replace(/[^a-zA-Z0-9_]/g, (char) => (isLegal(char.charCodeAt(0), rule) ? char : '_'));
  return name === '' || (rule.letterFirst && !isLetter(name.charCodeAt(0))) ? `_${name}` : name;
}

/** A to Z, a to z and `_`. */
const isLetter = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === UNDERSCORE;

const isLegal = (code: number, { characters }: NameRule): boolean =>
  isLetter(code) || (code >= 48 && code <= 57) || characters.includes(String.fromCharCode(code));

const UNDERSCORE = 95;

/** Values by two names. */
export class PairMap<V> {
  readonly #outer = new Map<string, Map<string, V>>();

  get(first: string, second: string): V | undefined {
    return this.#outer.get(first)?.get(second);
  }

  set(first: string, second: string, value: V): void {
    const inner = this.#outer.get(first);
    if (inner) inner.set(second, value);
    else this.#outer.set(first, new Map([[second, value]]));
  }
}

function toTable(named: ReadonlyMap<string, readonly Entry[]>): NameTable {
  const refs = new Map<string, ToolRef>();
  const names = new PairMap<string>();
  for (const [name, [entry]] of named) {
    if (!entry) continue;
    refs.set(name, entry.ref);
    names.set(entry.ref.server, entry.ref.tool, name);
  }
  return {
    size: refs.size,
    nameOf: ({ server, tool }) => names.get(server, tool),
    refOf: (name) => refs.get(name),
    entries: () => [...refs].sort(([a], [b]) => (a < b ? -1 : 1)),
  };
}
