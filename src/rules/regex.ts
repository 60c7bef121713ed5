/**
 * Compiles a regular expression into a linear-time matcher. The only file that imports the engine.
 * @module
 */
import { RE2JS } from 're2js';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';

const FLAGS: ReadonlyMap<string, number> = new Map([
  ['i', RE2JS.CASE_INSENSITIVE],
  ['s', RE2JS.DOTALL],
  ['m', RE2JS.MULTILINE],
  // One test per name, and code points always count as one: these flags change nothing here.
  ['g', 0],
  ['u', 0],
]);

/** Compiles `/source/flags`. Throws ConfigurationError if it is invalid, too big, or not possible in linear time. */
export function compileRegex(source: string, flags: string): (text: string) => boolean {
  if (source === '') throw new ConfigurationError('is an empty regular expression; write * for every tool');
  if (source.length > LIMITS.pattern.length) {
    throw new ConfigurationError(`is longer than ${LIMITS.pattern.length} characters`);
  }
  let bits = 0;
  for (const flag of flags) {
    const bit = FLAGS.get(flag);
    if (bit === undefined) {
      throw new ConfigurationError(
        `has the unknown flag "${flag}" (known: ${[...FLAGS.keys()].join(', ')}); if a glob is meant, write \\/ for the first slash`,
      );
    }
    bits |= bit;
  }
  const compiled = compile(source, bits);
  if (compiled.programSize() > LIMITS.pattern.program) {
    throw new ConfigurationError('is too big: it repeats too much; use smaller counts');
  }
  return (text) => compiled.test(text);
}

function compile(source: string, bits: number): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source), bits);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigurationError(
      `is not a regular expression we can run (${why}); look-around and back-references are not supported`,
      [],
      { cause },
    );
  }
}
