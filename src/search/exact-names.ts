/**
 * The names a query mentions in, the tools that bear them out.
 * @module
 */
import { NAME_KEY } from './document.ts';
import { isAlive, type LiveIndex, type Position } from './live-index.ts';
import type { NameMention, ParsedQuery } from './query.ts';
import { TEXT, textOf } from './segment.ts';
import { fold, nameKey } from './tokenizer.ts';

/** A tool whose name was mentioned; `spelled` when letter for letter, not only but for case and separators. */
export interface NamedTool extends Position {
  readonly spelled: boolean;
}

/** Where one tool is; undefined when it is not indexed. */
export function findTool(index: LiveIndex, server: string, tool: string): Position | undefined {
  const reading = { key: nameKey(tool), spelling: fold(tool), server: nameKey(server), strict: true };
  return toolsNamed(index, reading).find(({ segment, document }) => {
    const found = index.segments[segment]?.segment;
    return (
      found?.servers[found.documentServers[document] as number] === server &&
      textOf(found, document, TEXT.name) === tool
    );
  });
}

/** The first `most` tools of each segment that are accepted, as if each had been named. */
export function allOf(
  index: LiveIndex,
  most: number,
  accepts: (segment: number, document: number) => boolean,
): NamedTool[] {
  const found: NamedTool[] = [];
  for (const [position, { segment, alive }] of index.segments.entries()) {
    const end = found.length + most;
    for (let document = 0; document < segment.documentServers.length && found.length < end; document++) {
      if (isAlive(segment, alive, document) && accepts(position, document))
        found.push({ segment: position, document, spelled: true });
    }
  }
  return found;
}

/** For each name that the query mentions, in its order, the tools with that name. */
export function findNamed(index: LiveIndex, query: ParsedQuery): NamedTool[][] {
  const whole = lookUp(index, query.whole);
  if (whole.length > 0) return [whole];
  const pieces = query.pieces.map((piece) => lookUp(index, piece));
  if (pieces.length > 1 && pieces.every((tools) => tools.length > 0)) return pieces;
  return query.mentions.map((mention) => lookUp(index, mention)).filter((tools) => tools.length > 0);
}

/** Whether a query is nothing but a tool's name, letter for letter, with or without its server. */
export const isName = (index: LiveIndex, { whole }: ParsedQuery): boolean =>
  lookUp(index, whole).some(({ spelled }) => spelled);

/** The first reading that any tool answers to. */
function lookUp(index: LiveIndex, readings: readonly NameMention[]): NamedTool[] {
  for (const reading of readings) {
    const tools = toolsNamed(index, reading);
    if (tools.length > 0) return tools;
  }
  return [];
}

function toolsNamed(index: LiveIndex, { key, spelling, server, strict }: NameMention): NamedTool[] {
  if (key === '') return [];
  const found: NamedTool[] = [];
  const { ordinals } = index.entry(NAME_KEY + key);
  for (const [position, ordinal] of ordinals.entries()) {
    const live = index.segments[position];
    if (ordinal < 0 || live === undefined) continue;
    const { segment, alive } = live;
    const end = segment.postingOffsets[ordinal + 1] as number;
    for (let at = segment.postingOffsets[ordinal] as number; at < end; at++) {
      const document = segment.postingDocuments[at] as number;
      if (!isAlive(segment, alive, document)) continue;
      if (
        server !== undefined &&
        server !== nameKey(segment.servers[segment.documentServers[document] as number] ?? '')
      )
        continue;
      const name = fold(textOf(segment, document, TEXT.name));
      if (strict && name !== spelling) continue;
      found.push({ segment: position, document, spelled: strict || name.toLowerCase() === spelling });
    }
  }
  return found;
}
