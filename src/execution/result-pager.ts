/**
 * Cuts a large result into pages, without loss. A page holds pieces. Blocks that fit stay
 * unchanged. A text too long for its page is split between code points; any other part is split as JSON text. Each
 * split piece says in `_meta["anygpt/part"]` what it is a piece of.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { CallToolResult, ContentBlock } from '../core/types.ts';
import { codePointBorder, jsonBytes, jsonBytesInSteps, stringBytes } from './json-bytes.ts';
import { writeInSteps } from './json-pieces.ts';

/** The `_meta` key that describes a piece. */
export const PART_KEY = 'anygpt/part';
/** The `_meta` key that marks a page. */
export const PAGE_KEY = 'anygpt/page';

/** What a piece belongs to: a content block by index, or another field of the result by name. */
export interface Part {
  readonly of: number | string;
  readonly as: 'text' | 'json';
}

const SMALL = 512;

interface Cursor {
  readonly part: number;
  readonly offset: number;
}

const FIRST: Cursor = { part: 0, offset: 0 };

/** Blocks and pieces of text that are looked at in one step. */
const BLOCKS_A_STEP = 64;

/** A result and the positions where its pages start. */
export class PagedResult {
  /** Size of the whole result as JSON. */
  readonly bytes: number;
  /** Small fields beside the content; the first page carries them unchanged. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly #content: readonly unknown[];
  /** Fields by name: the value, or undefined once it was written as JSON. */
  readonly #fields: Map<string, unknown>;
  readonly #parts: readonly (number | string)[];
  readonly #pageBytes: number;
  readonly #starts: Cursor[] = [FIRST];
  /** JSON of the parts that were cut. */
  readonly #json = new Map<number | string, string>();

  private constructor(result: CallToolResult, pageBytes: number, bytes: number) {
    this.bytes = bytes;
    // Leaves room for the mark and the description of each piece.
    this.#pageBytes = Math.max(1_024, pageBytes - 2_048);
    this.#content = Array.isArray(result.content) ? result.content : [];
    const blocks = [...this.#content.keys()];
    const names = Object.keys(result).filter((name) => !(name === 'content' && blocks.length > 0));
    const small = smallFields(result, names);
    this.fields = Object.fromEntries(names.filter((name) => small.has(name)).map((name) => [name, result[name]]));
    this.#fields = new Map(names.filter((name) => !small.has(name)).map((name) => [name, result[name]]));
    this.#parts = [...blocks, ...this.#fields.keys()];
  }

  /** Finds the pages of a result, in steps. `bytes` is its size, if known. */
  static *cut(result: CallToolResult, pageBytes: number, bytes?: number): Generator<void, PagedResult> {
    const paged = new PagedResult(result, pageBytes, bytes ?? (yield* jsonBytesInSteps(result)));
    yield;
    for (
      let next = yield* paged.#fill(FIRST, undefined);
      next !== undefined;
      next = yield* paged.#fill(next, undefined)
    )
      paged.#starts.push(next);
    return paged;
  }

  /** How many pages there are. */
  get pages(): number {
    return this.#starts.length;
  }

  /** Returns the pieces of one page, counted from 1; undefined beyond the last. */
  page(number: number): ContentBlock[] | undefined {
    const steps = this.pageInSteps(number);
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  }

  /** Like `page`, in steps. */
  *pageInSteps(number: number): Generator<void, ContentBlock[] | undefined> {
    const start = this.#starts[number - 1];
    if (start === undefined) return undefined;
    const blocks: ContentBlock[] = [];
    yield* this.#fill(start, blocks);
    return blocks;
  }

  /** Fills one page and returns where the next starts. */
  *#fill(start: Cursor, blocks: ContentBlock[] | undefined): Generator<void, Cursor | undefined> {
    let { part, offset } = start;
    let left = this.#pageBytes;
    for (; part < this.#parts.length; part++, offset = 0) {
      const of = this.#parts[part] as number | string;
      const value = typeof of === 'number' ? this.#content[of] : this.#fields.get(of);
      if (part - start.part >= LIMITS.answer.blocks) return { part, offset };
      if (part % BLOCKS_A_STEP === 0) yield;
      const whole = typeof of === 'number' && offset === 0 && isBlock(value) ? jsonBytes(value, left) + 1 : undefined;
      if (whole !== undefined && whole <= left) {
        blocks?.push(value as ContentBlock);
        left -= whole;
        continue;
      }
      const asText = isText(value) && typeof of === 'number';
      const text = asText ? value.text : yield* this.#jsonOf(of, value);
      const rest: object = asText && offset === 0 ? value : { type: 'text' };
      const room = left - 128 - (asText && offset === 0 ? jsonBytes({ ...value, text: '' }) : 16);
      const [end, bytes] = yield* cut(text, offset, room);
      // An empty page always has room for some of it, so this ends.
      if (end === offset) return { part, offset };
      blocks?.push(piece(rest, text.slice(offset, end), { of, as: asText ? 'text' : 'json' }));
      if (end < text.length) return { part, offset: end };
      left = room - bytes;
    }
    return undefined;
  }

  /** The JSON of a part. It is written once and then replaces the value. */
  *#jsonOf(of: number | string, value: unknown): Generator<void, string> {
    const known = this.#json.get(of);
    if (known !== undefined) return known;
    const text = yield* writeInSteps(value);
    this.#json.set(of, text);
    if (typeof of === 'string') this.#fields.set(of, undefined);
    return text;
  }
}

const isBlock = (value: unknown): value is ContentBlock =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !hasKey(value);

/** A downstream server's own use of our key must not be mistaken for ours. */
const hasKey = (value: object): boolean => {
  const meta = (value as ContentBlock)._meta;
  return typeof meta === 'object' && meta !== null && (Object.hasOwn(meta, PART_KEY) || Object.hasOwn(meta, PAGE_KEY));
};

const isText = (value: unknown): value is ContentBlock & { readonly text: string } =>
  isBlock(value) &&
  value.type === 'text' &&
  typeof value.text === 'string' &&
  value._meta === undefined &&
  jsonBytes({ ...value, text: '' }, SMALL) <= SMALL;

function piece(rest: object, text: string, part: Part): ContentBlock {
  return { ...rest, type: 'text', text, _meta: { [PART_KEY]: part } };
}

/** Returns the fields that fit beside the first page, up to a kilobyte. */
function smallFields(result: CallToolResult, names: readonly string[]): ReadonlySet<string> {
  const small = new Set<string>();
  let left = 2 * SMALL;
  for (const name of names) {
    // `content` is the name of the page's own blocks.
    if (name === 'content') continue;
    const bytes = stringBytes(name) + jsonBytes(result[name], left) + 2;
    if (bytes > left) continue;
    left -= bytes;
    small.add(name);
  }
  return small;
}

/**
 * Returns the furthest end such that `text.slice(start, end)` takes at most `room` bytes as JSON and splits no code
 * point, and its bytes.
 */
function* cut(text: string, start: number, room: number): Generator<void, readonly [end: number, bytes: number]> {
  let end = start;
  let left = room - 2;
  for (let step = 65_536; step >= 1; ) {
    const next = codePointBorder(text, Math.min(text.length, end + step));
    if (next <= end) {
      step = Math.floor(step / 2);
      continue;
    }
    const bytes = stringBytes(text.slice(end, next)) - 2;
    yield;
    if (bytes <= left) {
      left -= bytes;
      end = next;
      if (end === text.length) break;
    } else step = Math.floor(step / 2);
  }
  return [end, room - left];
}
