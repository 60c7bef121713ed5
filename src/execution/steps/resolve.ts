/**
 * Looks the tool up and adds its definition to the call. Comes right after audit, so that an unknown name is reported
 * before anything else.
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
      // A relay knows the tool as its client's own connection lists it.
      if (call.definition !== undefined) return next(call);
      const answer = lookup(call);
      // A known tool costs no extra turn of the event loop.
      if (!(answer instanceof Promise)) return goOn(call, answer);
      return inTime(answer, call, clock).then((found) => goOn(call, found));
    };
  };

/** Bounds a lookup by the caller's deadline: a first lookup may start a server. */
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
          `Server "${server}" did not list its tools in time, so "${tool}" could not be looked up. Nothing was sent.`,
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
