/**
 * Limits the size of results: adapts the content to the protocol, measures it, and cuts a result that is too large into
 * pages.
 * @module
 */

import { noteBytes, noteFlag } from '../../core/call-notes.ts';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import { ok } from '../../core/result.ts';
import { contentTypesOf, fitContent } from '../content.ts';
import { jsonBytes } from '../json-bytes.ts';
import type { Step } from '../pipeline.ts';
import { atOnce, type ResultPages, type RunSteps } from '../result-pages.ts';

/** Cuts results over `limit` bytes, or with more content blocks than a page may have. */
export const resultLimit =
  (pages: ResultPages, limit: number = DEFAULTS.limits.result, run: RunSteps = atOnce): Step =>
  (next) =>
  async (call) => {
    const result = await next(call);
    if (!result.success || call.item?.isRaw) return result;
    const whole = fitContent(result.data, contentTypesOf(call.caller.revision));
    const read = call.notes?.bytes;
    const hasFew = !(
      Array.isArray(whole.content) &&
      whole.content.length > LIMITS.answer.blocks &&
      limit < Number.MAX_SAFE_INTEGER
    );
    // The whole message was counted when it was read, and is no smaller than the result.
    if (read !== undefined && read <= limit && whole === result.data && hasFew) return result;
    const bytes = jsonBytes(whole, limit);
    if (bytes <= limit && hasFew) {
      noteBytes(call, bytes);
      return whole === result.data ? result : ok(whole);
    }
    const first = await pages.keepForAll(run, whole, limit, call.caller, bytes <= limit ? bytes : undefined);
    noteFlag(call, 'cut');
    noteBytes(call, jsonBytes(first));
    return ok(first);
  };
