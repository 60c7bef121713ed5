/**
 * Shortens a large part of a schema to fit into a page. What does not fit becomes a reference to its place, `{"$ref":
 * "#/properties/filter"}`, which can be read separately, so that nothing is lost.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema } from '../core/types.ts';
import { shorten } from '../text/plain-text.ts';
import { textWeight } from '../text/text-weight.ts';
import { referredPart, type SchemaPart, step } from './schema-part.ts';

/** Parts up to this length stay; a reference would hardly be shorter. */
const SMALL = 120;
const TEXT = 200;

/** A shortened part, and whether something was left out. */
interface Outline {
  readonly value: unknown;
  readonly isCut: boolean;
}

/**
 * Returns the part itself if its weight is at most `room`; otherwise as many levels as fit, but at least one. If there
 * is room left, references are replaced by their targets in `root`.
 */
export function outline(part: SchemaPart, room: number, root?: JsonSchema): Outline {
  const sizes = new Map<object, number>();
  const fits = ({ value }: Outline): boolean => value !== undefined && textWeight(JSON.stringify(value)) <= room;
  let best: Outline = { value: part.value, isCut: false };
  if (fits(best)) {
    for (let hops = 1; root && hops <= LIMITS.schema.hops; hops++) {
      const next = new Outliner(sizes, root, hops).write(part, LIMITS.json.depth);
      if (next.isCut || !fits(next)) break;
      best = next;
    }
    return best;
  }
  best = new Outliner(sizes).write(part, 1);
  for (let levels = 2; best.isCut && levels <= LIMITS.json.depth; levels++) {
    const next = new Outliner(sizes).write(part, levels);
    if (!fits(next)) break;
    best = next;
  }
  return best;
}

class Outliner {
  readonly #sizes: Map<object, number>;
  readonly #root: JsonSchema | undefined;
  readonly #hops: number;
  #nodes = LIMITS.schema.shown;
  #isCut = false;

  /** With a `root`, replaces references by their targets, nested at most `hops` deep. */
  constructor(sizes: Map<object, number>, root?: JsonSchema, hops = 0) {
    this.#sizes = sizes;
    this.#root = root;
    this.#hops = hops;
  }

  /** Texts of the part itself stay whole: nothing else shows them. */
  write({ pointer, value }: SchemaPart, levels: number): Outline {
    const whole =
      typeof value === 'string' ? value : this.#children(value, pointer, levels, this.#hops, (text) => text);
    return { value: whole, isCut: this.#isCut };
  }

  #write(value: unknown, pointer: string, levels: number, hops: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    const target = hops > 0 && this.#root ? referredPart(this.#root, value) : undefined;
    if (target) return this.#write(target.value, target.pointer, levels - 1, hops - 1);
    if (levels > 0 && (!this.#root || this.#nodes-- > 0))
      return this.#children(value, pointer, levels, hops, (text) => this.#text(text));
    if (this.#size(value) <= SMALL) return value;
    this.#isCut = true;
    const type = (value as { type?: unknown }).type;
    return { ...(typeof type === 'string' && type.length < 20 && { type }), $ref: `#${pointer}` };
  }

  #children(value: unknown, pointer: string, levels: number, hops: number, text: (value: string) => string): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const child = (item: unknown, name: string) =>
      typeof item === 'string' ? text(item) : this.#write(item, pointer + step(name), levels - 1, hops);
    if (Array.isArray(value)) return value.map((item, at) => child(item, String(at)));
    // Entries, not assignment: a property may be named `__proto__`.
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, child(item, name)]));
  }

  #text(text: string): string {
    if (text.length <= TEXT || this.#root) return text;
    this.#isCut = true;
    return shorten(text, TEXT);
  }

  #size(value: object): number {
    const known = this.#sizes.get(value);
    if (known !== undefined) return known;
    let size = 2;
    for (const [name, item] of Object.entries(value)) {
      size += Array.isArray(value) ? 1 : name.length + 4;
      size += typeof item === 'object' && item !== null ? this.#size(item) : (JSON.stringify(item)?.length ?? 4);
    }
    this.#sizes.set(value, size);
    return size;
  }
}
