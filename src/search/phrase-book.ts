/**
 * Holds search phrases for the tools of widely used servers: how people ask for them in words that the tools do not use. A
 * phrase belongs to a tool by its name and the first words of its description, so no namesake of the tool gets it.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';

/** Phrases by the key of their tool. */
export type PhraseBook = ReadonlyMap<string, readonly string[]>;

const VERSION = 1;
const OPENING_WORDS = 8;
const WORDS = /[\p{L}\p{N}]+/gu;

interface KeyedTool {
  readonly server: string;
  readonly name: string;
  readonly description?: string | undefined;
}

/** What names a tool whatever its server is called: its name and how its description begins. */
export function phraseKey(tool: Pick<KeyedTool, 'name' | 'description'>): string {
  const words: string[] = [];
  for (const [word] of (tool.description ?? '').slice(0, 512).matchAll(WORDS)) {
    if (words.push(word.toLowerCase()) === OPENING_WORDS) break;
  }
  const text = `${tool.name}\n${words.join(' ')}`;
  return hashOf(text, 0x811c_9dc5) + hashOf(text, 0x1234_5678);
}

/** FNV-1a, in hexadecimal: this is asked for every tool that is indexed, and keeps nothing secret. */
function hashOf(text: string, start: number): string {
  let hash = start;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** The phrases of one tool: its own, or those that a person's book has under `server:tool`. */
export function phrasesOf(tool: KeyedTool, book: PhraseBook | undefined): readonly string[] {
  if (book === undefined || book.size === 0) return [];
  return book.get(`${tool.server}:${tool.name}`) ?? book.get(phraseKey(tool)) ?? [];
}

/** Reads a phrase book; undefined for anything that is not one. */
export function parsePhraseBook(text: string): PhraseBook | undefined {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    // Not JSON: not a phrase book.
    return undefined;
  }
  if (!isObject(data) || data.version !== VERSION || !isObject(data.tools)) return undefined;
  const book = new Map<string, readonly string[]>();
  for (const [key, phrases] of Object.entries(data.tools)) {
    if (!Array.isArray(phrases)) return undefined;
    const kept = phrases.filter((phrase) => typeof phrase === 'string').slice(0, LIMITS.search.phrases);
    book.set(
      key,
      kept.map((phrase) => phrase.slice(0, LIMITS.search.phrase)),
    );
  }
  return book;
}
