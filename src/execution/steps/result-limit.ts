/**
 * Hands results on in a size agents can take: fits the content to the protocol, measures, and cuts what is too large
 * into pages that can be read on. Call in; the same result out, or its first page.
 * @module
 */
import { ok } from '../../result.ts';
import { noteBytes, noteFlag } from '../call-notes.ts';
import { contentTypesOf, fitContent } from '../content.ts';
import { jsonBytes } from '../json-bytes.ts';
import type { Step } from '../pipeline.ts';
import type { ResultPages } from '../result-pages.ts';

/** The largest result handed on whole, in bytes of JSON. */
export const DEFAULT_RESULT_BYTES = 5 * 1024 * 1024;

/** Cuts results over `limit` bytes. */
export const resultLimit =
  (pages: ResultPages, limit: number = DEFAULT_RESULT_BYTES): Step =>
  (next) =>
  async (call) => {
    const result = await next(call);
    if (!result.success) return result;
    const whole = fitContent(result.data, contentTypesOf(call.caller.revision));
    const read = call.notes?.bytes;
    // The message that it came in was counted when it was read, and is no smaller.
    if (read !== undefined && read <= limit && whole === result.data) return result;
    const bytes = jsonBytes(whole, limit);
    if (bytes <= limit) {
      noteBytes(call, bytes);
      return whole === result.data ? result : ok(whole);
    }
    const first = pages.keep(whole, limit, call.caller);
    noteFlag(call, 'cut');
    noteBytes(call, jsonBytes(first));
    return ok(first);
  };
