/**
 * Describes a tool in full, for `get_tool_details`.
 * @module
 */

import type { ToolMetadata, ToolParameter } from '../core/types.ts';
import { plainText } from '../text/plain-text.ts';
import { examplesFor, generateExample } from './example.ts';
import { describeParameters } from './signature.ts';

/** A tool with its parameters, one by one. */
export interface Description extends ToolMetadata {
  readonly parameters: readonly ToolParameter[];
}

const DESCRIPTION_CHARS = 4000;

/** Adds parameters and examples. Generates an example if a required parameter is nested, or if `wanted`. */
export function describeTool(tool: ToolMetadata, wanted = false): Description {
  const parameters = describeParameters(tool.inputSchema);
  const given = examplesFor(tool.inputSchema, tool.examples);
  const nested = parameters.some(({ type, required }) => required && type.startsWith('{'));
  const generated = given.length === 0 && (nested || wanted) ? generateExample(tool.inputSchema) : undefined;
  return {
    ...tool,
    description: plainText(tool.description ?? tool.title ?? '', DESCRIPTION_CHARS),
    parameters,
    examples: generated ? [generated] : given,
  };
}
