/**
 * Declares the part of the Standard Schema interface (standardschema.dev) that we use: what zod, valibot and arktype
 * share.
 * @module
 */

/** A schema of zod 4, valibot, arktype or any other library that follows Standard Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema, if the library exports it. */
    readonly jsonSchema?: StandardJsonSchema | undefined;
  };
}

/** A library's own JSON Schema export. */
export interface StandardJsonSchema {
  input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>;
  output(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>;
}

/** The result of a validation. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem of a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Tells whether a value is such a schema. Those of arktype are functions. */
export const isStandardSchema = (value: unknown): value is StandardSchema =>
  (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
