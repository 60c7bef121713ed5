/**
 * Reads the text of a client's own file. If the file is too large and the client is known for that, only the part about
 * servers is read.
 * @module
 */
import { type Excerpt, excerptText, type Policy, readExcerpt } from '../../config/json-excerpt.ts';
import { FileTooLarge, readIfPresent } from '../../config/read-file.ts';
import { LIMITS } from '../../core/limits.ts';

/** A text, including any byte order mark, and the excerpt it was read as. */
export interface ClientText {
  readonly text: string;
  readonly excerpt?: Excerpt | undefined;
}

/**
 * Returns the text of a file, or undefined when it is missing.
 * @param policy selects the parts of a large file; without it a large file is an error
 */
export async function readClientText(path: string, policy: Policy | undefined): Promise<ClientText | undefined> {
  try {
    const text = await readIfPresent(path, { ignoreBOM: true, ...(policy && { maxBytes: LIMITS.files.clientWhole }) });
    return text === undefined ? undefined : { text };
  } catch (error) {
    if (!(error instanceof FileTooLarge) || policy === undefined) throw error;
    const excerpt = await readExcerpt(path, policy);
    return { text: excerptText(path, excerpt), excerpt };
  }
}

/** Returns the text without a byte order mark. */
export const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);
