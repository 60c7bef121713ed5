/**
 * Turns an aborted signal into a failure: `CANCELLED`, unless the abort reason is more specific.
 * @module
 */

import type { CallSignal } from '../async/cancellation.ts';
import { DiscoveryError, type Outcome } from '../core/errors.ts';
import { fail, type ToolResult, toFailure } from '../core/result.ts';
import type { ToolCall } from '../core/types.ts';
import { thrownAs } from '../text/thrown-message.ts';
import { nameOf } from './pipeline.ts';
import type { Clock } from './timers.ts';

export function abortFailure(call: Pick<ToolCall, 'server' | 'tool' | 'signal'>, outcome: Outcome): ToolResult<never> {
  const { server, tool, signal } = call;
  const ours = thrownAs(DiscoveryError, signal.reason);
  if (ours) return toFailure(new DiscoveryError(ours.code, ours.message, { ...ours.details, server, tool, outcome }));
  return fail('CANCELLED', `The call to ${nameOf(call)} was cancelled.`, { server, tool, outcome });
}

/** Waits; resolves early with false when the signal aborts. */
export function pause(ms: number, signal: CallSignal, clock: Clock): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onAbort = () => {
      timer.clear();
      resolve(false);
    };
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve(true);
    });
    signal.addEventListener('abort', onAbort);
  });
}
