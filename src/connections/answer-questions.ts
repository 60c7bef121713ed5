/**
 * Asks the caller the questions that a server of protocol 2026-07-28 puts into an `input_required` result.
 * @module
 */
import { toAbortSignal } from '../async/cancellation.ts';
import { DiscoveryError, ToolExecutionError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { ToolCall } from '../core/types.ts';

/** Asks the caller each question in turn and returns the answers by key. */
export async function answerQuestions(call: ToolCall, requests: unknown): Promise<Record<string, unknown>> {
  const { server, tool, signal } = call;
  const { ask } = call.caller;
  if (!ask) {
    const message = `${tool} needs input, and this client cannot be asked for any.`;
    throw new ToolExecutionError(server, tool, message, { outcome: 'failed' });
  }
  const questions = Object.entries(
    (requests ?? {}) as Record<string, { method?: unknown; params?: Record<string, unknown> } | null>,
  );
  if (questions.length > LIMITS.wire.questions) {
    const message = `${tool} asks ${questions.length} questions at once; at most ${LIMITS.wire.questions} are put to anybody.`;
    throw new ToolExecutionError(server, tool, message, { outcome: 'failed' });
  }
  // The keys are the server's and may be anything, `__proto__` included.
  const answers: Record<string, unknown> = Object.create(null);
  const stop = toAbortSignal(signal);
  for (const [key, question] of questions) {
    if (typeof question?.method !== 'string') continue;
    call.idleClock?.pause();
    try {
      answers[key] = await ask({ method: question.method, params: question.params }, stop);
    } catch (error) {
      if (error instanceof DiscoveryError || signal.aborted) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new ToolExecutionError(server, tool, `${tool} asked for ${question.method}, which failed: ${why}`, {
        outcome: 'failed',
        cause: error,
      });
    } finally {
      call.idleClock?.resume();
    }
  }
  return answers;
}
