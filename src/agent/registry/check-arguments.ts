/**
 * Repairs and checks arguments by a JSON Schema, or throws an error that says what to fix.
 * @module
 */
import { DiscoveryError, type ErrorDetails } from '../../core/errors.ts';
import type { JsonSchema } from '../../core/types.ts';
import { detailsOf, listed } from '../../execution/validation/problem.ts';
import { unwrapped } from '../../execution/validation/repair-arguments.ts';
import type { SchemaValidators, Verdict } from '../../execution/validation/schema-validators.ts';
import { jsonFault } from '../../json/json-fault.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** Turns a description of what is wrong into an error. */
export type Refuse = (problems: string, details?: ErrorDetails) => DiscoveryError;

/** The error for a tool's arguments. */
export const refuseArguments =
  (tool: string): Refuse =>
  (problems, details) =>
    new DiscoveryError(
      'TOOL_VALIDATION_ERROR',
      `Arguments of ${tool} do not fit its schema: ${problems}. Fix these and call again; the tool did not run.`,
      { ...details, tool, outcome: 'not_sent' },
    );

/**
 * Returns the checked arguments. If the arguments as sent are refused, tries the ones they wrap. Throws the refusal of the
 * arguments as sent, also if they are nested too deeply.
 */
export function readArguments<T>(args: Arguments, check: (args: Arguments) => T, refuse: Refuse): T {
  const fault = jsonFault(args);
  if (fault !== undefined) throw refuse(`they ${fault}`);
  return orElse(
    () => check(args),
    (refusal) => {
      const inner = unwrapped(args);
      if (inner === undefined) throw refusal;
      return orElse(
        () => check(inner),
        () => {
          throw refusal;
        },
      );
    },
  );
}

/** Runs `next` if `first` throws, or if its promise rejects. */
function orElse<T>(first: () => T, next: (thrown: unknown) => T): T {
  try {
    const value = first();
    return value instanceof Promise ? (value.catch(next) as T) : value;
  } catch (thrown) {
    return next(thrown);
  }
}

/** Throws if a value does not fit a schema: at once if checking is safe, otherwise after a check in another thread. */
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
  if (verdict.status === 'broken') throw refuse(listed(verdict.problems), detailsOf(verdict.problems));
}
