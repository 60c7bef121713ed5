/**
 * Checks values against schemas that were not proven harmless, on a worker thread. The main thread ends the worker when
 * a job takes too long.
 * @module
 */
import { parentPort } from 'node:worker_threads';
import { RE2JS } from 're2js';
import { checkValue } from './check-value.ts';
import { describeViolations, type Problem } from './problem.ts';
import { checkSchema } from './schema-check.ts';
import { nativeTest, type SchemaLimits } from './schema-reader.ts';

/** A job from the main thread. */
export interface Job {
  readonly id: number;
  readonly schema: unknown;
  readonly value: unknown;
  readonly limits?: SchemaLimits | undefined;
}

/** The answer: problems, or `exhausted` when the value is nested too deep. */
export interface Answer {
  readonly id: number;
  readonly problems: readonly Problem[] | 'exhausted';
}

/** Runs one job. */
export function work(job: Job): Answer {
  const checked = checkSchema(job.schema, job.limits);
  if (checked.verdict === 'unusable') return { id: job.id, problems: 'exhausted' };
  for (const pattern of checked.patterns) pattern.test ??= linearTest(pattern.source) ?? nativeTest(pattern.source);
  const violations = checkValue(checked.root, job.value, Number.POSITIVE_INFINITY);
  return { id: job.id, problems: violations === 'exhausted' ? violations : describeViolations(violations) };
}

/** The linear engine does not support look-around and back-references; those run natively, under the timeout. */
function linearTest(source: string): ((text: string) => boolean) | undefined {
  try {
    const pattern = RE2JS.compile(source);
    return (text) => pattern.matcher(text).find();
  } catch {
    return undefined;
  }
}

parentPort?.on('message', (job: Job) => parentPort?.postMessage(work(job)));
parentPort?.postMessage('ready');
