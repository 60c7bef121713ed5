/**
 * Describes a tool in full, for `get_tool_details`.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema, ToolMetadata, ToolParameter } from '../core/types.ts';
import { plainText } from '../text/plain-text.ts';
import { examplesFor, generateExample } from './example.ts';
import { describeParameters } from './signature.ts';

/** A tool with its parameters, one by one. */
export interface Description extends ToolMetadata {
  readonly parameters: readonly ToolParameter[];
  /** What the tool has returned so far, as a schema, where it has no output schema. Results are not checked against it. */
  readonly inferredOutput?: JsonSchema | undefined;
}

/**
 * Adds parameters and examples. Generates an example only if the types alone do not show how to call the tool.
 * @param wanted examples were asked for: generate one for a simple tool, too
 */
export function describeTool(tool: ToolMetadata, wanted = false): Description {
  const parameters = describeParameters(tool.inputSchema);
  const given = examplesFor(tool.inputSchema, tool.examples);
  const nested = parameters.some(({ type, required }) => required && type.startsWith('{'));
  const generated = given.length === 0 && (nested || wanted) ? generateExample(tool.inputSchema) : undefined;
  return {
    ...tool,
    description: plainText(tool.description ?? tool.title ?? '', LIMITS.text.description),
    parameters,
    examples: generated ? [generated] : given,
  };
}
