/**
 * Looks the tool up first, so that unknown names are told as such before anything else. Call in, call with definition on.
 * @module
 */

import { fail, type ToolResult } from '../../core/result.ts';
import type { ToolCall, ToolDefinition } from '../../core/types.ts';
import { abortFailure } from '../abort.ts';
import type { Step } from '../pipeline.ts';
import { type Clock, systemClock, type Timer } from '../timers.ts';

/** Finds a tool, or fails with SERVER_NOT_FOUND or TOOL_NOT_FOUND and the nearest real names. */
export type Lookup = (call: ToolCall) => ToolResult<ToolDefinition> | Promise<ToolResult<ToolDefinition>>;

/** Adds the definition to the call, or ends it with the lookup's failure. */
export const resolve =
  (lookup: Lookup, clock: Clock = systemClock): Step =>
  (next) => {
    const goOn = (call: ToolCall, found: ToolResult<ToolDefinition>) =>
      found.success ? next({ ...call, definition: found.data }) : Promise.resolve(found);
    return (call) => {
      const answer = lookup(call);
      // What is known needs no turn of its own.
      if (!(answer instanceof Promise)) return goOn(call, answer);
      return inTime(answer, call, clock).then((found) => goOn(call, found));
    };
  };

/** A first lookup may start a server; the caller's patience counts all the same. */
function inTime<T>(answer: Promise<ToolResult<T>>, call: ToolCall, clock: Clock): Promise<ToolResult<T>> {
  const { server, tool, signal, deadline } = call;
  if (signal.aborted) return Promise.resolve(abortFailure(call, 'not_sent'));
  return new Promise((settle, reject) => {
    let timer: Timer | undefined;
    const onAbort = () => settle(abortFailure(call, 'not_sent'));
    const late = () =>
      settle(
        fail(
          'TOOL_EXECUTION_TIMEOUT',
          `"${server}" did not say in time whether it has a tool "${tool}". Nothing was sent.`,
          {
            server,
            tool,
            outcome: 'not_sent',
          },
        ),
      );
    if (deadline !== undefined) timer = clock.after(Math.max(0, deadline - clock.now()), late);
    signal.addEventListener('abort', onAbort);
    answer.then(settle, reject).finally(() => {
      timer?.clear();
      signal.removeEventListener('abort', onAbort);
    });
  });
}
