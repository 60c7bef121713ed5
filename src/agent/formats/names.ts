/**
 * Creates legal and unique names for LLM APIs from pairs of server and tool, and finds the pair of a name. A name
 * depends on the set of tools, never on their order. It is looked up, never parsed.
 * @module
 */
import { createHash } from 'node:crypto';
import { ValidationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolRef } from '../../core/types.ts';

/** What an API allows in a name, in addition to letters, digits and `_`. */
export interface NameRule {
  readonly maxLength: number;
  /** Whether a name must start with a letter or `_`. */
  readonly letterFirst: boolean;
  /** Further allowed characters. */
  readonly characters: string;
}

/** Accepted by every API: `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`. */
const COMMON_NAME_RULE: NameRule = { maxLength: 64, letterFirst: true, characters: '-' };

/** A tool to name. A tool without a server is the program's own; its name takes precedence. */
export interface NamedTool {
  readonly server?: string | undefined;
  readonly name: string;
}

/** Names of tools, in both directions. */
export interface NameTable {
  readonly size: number;
  /** Returns the name of a tool; a tool without a server has the server `''`. */
  nameOf(ref: ToolRef): string | undefined;
  /** Returns the tool of a name. */
  refOf(name: string): ToolRef | undefined;
  /** Returns all names with their tools, sorted by name. */
  entries(): readonly (readonly [name: string, ref: ToolRef])[];
}

/** A shorter name has no room for a readable part and a hash. */
const MIN_LENGTH = 16;
const HEX_LENGTHS = [0, 8, 12, 24, 40];

interface Entry {
  readonly ref: ToolRef;
  /** Without a server, and legal unchanged. */
  readonly first: boolean;
  level: number;
  /** Undefined while it has none. */
  name: string | undefined;
}

/** A name, the entry that has it, and all entries that asked for it. */
interface Claim {
  holder: Entry | undefined;
  readonly wanting: Set<Entry>;
}

/**
 * Creates names `<server>__<tool>`, with illegal characters replaced by `_`. A name that is too long or collides is cut
 * and gets `_` and eight hex digits of a hash of the pair.
 * @example
 * const names = createNameTable([{ server: 'github', name: 'create_issue' }]);
 * names.nameOf({ server: 'github', tool: 'create_issue' }); // 'github__create_issue'
 * names.refOf('github__create_issue'); // { server: 'github', tool: 'create_issue' }
 */
export function createNameTable(tools: Iterable<NamedTool>, rule: NameRule = COMMON_NAME_RULE): NameTable {
  const names = new Names(rule);
  for (const tool of tools) names.add(tool);
  return names;
}

class Names implements NameTable {
  readonly #rule: NameRule;
  readonly #entries = new PairMap<Entry>();
  readonly #claims = new Map<string, Claim>();

  constructor(rule: NameRule) {
    if (!(rule.maxLength >= MIN_LENGTH)) throw new ValidationError(`Names need at least ${MIN_LENGTH} characters.`);
    this.#rule = rule;
  }

  add({ server = '', name }: NamedTool): void {
    if (this.#entries.get(server, name)) return;
    const first = server === '' && isLegalName(name, this.#rule);
    const entry: Entry = { ref: { server, tool: name }, first, level: 0, name: undefined };
    this.#entries.set(server, name, entry);
    this.#name(entry);
  }

  get size(): number {
    return this.#entries.size;
  }

  nameOf({ server, tool }: ToolRef): string | undefined {
    return this.#entries.get(server, tool)?.name;
  }

  refOf(name: string): ToolRef | undefined {
    return this.#claims.get(name)?.holder?.ref;
  }

  entries(): readonly (readonly [name: string, ref: ToolRef])[] {
    const named = [...this.#entries.values()].flatMap(({ name, ref }) =>
      name === undefined ? [] : [[name, ref] as const],
    );
    return named.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** If two tools want one name, neither gets it, so that the order of the tools does not matter. */
  #name(added: Entry): void {
    const nameless = [added];
    const raise = (entry: Entry): void => {
      entry.name = undefined;
      if (entry.level + 1 >= HEX_LENGTHS.length) return;
      entry.level++;
      nameless.push(entry);
    };
    for (const entry of nameless) {
      const name = nameAt(entry, entry.level, this.#rule);
      const claim = this.#claims.get(name) ?? { holder: undefined, wanting: new Set<Entry>() };
      this.#claims.set(name, claim);
      claim.wanting.add(entry);
      const { holder } = claim;
      const isFree = claim.wanting.size === 1 || entry.first;
      if (holder && !holder.first && claim.wanting.size > 1) {
        claim.holder = undefined;
        raise(holder);
      }
      if (isFree) {
        claim.holder = entry;
        entry.name = name;
      } else raise(entry);
    }
  }
}

/** The name that a tool gets unless another tool wants it too. */
export const plainName = (ref: ToolRef): string => nameAt({ ref }, 0, COMMON_NAME_RULE);

function nameAt({ ref: { server, tool } }: Pick<Entry, 'ref'>, level: number, rule: NameRule): string {
  const whole = legal(server === '' ? tool : `${server}__${tool}`, rule);
  if (level === 0 && whole.length <= rule.maxLength) return whole;
  const hex = Math.min(HEX_LENGTHS[Math.max(level, 1)] ?? 8, rule.maxLength - 2);
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, hex);
  return `${whole.slice(0, rule.maxLength - hex - 1)}_${hash}`;
}

/** Tells whether a name is legal unchanged. */
export function isLegalName(name: string, rule: NameRule): boolean {
  if (name === '' || name.length > rule.maxLength || (rule.letterFirst && !isLetter(name.charCodeAt(0)))) return false;
  for (let at = 0; at < name.length; at++) if (!isLegal(name.charCodeAt(at), rule)) return false;
  return true;
}

/** Replaces illegal characters one by one, per UTF-16 unit. */
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

/** Values by two keys. */
export class PairMap<V> {
  readonly #outer = new Map<string, Map<string, V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(first: string, second: string): V | undefined {
    return this.#outer.get(first)?.get(second);
  }

  set(first: string, second: string, value: V): void {
    const inner = this.#outer.get(first) ?? new Map<string, V>();
    if (!inner.has(second)) this.#size++;
    this.#outer.set(first, inner.set(second, value));
  }

  *values(): Generator<V> {
    for (const inner of this.#outer.values()) yield* inner.values();
  }
}
