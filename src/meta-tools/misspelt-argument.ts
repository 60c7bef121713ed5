/**
 * Finds misspelt names among a meta-tool's own arguments. An unknown argument is ignored, unless it resembles a missing
 * one and its value has the right type.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema } from '../core/types.ts';
import { nearestName } from '../text/nearest-names.ts';
import { type MetaToolName, metaToolDefinitions } from './meta-tools.ts';

const PARAMETERS: ReadonlyMap<string, Readonly<Record<string, JsonSchema>>> = new Map(
  metaToolDefinitions([]).map(({ name, inputSchema }) => [name, inputSchema.properties as Record<string, JsonSchema>]),
);

/** Returns `There is no "sever": did you mean "server"?` for a misspelt argument. */
export function misspeltArgument(tool: MetaToolName, args: Readonly<Record<string, unknown>>): string | undefined {
  const parameters = PARAMETERS.get(tool) ?? {};
  const missing = Object.keys(parameters).filter((name) => args[name] === undefined);
  if (missing.length === 0) return undefined;
  for (const written of Object.keys(args).slice(0, LIMITS.validation.misspelt)) {
    if (Object.hasOwn(parameters, written)) continue;
    const meant = nearestName(written, missing);
    if (meant !== undefined && fits(args[written], parameters[meant]?.type))
      return `There is no "${written}": did you mean "${meant}"?`;
  }
  return undefined;
}

function fits(value: unknown, type: unknown): boolean {
  return typeof value === (type === 'integer' ? 'number' : type) && value !== null;
}
