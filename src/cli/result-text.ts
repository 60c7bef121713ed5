/**
 * A result in, what a person reads of it out.
 * @module
 */

import type { CallToolResult, ContentBlock } from '../core/types.ts';
import { oneLine } from '../text/plain-text.ts';
import { parsedOr, textOf } from './execute-outcome.ts';
import { payloadOf, type SavedFile } from './save-files.ts';

/** Text as it is, JSON indented, everything else named with its size and where it was saved. */
export function resultText({ content = [], structuredContent }: CallToolResult, saved: readonly SavedFile[]): string {
  if (content.length === 0) return structuredContent === undefined ? '(empty)' : pretty(structuredContent);
  return content
    .map((block, at) =>
      blockText(
        block,
        saved.find((file) => file.block === at),
      ),
    )
    .join('\n');
}

function blockText(block: ContentBlock, saved: SavedFile | undefined): string {
  const text = textOf(block);
  if (text !== undefined) {
    const value = parsedOr(text);
    return typeof value === 'object' ? pretty(value) : text;
  }
  if (block.type === 'resource_link')
    return `[link ${oneLine(String(block.name ?? ''), 200)} ${oneLine(String(block.uri), 1000)}]`;
  const payload = payloadOf(block);
  if (payload === undefined) return pretty(block);
  const where = saved ? `saved to ${saved.path}` : 'save it with --output DIR';
  const mark = `[${[block.type, payload.uri, payload.mimeType]
    .filter(Boolean)
    .map((part) => oneLine(String(part), 500))
    .join(' ')}, ${sizeText(payload.bytes.length)}, ${where}]`;
  return payload.text === undefined || saved ? mark : `${mark}\n${payload.text}`;
}

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);

const sizeText = (bytes: number): string =>
  bytes < 1000
    ? `${bytes} B`
    : bytes < 1_000_000
      ? `${(bytes / 1000).toFixed(1)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`;
