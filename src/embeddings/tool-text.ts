/**
 * Builds the text of a tool for an embedder: server, name in words, description, parameters.
 * @module
 */
import { createHash } from 'node:crypto';
import { LIMITS } from '../core/limits.ts';
import type { ToolMetadata } from '../core/types.ts';
import { readSchema } from '../search/schema-text.ts';
import { oneLine } from '../text/plain-text.ts';

/** Raised with every change to the text. */
const VERSION = 1;

/** Returns at most 1,000 characters. */
export function toolText({
  server,
  name,
  title,
  description,
  summary,
  inputSchema,
  keywords = [],
}: ToolMetadata): string {
  const parameters =
    inputSchema === undefined ? [] : readSchema(inputSchema).names.slice(0, LIMITS.embeddings.parameters);
  const lines = [
    `${inWords(server)}: ${inWords(name)}`,
    title ?? '',
    (description ?? summary).slice(0, LIMITS.embeddings.description * 2),
    keywords.join(', '),
    parameters.length === 0 ? '' : `Parameters: ${parameters.map(inWords).join(', ')}`,
  ];
  const most = [200, 100, LIMITS.embeddings.description, 100, 300];
  const text = lines.map((line, at) => oneLine(line, most[at] ?? 0)).filter((line) => line !== '');
  return text.join('\n').slice(0, LIMITS.embeddings.text);
}

/** Identifies a text under an embedder: equal keys have equal vectors. */
export const textKey = (embedder: string, text: string): string =>
  createHash('sha256')
    .update(JSON.stringify([VERSION, embedder, text]))
    .digest('hex')
    .slice(0, 32);

const inWords = (name: string): string =>
  name
    .slice(0, 200)
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
