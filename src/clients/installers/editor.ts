/**
 * A file's name in, what edits texts of its format out. Editors change the text around one entry and nothing else; they
 * trust what they find, so whoever calls them checks the outcome.
 * @module
 */

import { formatOf } from '../../config/parse-data.ts';
import { ConfigurationError } from '../../core/errors.ts';

/** The keys that lead to a map or list. */
export type Way = readonly string[];

/** Edits texts of one format. */
export interface Editor {
  /**
   * Adds a member to the map at the end of the way, or, without a key, an item to the list there. Both are made where they
   * are missing. It comes first, or where that is easier; an item comes last if that is asked for.
   */
  insert(text: string, way: Way, key: string | undefined, value: unknown, last?: boolean): string;
  /** Takes a member, or the item of an index, out. */
  remove(text: string, way: Way, key: string | number): string;
}

/** The text is right, but written in a way that cannot be edited without touching more than the entry. */
export class UneditableText extends ConfigurationError {}

/** The line break a text uses. */
export const lineBreakOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n';

/** Where the line of a place begins. */
export const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

/** The white space a line begins with. */
export const indentAt = (text: string, at: number): string =>
  /^[ \t]*/.exec(text.slice(lineStart(text, at), at))?.[0] ?? '';

/** A text with a part of it replaced. */
export const spliced = (text: string, from: number, to: number, put: string): string =>
  text.slice(0, from) + put + text.slice(to);

/** The editor for a file. Parsers are large, so each is loaded when it is needed. */
export async function editorFor(path: string): Promise<Editor> {
  const format = formatOf(path);
  if (format === 'YAML') return (await import('./yaml-editor.ts')).yamlEditor;
  if (format === 'TOML') return (await import('./toml-editor.ts')).tomlEditor;
  return (await import('./json-editor.ts')).jsonEditor;
}
