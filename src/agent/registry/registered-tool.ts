/**
 * Runs one registered tool: checks arguments by its schema, calls the handler and shapes the result.
 * @module
 */

import { abortable } from '../../async/abortable.ts';
import { DiscoveryError, ValidationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { ToolContext } from '../../core/tool-provider.ts';
import type { CallToolResult, JsonSchema, ToolDefinition } from '../../core/types.ts';
import type { SchemaValidators } from '../../execution/validation/schema-validators.ts';
import { checkValue, type Refuse, readArguments, refuseArguments } from './check-arguments.ts';
import { checkOptions, type OptionKind, withoutNulls } from './check-options.ts';
import { toCallToolResult, toCancelledResult, toErrorResult, withStructure } from './handler-result.ts';
import { schemaPart } from './offending-part.ts';
import { exportSchema, type ToJsonSchema } from './schema-export.ts';
import { isStandardSchema, type StandardIssue } from './standard-schema.ts';
import type { ToolHandler, ToolOptions, ToolSchema } from './tool-registration.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** A tool that the registry runs itself. */
export interface RegisteredTool {
  readonly definition: ToolDefinition;
  readonly keywords: readonly string[];
  readonly visible: boolean;
  /** Never throws: errors are in the result. With `throwsRefusals`, throws if the arguments do not fit. */
  call(args: Arguments, context: ToolContext, throwsRefusals?: boolean): Promise<CallToolResult>;
}

/** Returns the value as the schema converts it. Throws `DiscoveryError` if it does not fit. */
type Check = (value: unknown) => unknown | Promise<unknown>;

const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
/** The options of a tool, with the kind of each. */
export const FIELDS: Readonly<Record<keyof ToolOptions, OptionKind>> = {
  title: 'text',
  description: 'any',
  inputSchema: 'any',
  outputSchema: 'any',
  annotations: 'object',
  icons: 'any',
  _meta: 'object',
  visible: 'flag',
  keywords: 'any',
};

/** Checks a registration and builds the tool. Throws `ValidationError` for a programming error. */
export function prepareTool(
  name: string,
  given: ToolOptions<ToolSchema, ToolSchema>,
  handler: ToolHandler<ToolSchema, ToolSchema>,
  validators: SchemaValidators,
  convert: ToJsonSchema | undefined,
): RegisteredTool {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new ValidationError(
      `A tool's name has 1 to 128 letters, digits, "_", "-", "." or "/"; got ${JSON.stringify(name)}`,
    );
  }
  const options = withoutNulls(given);
  checkOptions(options, FIELDS, (field) => `${name}: a tool has no field "${field}"`);
  const { title, description, inputSchema, outputSchema, annotations, icons, _meta } = options;
  const { visible = false, keywords = [] } = options;
  if (typeof description !== 'string') throw new ValidationError(`${name}: description must be a string`);
  if (typeof handler !== 'function') throw new ValidationError(`${name}: the handler must be a function`);
  if (!Array.isArray(keywords) || keywords.some((keyword) => typeof keyword !== 'string')) {
    throw new ValidationError(`${name}: keywords must be a list of strings`);
  }
  const input = exportSchema(inputSchema ?? { type: 'object' }, 'input', `${name}: inputSchema`, convert);
  const output = outputSchema && exportSchema(outputSchema, 'output', `${name}: outputSchema`, convert);
  const definition: ToolDefinition = {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: input,
    ...(output && { outputSchema: output }),
    ...(annotations && { annotations }),
    ...(icons && { icons }),
    ...(_meta && { _meta }),
  };
  const refuse = refuseArguments(name);
  const regret: Refuse = (problems) =>
    new DiscoveryError(
      'TOOL_VALIDATION_ERROR',
      `The result of ${name} does not fit its output schema: ${problems}. The tool did run.`,
      { tool: name, outcome: 'failed' },
    );
  const checkInput = inputSchema && checkFor(inputSchema, input, validators, refuse);
  const checkOutput = outputSchema && output && checkFor(outputSchema, output, validators, regret);

  const finish = (returned: unknown): CallToolResult | Promise<CallToolResult> => {
    const result = toCallToolResult(returned);
    const isUnfinished = result.resultType !== undefined && result.resultType !== 'complete';
    if (checkOutput === undefined || result.isError === true || isUnfinished) return result;
    const { structuredContent } = result;
    if (structuredContent === undefined) throw regret('there is no structured content');
    // Return the schema's output: without unknown fields, with defaults.
    const checked = checkOutput(structuredContent);
    return checked instanceof Promise
      ? checked.then((value) => withStructure(result, value))
      : withStructure(result, checked);
  };
  const call: RegisteredTool['call'] = async (args, context, throwsRefusals = false) => {
    const { signal } = context;
    let isSent = false;
    try {
      signal.throwIfAborted();
      const checked = readArguments<unknown>(args, checkInput ?? ((sent) => sent), refuse);
      const value = checked instanceof Promise ? await abortable(checked, signal) : checked;
      isSent = true;
      const returned = handler(value as never, context);
      return await finish(isThenable(returned) ? await abortable(returned, signal) : returned);
    } catch (thrown) {
      if (signal.aborted) return toCancelledResult(name, signal, isSent ? 'unknown' : 'not_sent');
      if (throwsRefusals && !isSent) throw thrown;
      return toErrorResult(thrown);
    }
  };
  return { definition, keywords, visible, call };
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

/** Raw JSON Schema is checked by our validators; other schemas by their own library. */
function checkFor(schema: ToolSchema, json: JsonSchema, validators: SchemaValidators, refuse: Refuse): Check {
  if (isStandardSchema(schema)) {
    const { validate } = schema['~standard'];
    const read = (result: Awaited<ReturnType<typeof validate>>): unknown => {
      if (result.issues === undefined) return result.value;
      const issues = result.issues.slice(0, LIMITS.validation.problems).map(readIssue);
      throw refuse(issues.map(issueText).join('; '), {
        schema: Object.fromEntries(
          issues.map(({ path }) => [path.length === 0 ? '(all)' : path.join('.'), schemaPart(json, path)]),
        ),
      });
    };
    return (value) => {
      const result = validate(value);
      return 'then' in result ? result.then(read) : read(result);
    };
  }
  return (value) => {
    const checked = checkValue(validators, json, value, refuse);
    return checked instanceof Promise ? checked.then(() => value) : value;
  };
}

interface Issue {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

const readIssue = ({ message, path = [] }: StandardIssue): Issue => ({
  message,
  path: path.map((step) => {
    const key = typeof step === 'object' ? step.key : step;
    return typeof key === 'number' ? key : String(key);
  }),
});

const issueText = ({ message, path }: Issue): string =>
  path.length === 0 ? message : `"${path.join('.')}" ${message}`;
