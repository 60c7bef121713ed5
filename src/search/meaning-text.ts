/**
 * A tool or a request in, the words that its meaning is computed from out. Training reads the same words, so a change
 * here asks for a new model.
 * @module
 */
import type { ToolMetadata } from '../types.ts';
import { parametersOf } from './schema-text.ts';
import { chunksOf, wordsOf } from './tokenizer.ts';

/** The parts of a tool that have a meaning of their own, in the order the model weighs them. */
export const MEANING_PARTS = ['server', 'name', 'lead', 'rest', 'parameters'] as const;

/** One part. */
export type MeaningPart = (typeof MEANING_PARTS)[number];

const MAX_TEXT = 2_000;
const MAX_WORDS = 64;
const FIRST_SENTENCE = /^.{12,}?[.!?。！？](?=\s|$)|^.+/su;

/** A text, and how many of its words count. */
export interface MeaningText {
  readonly text: string;
  readonly most: number;
}

const meaningText = (text: string, most = MAX_WORDS): MeaningText => ({ text: text.slice(0, MAX_TEXT), most });

/** The words of one word or identifier that have a meaning: of an identifier its parts. */
export const spokenWords = (chunk: string): string[] =>
  wordsOf(chunk)
    .filter(({ kind }) => kind !== 'compound')
    .map(({ text }) => text);

/** Lower-case words in order; identifiers as their parts. */
export function meaningWords(text: string, most = MAX_WORDS): string[] {
  return wordsIn(meaningText(text, most));
}

const wordsIn = ({ text, most }: MeaningText): string[] => chunksOf(text).flatMap(spokenWords).slice(0, most);

/** The texts of a tool, part by part; `parameters` are the names of its parameters. */
export function toolTexts(tool: ToolMetadata, parameters: readonly string[]): Record<MeaningPart, MeaningText> {
  const description = (tool.description ?? tool.summary).slice(0, MAX_TEXT).trim();
  const lead = FIRST_SENTENCE.exec(description)?.[0] ?? '';
  return {
    server: meaningText(tool.server, 12),
    name: meaningText(`${tool.name} ${tool.title ?? ''}`, 24),
    lead: meaningText(lead, 32),
    rest: meaningText(description.slice(lead.length)),
    parameters: meaningText(parameters.slice(0, 24).join(' '), 32),
  };
}

/** The words of a tool, part by part. */
export function toolWords(tool: ToolMetadata): Record<MeaningPart, string[]> {
  const texts = toolTexts(tool, parametersOf(tool).names);
  return Object.fromEntries(MEANING_PARTS.map((part) => [part, wordsIn(texts[part])])) as Record<MeaningPart, string[]>;
}
