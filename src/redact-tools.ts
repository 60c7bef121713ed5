/**
 * Tool definitions in, the same without known secrets out: some servers write what they were given into descriptions,
 * and those are kept on disk and shown to agents. The same for any other plain data.
 * @module
 */
import type { ToolDefinition } from './types.ts';

const STEP = 20;

/** Takes secrets out of every text of every tool, in steps. Tools that hold none stay the same objects. */
export function* redactTools(
  tools: readonly ToolDefinition[],
  redact: (text: string) => string,
): Generator<void, readonly ToolDefinition[]> {
  const clean: ToolDefinition[] = [];
  for (const tool of tools) {
    const text = JSON.stringify(tool);
    clean.push(redact(text) === text ? tool : redactTexts(tool, redact));
    if (clean.length % STEP === 0) yield;
  }
  return clean;
}

/** A copy of plain data with every text and every key redacted. */
export function redactTexts<T>(value: T, redact: (text: string) => string): T {
  return redactValue(value, redact) as T;
}

function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redact));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redactValue(item, redact)]));
}
