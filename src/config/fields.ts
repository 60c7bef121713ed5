/**
 * Defines the building blocks of configuration fields: kinds of values, and the descriptions that become
 * docs/configuration.md. Kinds are created once and shared, because every schema object costs time at every start.
 * @module
 */
import * as z from 'zod/mini';
import { LIMITS } from '../core/limits.ts';

export const wholeNumber = (min: number, max: number) => z.int().check(z.gte(min), z.lte(max));

/** A duration in milliseconds. */
export const milliseconds = wholeNumber(1, LIMITS.time.timer).register(z.globalRegistry, { unit: 'milliseconds' });

/** A whole number of things, at least one. */
export const count = wholeNumber(1, 1_000_000_000);

/** A size in bytes. */
export const bytes = wholeNumber(1, 1_000_000_000_000).register(z.globalRegistry, { unit: 'bytes' });

/** A size in bytes, or none. */
export const bytesOrNone = wholeNumber(0, 1_000_000_000_000).register(z.globalRegistry, { unit: 'bytes' });

export const flag = z.boolean();

export const text = z.string();

export const someText = z.string().check(z.minLength(1));

/** Text of at most `max` characters. */
export const textUpTo = (max: number, min = 0) => z.string().check(z.minLength(min), z.maxLength(max));

/** The message for a text with a NUL character. */
export const NO_NUL = 'must not contain a NUL character';

/** Tells whether a text can be passed to the operating system. */
export const withoutNul = (value: string): boolean => !value.includes('\0');

/** A path of a file or folder. */
export const path = z
  .string()
  .check(z.minLength(1), z.maxLength(4096), z.refine(withoutNul, NO_NUL))
  .register(z.globalRegistry, { unit: 'path' });

/** Describes a field. The schema must not be shared, because the description is registered for the schema object. */
export function described<S extends z.ZodMiniType>(schema: S, description: string, unit?: string): S {
  z.globalRegistry.add(schema, unit === undefined ? { description } : { description, unit });
  return schema;
}

/** An optional field. */
export const optional = <S extends z.ZodMiniType>(schema: S, description: string) =>
  described(z.optional(schema), description);

/** A field with a default. */
export const setting = <S extends z.ZodMiniType>(
  schema: S,
  value: z.core.util.NoUndefined<z.output<S>>,
  description: string,
) => described(z._default(schema, value), description);

/** A group of fields. If the group is left out, each field has its default. */
export const group = <S extends z.ZodMiniObject>(schema: S, description: string) =>
  described(z.prefault(schema, {} as z.input<S>), description);
