/**
 * The other thread: checks values against schemas that could not be proven harmless. A job in, its problems out.
 * Whoever started it ends it when a job takes too long.
 * @module
 */
import { parentPort } from 'node:worker_threads';
import { RE2JS } from 're2js';
import { checkValue } from './check-value.ts';
import { describeViolations, type Problem } from './problem.ts';
import { checkSchema } from './schema-check.ts';
import { nativeTest, type SchemaLimits } from './schema-reader.ts';

/** What the main thread asks. */
export interface Job {
  readonly id: number;
  readonly schema: unknown;
  readonly value: unknown;
  readonly limits?: SchemaLimits | undefined;
}

/** What it gets: problems, or `exhausted` when the value is nested beyond reason. */
export interface Answer {
  readonly id: number;
  readonly problems: readonly Problem[] | 'exhausted';
}

/** Does one job. */
export function work(job: Job): Answer {
  const checked = checkSchema(job.schema, job.limits);
  if (checked.verdict === 'unusable') return { id: job.id, problems: 'exhausted' };
  for (const pattern of checked.patterns) pattern.test ??= linearTest(pattern.source) ?? nativeTest(pattern.source);
  const violations = checkValue(checked.root, job.value, Number.POSITIVE_INFINITY);
  return { id: job.id, problems: violations === 'exhausted' ? violations : describeViolations(violations) };
}

/** Look-around and back-references are beyond the linear engine; those run natively, under the time limit. */
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
