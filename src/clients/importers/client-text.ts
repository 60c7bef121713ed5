/**
 * Reads the text of a client's own file. Of one that is too large to be read whole, and whose client is known for that,
 * the part that concerns servers is read.
 * @module
 */
import { type Excerpt, excerptText, type Policy, readExcerpt } from '../../config/json-excerpt.ts';
import { FileTooLarge, readIfPresent } from '../../config/read-file.ts';
import { LIMITS } from '../../core/limits.ts';

/** A text, byte order mark included, and what it is an excerpt of. */
export interface ClientText {
  readonly text: string;
  readonly excerpt?: Excerpt | undefined;
}

/**
 * The text of a file, or undefined when there is none.
 * @param policy what is wanted of a large file; without it a large file is an error
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

/** The text without a byte order mark. */
export const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text);
