/**
 * Selects the text editor for a file's format. Editors change the text around one entry and nothing else. They do not
 * verify their result; the caller must.
 * @module
 */

import { formatOf } from '../../config/parse-data.ts';
import { ConfigurationError } from '../../core/errors.ts';

/** The keys that lead to a map or list. */
export type KeyPath = readonly string[];

/** The same, where a number is the place of an item in a list. Nothing is created in a list on the way. */
export type Way = readonly (string | number)[];

/** Edits texts of one format. */
export interface Editor {
  /**
   * Adds a member to the map at `way`, or, without a key, an item to the list there. Creates missing maps and lists.
   * The new entry comes first, or wherever is simplest; an item comes last if `last` is set.
   */
  insert(text: string, way: Way, key: string | undefined, value: unknown, last?: boolean): string;
  /** Removes a member, or the item at an index. */
  remove(text: string, way: Way, key: string | number): string;
}

/** The text is valid, but cannot be edited without touching more than the entry. */
export class UneditableText extends ConfigurationError {}

/** Returns keys of maps; an item of a list cannot be created. */
export const keysOnly = (way: Way): KeyPath =>
  way.map((key) => {
    if (typeof key === 'string') return key;
    throw new UneditableText(`item ${key} was not found`);
  });

export const lineBreakOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n';

/** Returns the start of the line at a position. */
export const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

/** Returns the indentation of the line at a position. */
export const indentAt = (text: string, at: number): string =>
  /^[ \t]*/.exec(text.slice(lineStart(text, at), at))?.[0] ?? '';

/** Returns a text with a part replaced. */
export const spliced = (text: string, from: number, to: number, put: string): string =>
  text.slice(0, from) + put + text.slice(to);

/** Returns the editor for a file. Parsers are large, so each is imported on demand. */
export async function editorFor(path: string): Promise<Editor> {
  const format = formatOf(path);
  if (format === 'YAML') return (await import('./yaml-editor.ts')).yamlEditor;
  if (format === 'TOML') return (await import('./toml-editor.ts')).tomlEditor;
  return (await import('./json-editor.ts')).jsonEditor;
}
