/**
 * A tool or a request in, the words that its meaning is computed from out. Training reads the same words, so a change
 * here asks for a new model.
 * @module
 */
import type { ToolMetadata } from '../types.ts';
import { readSchema } from './schema-text.ts';
import { tokenize } from './tokenizer.ts';

/** The parts of a tool that have a meaning of their own, in the order the model weighs them. */
export const MEANING_PARTS = ['server', 'name', 'lead', 'rest', 'parameters'] as const;

/** One part. */
export type MeaningPart = (typeof MEANING_PARTS)[number];

const MAX_TEXT = 2_000;
const MAX_WORDS = 64;
const FIRST_SENTENCE = /^.{12,}?[.!?。！？](?=\s|$)|^.+/su;

/** Lower-case words in order; identifiers as their parts. */
export function meaningWords(text: string, most = MAX_WORDS): string[] {
  const words: string[] = [];
  for (const { text: word, kind } of tokenize(text.slice(0, MAX_TEXT))) {
    if (kind === 'compound') continue;
    if (words.length >= most) break;
    words.push(word);
  }
  return words;
}

/** The words of a tool, part by part. */
export function toolWords(tool: ToolMetadata): Record<MeaningPart, string[]> {
  const description = (tool.description ?? tool.summary).slice(0, MAX_TEXT).trim();
  const lead = FIRST_SENTENCE.exec(description)?.[0] ?? '';
  const parameters =
    // Absent, or null where a careless list says so.
    tool.inputSchema ? readSchema(tool.inputSchema).names : (tool.parameters ?? []).map(({ name }) => name);
  return {
    server: meaningWords(tool.server, 12),
    name: meaningWords(`${tool.name} ${tool.title ?? ''}`, 24),
    lead: meaningWords(lead, 32),
    rest: meaningWords(description.slice(lead.length)),
    parameters: meaningWords(parameters.slice(0, 24).join(' '), 32),
  };
}
