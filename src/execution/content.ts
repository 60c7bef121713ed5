/**
 * Makes the only two changes to a result: removes the downstream server's name stamp, and replaces content whose type
 * the agent's protocol revision does not know by text. Everything else is the same object.
 * @module
 */
import type { CallToolResult, ContentBlock } from '../core/types.ts';

/** Every content type of the newest protocol revision. */
export const CONTENT_TYPES: ReadonlySet<string> = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

const STAMP = 'io.modelcontextprotocol/serverInfo';

const OLDER_TYPES: ReadonlyMap<string | undefined, ReadonlySet<string>> = new Map([
  ['2024-10-07', new Set(['text', 'image', 'resource'])],
  ['2024-11-05', new Set(['text', 'image', 'resource'])],
  ['2025-03-26', new Set(['text', 'image', 'audio', 'resource'])],
]);

/** Returns the content types of a protocol revision; an unknown revision counts as the newest. */
export function contentTypesOf(revision: string | undefined): ReadonlySet<string> {
  return OLDER_TYPES.get(revision) ?? CONTENT_TYPES;
}

/** Adapts a result to the agent; returns the same object when nothing changes. */
export function fitContent(result: CallToolResult, known: ReadonlySet<string> = CONTENT_TYPES): CallToolResult {
  const { content, _meta } = result;
  const stamped = typeof _meta === 'object' && _meta !== null && Object.hasOwn(_meta, STAMP);
  const strange = Array.isArray(content) && !content.every((block) => isKnown(block, known));
  if (!stamped && !strange) return result;
  const fitted: { -readonly [K in keyof CallToolResult]: CallToolResult[K] } = { ...result };
  if (stamped) {
    const { [STAMP]: _stamp, ...rest } = _meta;
    if (Object.keys(rest).length > 0) fitted._meta = rest;
    else delete fitted._meta;
  }
  if (strange) fitted.content = content.map((block) => (isKnown(block, known) ? block : asText(block)));
  return fitted;
}

const isKnown = (block: ContentBlock | null | undefined, known: ReadonlySet<string>): boolean =>
  typeof block === 'object' && block !== null && known.has(block.type);

function asText(block: unknown): ContentBlock {
  const type = typeof block === 'object' && block !== null ? String((block as ContentBlock).type) : 'none';
  const held = JSON.stringify(block) ?? 'null';
  return {
    type: 'text',
    text: `[content of type "${type.slice(0, 64)}", which this protocol revision does not know, as JSON]\n${held}`,
  };
}
