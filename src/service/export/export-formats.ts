/**
 * Names the formats of an export, and the folder of each.
 * @module
 */

export const EXPORT_FORMATS = ['rtfs', 'json', 'markdown', 'typescript', 'zod', 'anthropic', 'openai'] as const;

/** One of `EXPORT_FORMATS`. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Returns the folder of an export that names none. */
export const exportFolder = (format: ExportFormat): string =>
  format === 'rtfs' ? 'capabilities/servers/pending' : `capabilities/${format}`;
