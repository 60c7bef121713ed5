/**
 * Reads the value of `--args` as an object: JSON, `@file`, or `-` for stdin.
 * @module
 */
import type { Io } from './io.ts';
import { readText } from './read-text.ts';
import { UsageError } from './usage-error.ts';

/** The arguments; none if the option is missing. Throws `UsageError` for anything but a JSON object. */
export async function readArguments(
  written: string | undefined,
  io: Pick<Io, 'stdin' | 'cwd' | 'env'>,
): Promise<Readonly<Record<string, unknown>>> {
  if (written === undefined) return {};
  if (written !== '-' && !written.startsWith('@')) return parsed(written, '--args');
  const { text, from } = await readText(written === '-' ? written : written.slice(1), '--args', io);
  return parsed(text, from);
}

function parsed(text: string, what: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what} is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${what} must be a JSON object, for example {"name": "value"}`);
  return value as Readonly<Record<string, unknown>>;
}
