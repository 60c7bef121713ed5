/**
 * Parses queries and the tools that answer them: JSON lines, a JSON array, or a table (CSV, TSV) with a header line.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { shorten } from '../text/plain-text.ts';
import { UsageError } from './usage-error.ts';

/** A tool as written in the file: the server may be missing, or part of the name as `server:tool`. */
export interface WrittenTool {
  readonly server?: string | undefined;
  readonly name: string;
  readonly grade?: number | undefined;
  readonly group?: string | number | undefined;
}

export interface WrittenQuery {
  readonly id?: string | undefined;
  readonly query: string;
  readonly relevant: readonly WrittenTool[];
}

const EXAMPLE = '{"query": "open a ticket", "server": "github", "tool": "create_issue"}';

/** Parses queries. Throws a `UsageError` that names the first invalid lines. */
export function parseQueries(text: string, from: string): WrittenQuery[] {
  const rows = rowsOf(text, from);
  const queries: WrittenQuery[] = [];
  const problems: string[] = [];
  for (const { at, value } of rows) {
    const query = queryOf(value);
    if (typeof query !== 'string') queries.push(query);
    else problems.push(`${at}: ${query}`);
  }
  if (problems.length > 0) throw new UsageError(`${from}: ${listed(problems)}`);
  if (queries.length === 0) throw new UsageError(`${from} holds no queries; a line looks like ${EXAMPLE}`);
  if (queries.length > LIMITS.search.judged)
    throw new UsageError(`${from} holds more than ${LIMITS.search.judged} queries`);
  return queries;
}

interface Row {
  /** Its line or entry, for messages. */
  readonly at: string;
  readonly value: unknown;
}

const listed = (problems: readonly string[]): string => {
  const more = problems.length - LIMITS.shown.named;
  return [...problems.slice(0, LIMITS.shown.named), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
};

function rowsOf(text: string, from: string): Row[] {
  const start = text.trimStart();
  if (start.startsWith('[')) return arrayRows(text, from);
  return start.startsWith('{') ? lineRows(text, from) : tableRows(text, from);
}

function arrayRows(text: string, from: string): Row[] {
  try {
    const values: unknown[] = JSON.parse(text);
    return values.map((value, at) => ({ at: `entry ${at + 1}`, value }));
  } catch (error) {
    throw new UsageError(`${from} is not JSON: ${(error as Error).message}`);
  }
}

function lineRows(text: string, from: string): Row[] {
  const problems: string[] = [];
  const rows = text.split(/\r?\n/).flatMap((line, at): Row[] => {
    if (line.trim() === '') return [];
    try {
      return [{ at: `line ${at + 1}`, value: JSON.parse(line) }];
    } catch (error) {
      problems.push(`line ${at + 1} is not JSON: ${(error as Error).message}`);
      return [];
    }
  });
  if (problems.length > 0) throw new UsageError(`${from}: ${listed(problems)}`);
  return rows;
}

function tableRows(text: string, from: string): Row[] {
  const [first = ''] = text.split(/\r?\n/, 1);
  const delimiter = ['\t', ';', ','].find((sign) => first.includes(sign)) ?? ',';
  const [head = [], ...rest] = tableOf(text, delimiter);
  const names = head.map((name) => name.trim().toLowerCase());
  if (!names.includes('query') || !names.includes('tool'))
    throw new UsageError(
      `${from} is neither JSON nor a table: the first line must name the columns, for example query,server,tool`,
    );
  return rest.flatMap((cells, at): Row[] =>
    cells.every((cell) => cell.trim() === '')
      ? []
      : [{ at: `row ${at + 2}`, value: Object.fromEntries(names.map((name, column) => [name, cells[column] ?? ''])) }],
  );
}

/** Splits a table into cells; a quoted cell may contain delimiters, line breaks and doubled quotes. */
function tableOf(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; at < text.length; at++) {
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') {
          cell += '"';
          at++;
        } else break;
      }
      at++;
    }
    const start = at;
    while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at++;
    row.push(cell + text.slice(start, at).replace(/\r$/, ''));
    if (text[at] !== delimiter) {
      rows.push(row);
      row = [];
    } else if (at === text.length - 1) row.push('');
    at++;
  }
  if (row.length > 0) rows.push(row);
  return rows;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** The query, or the problem with it. */
function queryOf(value: unknown): WrittenQuery | string {
  if (!isObject(value)) return `is not an object; it should look like ${EXAMPLE}`;
  const { id, query, relevant } = value;
  if (!isText(query)) return '"query" is missing';
  const entries = relevant === undefined ? [value] : relevant;
  if (!Array.isArray(entries)) return '"relevant" must be a list';
  const tools = entries.map(toolOf);
  if (tools.length === 0 || tools.includes(undefined))
    return `no tool is given for "${shorten(query.trim(), 60)}" (the field is "tool")`;
  return {
    ...((isText(id) || typeof id === 'number') && { id: String(id) }),
    query: query.trim(),
    relevant: tools as WrittenTool[],
  };
}

function toolOf(value: unknown): WrittenTool | undefined {
  if (isText(value)) return { name: value.trim() };
  if (!isObject(value)) return undefined;
  const { server, grade, group } = value;
  const name = value.tool ?? value.name;
  if (!isText(name)) return undefined;
  return {
    ...(isText(server) && { server: server.trim() }),
    name: name.trim(),
    ...(typeof grade === 'number' && { grade }),
    ...((typeof group === 'string' || typeof group === 'number') && { group }),
  };
}
