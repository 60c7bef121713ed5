/**
 * Builds a tool for the Vercel AI SDK (5 and later), without importing it.
 * @module
 */
import type { CallToolResult } from '../../core/types.ts';
import type { AiSdkOptions, AiSdkTool, DescribedTool, ObjectSchema, ReadCall } from './definition-types.ts';
import { argumentsOf } from './tool-call.ts';
import { toAiSdkOutput } from './tool-result.ts';

/** The SDK's mark for a schema that belongs to no library. */
const SCHEMA = Symbol.for('vercel.ai.schema');

/** Builds one tool; `read` turns its input into a call. */
export function toAiSdkTool(
  { title }: DescribedTool,
  description: string | undefined,
  schema: ObjectSchema,
  read: (args: Readonly<Record<string, unknown>>) => ReadCall,
  execute: AiSdkOptions['execute'],
): AiSdkTool {
  return {
    type: 'dynamic',
    ...(description !== undefined && { description }),
    ...(typeof title === 'string' && { title }),
    // The SDK requires both keys, with or without a validator.
    inputSchema: { [SCHEMA]: true, _type: undefined, jsonSchema: schema, validate: undefined },
    ...(execute && { execute: (input, options) => execute(read(argumentsOf(input) ?? {}), options) }),
    toModelOutput: (output) => toAiSdkOutput(resultIn(output)),
  };
}

/** Version 5 passes the result itself, later versions an object that contains it. */
function resultIn(output: unknown): CallToolResult {
  if (typeof output !== 'object' || output === null) return { content: [{ type: 'text', text: String(output) }] };
  const isWrapped = 'toolCallId' in output && 'output' in output;
  return (isWrapped ? output.output : output) as CallToolResult;
}
