/**
 * What the fields of a configuration are made of: kinds of values, and the words that say what a field is for, which
 * become docs/configuration.md. Kinds are made once and shared, because every schema object is paid for at every start.
 * @module
 */
import * as z from 'zod/mini';
import { LIMITS } from '../core/limits.ts';

/** Whole numbers of a range. */
export const wholeNumber = (min: number, max: number) => z.int().check(z.gte(min), z.lte(max));

/** A duration in milliseconds. */
export const milliseconds = wholeNumber(1, LIMITS.time.timer).register(z.globalRegistry, { unit: 'milliseconds' });

/** A whole number of things, at least one. */
export const count = wholeNumber(1, 1_000_000_000);

/** A size in bytes. */
export const bytes = wholeNumber(1, 1_000_000_000_000).register(z.globalRegistry, { unit: 'bytes' });

/** A size in bytes, or none. */
export const bytesOrNone = wholeNumber(0, 1_000_000_000_000).register(z.globalRegistry, { unit: 'bytes' });

/** Yes or no. */
export const flag = z.boolean();

/** Text of any length. */
export const text = z.string();

/** Text that is not empty. */
export const someText = z.string().check(z.minLength(1));

/** Text of at most so many characters. */
export const textUpTo = (max: number, min = 0) => z.string().check(z.minLength(min), z.maxLength(max));

/** What a NUL character is refused with. */
export const NO_NUL = 'must not contain a NUL character';

/** Whether a text can be handed to the operating system. */
export const withoutNul = (value: string): boolean => !value.includes('\0');

/** Text that can name a file or folder. */
export const path = z
  .string()
  .check(z.minLength(1), z.maxLength(4096), z.refine(withoutNul, NO_NUL))
  .register(z.globalRegistry, { unit: 'path' });

/** Says what a field is for. The schema must be the field's own: the words are kept beside it. */
export function described<S extends z.ZodMiniType>(schema: S, description: string, unit?: string): S {
  z.globalRegistry.add(schema, unit === undefined ? { description } : { description, unit });
  return schema;
}

/** A field that may be left out. */
export const optional = <S extends z.ZodMiniType>(schema: S, description: string) =>
  described(z.optional(schema), description);

/** A field that has a value where it is left out. */
export const setting = <S extends z.ZodMiniType>(
  schema: S,
  value: z.core.util.NoUndefined<z.output<S>>,
  description: string,
) => described(z._default(schema, value), description);

/** Fields under a name of their own, each with its default where the whole is left out. */
export const group = <S extends z.ZodMiniObject>(schema: S, description: string) =>
  described(z.prefault(schema, {} as z.input<S>), description);
