/**
 * The Standard Schema interface (standardschema.dev), as far as we use it: what zod, valibot and arktype have in common.
 * @module
 */

/** A schema of zod 4, valibot, arktype or any other library that follows Standard Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema, where the library exports it. */
    readonly jsonSchema?: StandardJsonSchema | undefined;
  };
}

/** How a library hands out JSON Schema of its own. */
export interface StandardJsonSchema {
  input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>;
  output(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>;
}

/** What a validation gives. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing wrong with a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Whether a value is such a schema; arktype's are functions. */
export const isStandardSchema = (value: unknown): value is StandardSchema =>
  (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
