/**
 * Finds the tools whose names a query mentions.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { NAME_KEY } from './document.ts';
import { isAlive, type LiveIndex, type Position } from './live-index.ts';
import type { NameMention, NamePiece, ParsedQuery } from './query.ts';
import { type Segment, TEXT, textOf } from './segment.ts';
import { compareText } from './segment-builder.ts';
import { nameKey } from './tokenizer.ts';

/** A tool whose name was mentioned. `spelled`: letter for letter, also in case and separators. */
export interface NamedTool extends Position {
  readonly spelled: boolean;
}

/** The tools that one piece of a query may name. */
export interface Named {
  readonly piece: NamePiece;
  readonly tools: readonly NamedTool[];
  /** Whether the piece names a server, too, as `server:tool` or `server__tool`. */
  readonly explicit: boolean;
}

/** Finds one tool; undefined if it is not indexed. */
export function findTool(index: LiveIndex, server: string, tool: string): Position | undefined {
  const reading = { key: nameKey(tool), spelling: tool, server, strict: true, explicit: true };
  return toolsNamed(index, reading).find(({ spelled }) => spelled);
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

/**
 * For each name that the query mentions, in its order, the tools with that name. `asksFor` decides about names within a
 * longer request: `package.json` in it is hardly ever a tool.
 */
export function findNamed(
  index: LiveIndex,
  query: ParsedQuery,
  asksFor: (mentioned: readonly Named[]) => (named: Named) => boolean,
): Named[] {
  const whole = lookUp(index, query.whole);
  if (whole.tools.length > 0) return [whole];
  const found = query.mentions.map((piece) => lookUp(index, piece)).filter(({ tools }) => tools.length > 0);
  if (query.onlyMentions && found.length === query.mentions.length) return found;
  if (found.length === 0) return [];
  const isAskedFor = asksFor(found);
  return found.filter((named) => named.explicit || isAskedFor(named));
}

/** Tells whether a query is only a tool's name, letter for letter, with or without its server. */
export const isName = (index: LiveIndex, { whole }: ParsedQuery): boolean =>
  lookUp(index, whole).tools.some(({ spelled }) => spelled);

/**
 * The tools of the best reading. What is spelled exactly wins over what is not, and a server's own tool over one that has
 * that server in its name: no other server's tool answers to `github:create_issue`.
 */
function lookUp(index: LiveIndex, piece: NamePiece): Named {
  const readings = piece.readings.map(({ explicit, ...reading }) => ({
    explicit,
    server: reading.server,
    tools: toolsNamed(index, { explicit, ...reading }),
  }));
  for (const { explicit, server, tools } of readings) {
    const exact = tools.filter(({ spelled }) => spelled);
    // A bare name belongs to every server that has it, however the server spells it.
    if (exact.length > 0) return { piece, tools: server === undefined ? tools : exact, explicit };
  }
  for (const { explicit, tools } of readings) if (tools.length > 0) return { piece, tools, explicit };
  return { piece, tools: [], explicit: false };
}

function toolsNamed(index: LiveIndex, { key, spelling, server, strict }: NameMention): NamedTool[] {
  if (key === '') return [];
  const found: NamedTool[] = [];
  const serverKey = server === undefined ? undefined : nameKey(server);
  const { ordinals } = index.entry(NAME_KEY + key);
  for (const [position, ordinal] of ordinals.entries()) {
    const live = index.segments[position];
    if (ordinal < 0 || live === undefined) continue;
    const { segment, alive } = live;
    for (const { own, documents } of byServer(segment, ordinal)) {
      const name = segment.servers[own] ?? '';
      if (alive[own] !== 1 || (serverKey !== undefined && serverKey !== nameKey(name))) continue;
      const same = nameIn(segment, documents, spelling);
      const spelled = server === undefined || server === name;
      if (same !== undefined) found.push({ segment: position, document: same, spelled });
      else if (!strict) {
        for (const document of documents.slice(0, LIMITS.search.alike))
          found.push({ segment: position, document, spelled: false });
      }
    }
  }
  return found;
}

/** Finds a name among the documents of one server, which are sorted by name. */
function nameIn(segment: Segment, documents: readonly number[], name: string): number | undefined {
  let from = 0;
  let to = documents.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const document = documents[middle] as number;
    const order = compareText(textOf(segment, document, TEXT.name), name);
    if (order === 0) return document;
    if (order < 0) from = middle + 1;
    else to = middle;
  }
  return undefined;
}

/** The documents of a term by server. */
function byServer({ postingDocuments, postingOffsets, documentServers }: Segment, ordinal: number) {
  const servers: { readonly own: number; readonly documents: number[] }[] = [];
  const end = postingOffsets[ordinal + 1] as number;
  for (let at = postingOffsets[ordinal] as number; at < end; at++) {
    const document = postingDocuments[at] as number;
    const own = documentServers[document] as number;
    const last = servers.at(-1);
    if (last?.own === own) last.documents.push(document);
    else servers.push({ own, documents: [document] });
  }
  return servers;
}
