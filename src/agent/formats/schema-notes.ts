/**
 * Puts keywords that an API cannot represent into words, and adds them to the description.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { schemaLimits } from '../../schema/schema-limits.ts';
import { listOf, type Node } from './schema-tree.ts';

/** The description with what the left-out keywords say; undefined when there is nothing to say. */
export function describeLeftOut(description: unknown, left: Node): string | undefined {
  const text = typeof description === 'string' ? description : '';
  if (Object.keys(left).length === 0) return text === '' ? undefined : text;
  const said = [text, ...wordsFor(left), schemaLimits(left).trim()].filter((part) => part !== '').join(' ');
  return said === '' ? undefined : said;
}

/** Appends a sentence to a description, unless it is already there. */
export const withNote = (description: unknown, note: string): string => {
  if (typeof description !== 'string' || description === '') return note;
  return description.includes(note) ? description : `${description} ${note}`;
};

function wordsFor(left: Node): string[] {
  const words: string[] = [];
  if (left.enum !== undefined) words.push(`One of ${values(listOf(left.enum))}.`);
  if (left.const !== undefined) words.push(`Always ${values([left.const])}.`);
  if (left.uniqueItems === true) words.push('No duplicates.');
  const [example] = left.example === undefined ? listOf(left.examples) : [left.example];
  if (example !== undefined) {
    const text = JSON.stringify(example);
    if (text.length <= LIMITS.text.noteExample) words.push(`For example ${text}.`);
  }
  if (typeof left.note === 'string') words.push(left.note);
  return words;
}

function values(all: readonly unknown[]): string {
  const texts: string[] = [];
  let room = LIMITS.text.note;
  for (const value of all) {
    const text = JSON.stringify(value);
    room -= text.length + 2;
    if (room < 0) return [...texts, '…'].join(', ');
    texts.push(text);
  }
  return texts.join(', ');
}
