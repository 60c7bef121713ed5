/**
 * Lists the words that the meaning of a tool or a request is computed from. A change here needs a new model.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { ToolMetadata } from '../core/types.ts';
import { parametersOf } from './schema-text.ts';
import { chunksOf, wordsOf } from './tokenizer.ts';

/** The parts of a tool that have a meaning of their own, in the order the model weighs them. */
export const MEANING_PARTS = ['server', 'name', 'lead', 'rest', 'parameters'] as const;

/** One part. */
export type MeaningPart = (typeof MEANING_PARTS)[number];

const FIRST_SENTENCE = /^.{12,}?[.!?。！？](?=\s|$)|^.+/su;

/** How many words of each part count. */
export const MOST_WORDS: Readonly<Record<MeaningPart, number>> = {
  server: 12,
  name: 24,
  lead: 32,
  rest: LIMITS.search.meaningWords,
  parameters: 32,
};
/** And how many names of parameters. */
export const MOST_PARAMETERS = 24;

/** The words of one word or identifier that have a meaning: of an identifier its parts. */
const spokenWords = (chunk: string): string[] =>
  wordsOf(chunk)
    .filter(({ kind }) => kind !== 'compound')
    .map(({ text }) => text);

/** Lower-case words in order; identifiers as their parts. */
export const meaningWords = (text: string, most = LIMITS.search.meaningWords): string[] =>
  chunksOf(text.slice(0, LIMITS.search.meaningText)).flatMap(spokenWords).slice(0, most);

/** A description in three: its first sentence, what else has a meaning, and what is too far from its beginning for that. */
export function splitDescription(description: string): readonly [lead: string, rest: string, tail: string] {
  const start = description.slice(0, LIMITS.search.meaningText).trim();
  const lead = FIRST_SENTENCE.exec(start)?.[0] ?? '';
  return [lead, start.slice(lead.length), description.slice(LIMITS.search.meaningText)];
}

/** The words of a tool, part by part. */
export function toolWords(tool: ToolMetadata): Record<MeaningPart, string[]> {
  const [lead, rest] = splitDescription(tool.description ?? tool.summary);
  const { names } = parametersOf(tool);
  return {
    server: meaningWords(tool.server, MOST_WORDS.server),
    name: meaningWords(`${tool.name} ${tool.title ?? ''}`, MOST_WORDS.name),
    lead: meaningWords(lead, MOST_WORDS.lead),
    rest: meaningWords(rest, MOST_WORDS.rest),
    parameters: meaningWords(names.slice(0, MOST_PARAMETERS).join(' '), MOST_WORDS.parameters),
  };
}
