/**
 * Writes the result of a call: for people, or alone for `--raw`.
 * @module
 */

import type { CallToolResult, ContentBlock } from '../core/types.ts';
import { oneLine, plainText } from '../text/plain-text.ts';
import { parsedOr, textOf } from './execute-outcome.ts';
import { payloadOf, type SavedFile } from './save-files.ts';

/** For people: text as it is, JSON indented, everything else as a mark with its size and where it was saved. */
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

/**
 * The result alone: its text, or its structured content as JSON, or the bytes of a single image or file. A terminal gets
 * plain text, because it would obey what a server wrote.
 */
export function rawResult(result: CallToolResult, saved: readonly SavedFile[], isTTY = false): string | Uint8Array {
  const { content = [] } = result;
  const payload = content.length === 1 && content[0] ? payloadOf(content[0]) : undefined;
  if (payload !== undefined && saved.length === 0 && !isTTY) return payload.bytes;
  const texts = content.map(textOf);
  const whole = texts.length > 0 && !texts.includes(undefined) ? texts.join('\n') : undefined;
  const text =
    whole ?? (content.length === 0 && result.structuredContent === undefined ? '' : resultText(result, saved));
  if (!isTTY && whole !== undefined) return whole;
  const shown = isTTY ? plainText(text) : text;
  return shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`;
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
