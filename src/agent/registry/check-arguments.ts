/**
 * Arguments and a JSON Schema in, the arguments as they were meant out, or an error that says what to mend.
 * @module
 */
import { DiscoveryError, type ErrorDetails } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { JsonSchema } from '../../core/types.ts';
import { liftArguments } from '../../execution/validation/repair-arguments.ts';
import type { SchemaValidators, Verdict } from '../../execution/validation/schema-validators.ts';
import { nestsTooDeep } from '../../json/json-nesting.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Makes an error of what is wrong with a value. */
export type Refuse = (problems: string, details?: ErrorDetails) => DiscoveryError;

/** What the arguments of a tool are refused with. */
export const refuseArguments =
  (tool: string): Refuse =>
  (problems, details) =>
    new DiscoveryError(
      'TOOL_VALIDATION_ERROR',
      `Arguments of ${tool} do not fit its schema: ${problems}. Fix these and call again; the tool did not run.`,
      { ...details, tool, outcome: 'not_sent' },
    );

/** Unwraps arguments that were wrapped once too often; throws for what is nested too deep to be walked. */
export function readArguments(args: Arguments, schema: JsonSchema | undefined, refuse: Refuse): Arguments {
  if (nestsTooDeep(args)) throw refuse(TOO_DEEP);
  const lifted = schema === undefined ? args : liftArguments(args, schema);
  if (lifted !== args && nestsTooDeep(lifted)) throw refuse(TOO_DEEP);
  return lifted;
}

const TOO_DEEP = `they are nested more than ${LIMITS.json.depth} levels deep`;

/** Throws where a value breaks a schema; at once where that is safe, else after another thread has looked at it. */
export function checkValue(
  validators: SchemaValidators,
  schema: JsonSchema,
  value: unknown,
  refuse: Refuse,
): void | Promise<void> {
  const verdict = validators.check(schema, value);
  return verdict instanceof Promise ? verdict.then((found) => judge(found, refuse)) : judge(verdict, refuse);
}

function judge(verdict: Verdict, refuse: Refuse): void {
  if (verdict.status !== 'broken') return;
  const { problems } = verdict;
  throw refuse(problems.map(({ message }) => message).join('; '), {
    schema: Object.fromEntries(problems.map(({ path, schema }) => [path === '' ? '(all)' : path, schema])),
    suggestions: problems.flatMap(({ suggestion }) => (suggestion === undefined ? [] : [suggestion])),
  });
}
