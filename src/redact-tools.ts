/**
 * Tool definitions in, the same without known secrets out: some servers write what they were given into descriptions,
 * and those are kept on disk and shown to agents.
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
    clean.push(redact(text) === text ? tool : (redactTexts(tool, redact) as ToolDefinition));
    if (clean.length % STEP === 0) yield;
  }
  return clean;
}

function redactTexts(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactTexts(item, redact));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redactTexts(item, redact)]));
}
