/**
 * Splits a tool's result into texts and media: every block, and the structured content if the texts do not contain it.
 * @module
 */

import type { CallToolResult, ContentBlock } from '../../core/types.ts';
import { parseNested } from '../../json/json-nesting.ts';
import { isRepeated } from './repeated-values.ts';
import { isNode, isSame } from './schema-tree.ts';

/** Bytes of a media type. */
export interface Media {
  readonly kind: 'media';
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  /** The origin, if given. */
  readonly name: string | undefined;
}

export type ResultPart = { readonly kind: 'text'; readonly text: string } | Media;

const text = (value: string): ResultPart => ({ kind: 'text', text: value });

/** Returns all parts, in order. `_meta` is for programs and is left out. */
export function partsOf({ content, structuredContent }: CallToolResult): readonly ResultPart[] {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const parts = blocks.map(partOf);
  if (structuredContent === undefined || structuredContent === null) return parts;
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  if (texts.some((one) => says(one, structuredContent)) || isRepeated(structuredContent, texts)) return parts;
  return [...parts, text(json(structuredContent))];
}

function partOf(block: unknown): ResultPart {
  if (!isNode(block)) return text(json(block));
  const { type, mimeType } = block as ContentBlock;
  if (type === 'text' && typeof block.text === 'string') return text(block.text);
  if ((type === 'image' || type === 'audio') && typeof block.data === 'string')
    return media(block.data, mimeType, type === 'image' ? 'image/png' : 'audio/wav', undefined);
  if (type === 'resource' && isNode(block.resource)) return resourcePart(block.resource) ?? unknownPart(block);
  if (type === 'resource_link' && typeof block.uri === 'string') return text(linkText(block));
  return unknownPart(block);
}

function resourcePart(resource: Readonly<Record<string, unknown>>): ResultPart | undefined {
  const { uri, mimeType, text: content, blob } = resource;
  const name = typeof uri === 'string' ? uri : undefined;
  if (typeof content === 'string') return text(name === undefined ? content : `[resource ${name}]\n${content}`);
  if (typeof blob === 'string') return media(blob, mimeType, 'application/octet-stream', name);
  return undefined;
}

const media = (data: string, mimeType: unknown, fallback: string, name: string | undefined): Media => ({
  kind: 'media',
  mimeType: typeof mimeType === 'string' && mimeType !== '' ? mimeType.toLowerCase() : fallback,
  data,
  name,
});

function linkText(block: Readonly<Record<string, unknown>>): string {
  const { uri, name, title, mimeType, description } = block;
  const about = [title ?? name, mimeType, description].filter((part) => typeof part === 'string' && part !== '');
  return `[resource link ${String(uri)}${about.length > 0 ? `: ${about.join(', ')}` : ''}]`;
}

const unknownPart = (block: Readonly<Record<string, unknown>>): ResultPart =>
  text(`[content of type "${String(block.type).slice(0, 64)}", as JSON]\n${json(block)}`);

/** Tells whether a text is this value as JSON. */
function says(candidate: string, value: unknown): boolean {
  const start = candidate.trimStart().charAt(0);
  if (start !== (Array.isArray(value) ? '[' : '{')) return false;
  try {
    return isSame(parseNested(candidate), value);
  } catch {
    return false;
  }
}

/** Serialises a value of a program, which can contain anything. */
function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return '[a value that cannot be written as JSON]';
  }
}
