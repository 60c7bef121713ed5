/**
 * One registered tool, ready to run: arguments checked by its schema, handler called, result put into shape.
 * @module
 */
import { DiscoveryError, type ErrorDetails, ValidationError } from '../errors.ts';
import { liftArguments } from '../execution/validation/repair-arguments.ts';
import type { SchemaValidators, Verdict } from '../execution/validation/schema-validators.ts';
import { MAX_NESTING, nestsTooDeep } from '../json-nesting.ts';
import type { ToolContext } from '../tool-provider.ts';
import type { CallToolResult, JsonSchema, ToolDefinition } from '../types.ts';
import { toCallToolResult, toErrorResult } from './handler-result.ts';
import { exportSchema, type ToJsonSchema } from './schema-export.ts';
import { isStandardSchema, type StandardIssue } from './standard-schema.ts';
import type { ToolHandler, ToolRegistration, ToolSchema } from './tool-registration.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** A tool that the registry runs itself. */
export interface RegisteredTool {
  readonly definition: ToolDefinition;
  readonly keywords: readonly string[];
  readonly visible: boolean;
  /** Never throws: what goes wrong is in the result. */
  call(args: Arguments, context: ToolContext): Promise<CallToolResult>;
}

/** Gives the value as the schema makes it; throws `DiscoveryError` with what is wrong. */
type Check = (value: unknown) => unknown | Promise<unknown>;

const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
const MAX_ISSUES = 8;

/** Checks a registration and makes a tool of it; throws `ValidationError` for what a programmer has to mend. */
export function prepareTool(
  registration: ToolRegistration<ToolSchema, ToolSchema>,
  handler: ToolHandler<ToolSchema, ToolSchema>,
  keywords: readonly string[],
  validators: SchemaValidators,
  convert: ToJsonSchema | undefined,
): RegisteredTool {
  const { name, title, description, inputSchema, outputSchema, annotations, visible = false } = registration;
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new ValidationError(
      `A tool's name has 1 to 128 letters, digits, "_", "-", "." or "/"; got ${JSON.stringify(name)}`,
    );
  }
  if (typeof description !== 'string') throw new ValidationError(`${name}: description must be a text`);
  if (typeof handler !== 'function') throw new ValidationError(`${name}: the handler must be a function`);
  if (keywords.some((keyword) => typeof keyword !== 'string')) {
    throw new ValidationError(
      `${name}: keywords are texts, one after another: registerTool(definition, handler, 'mail', 'smtp')`,
    );
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
  };
  const refuse: Refuse = (problems, details) =>
    refusal(
      `Arguments of ${name} do not fit its schema: ${problems}. Mend these and call again; the tool did not run.`,
      {
        ...details,
        tool: name,
        outcome: 'not_sent',
      },
    );
  const regret: Refuse = (problems) =>
    refusal(`The result of ${name} does not fit its output schema: ${problems}. The tool did run.`, {
      tool: name,
      outcome: 'failed',
    });
  const checkInput = inputSchema && checkFor(inputSchema, input, validators, refuse);
  const checkOutput = outputSchema && output && checkFor(outputSchema, output, validators, regret);

  const run = async (args: Arguments, context: ToolContext): Promise<CallToolResult> => {
    if (nestsTooDeep(args)) throw refuse(`they are nested more than ${MAX_NESTING} levels deep`);
    const lifted = liftArguments(args, input);
    const checked = checkInput === undefined ? lifted : checkInput(lifted);
    const value = checked instanceof Promise ? await checked : checked;
    const result = toCallToolResult(await handler(value as never, context));
    const isUnfinished = result.resultType !== undefined && result.resultType !== 'complete';
    if (checkOutput === undefined || result.isError === true || isUnfinished) return result;
    if (result.structuredContent === undefined) throw regret('there is no structured content');
    await checkOutput(result.structuredContent);
    return result;
  };
  const call = async (args: Arguments, context: ToolContext): Promise<CallToolResult> => {
    try {
      return await run(args, context);
    } catch (thrown) {
      return toErrorResult(thrown);
    }
  };
  return { definition, keywords, visible, call };
}

type Refuse = (problems: string, details?: ErrorDetails) => DiscoveryError;

const refusal = (message: string, details: ErrorDetails): DiscoveryError =>
  new DiscoveryError('TOOL_VALIDATION_ERROR', message, details);

/** The schema's own library checks where there is one; raw JSON Schema is checked by ours. */
function checkFor(schema: ToolSchema, json: JsonSchema, validators: SchemaValidators, refuse: Refuse): Check {
  if (isStandardSchema(schema)) {
    const { validate } = schema['~standard'];
    const read = (result: Awaited<ReturnType<typeof validate>>): unknown => {
      if (result.issues === undefined) return result.value;
      throw refuse(result.issues.slice(0, MAX_ISSUES).map(issueText).join('; '));
    };
    return (value) => {
      const result = validate(value);
      return 'then' in result ? result.then(read) : read(result);
    };
  }
  const read = (verdict: Verdict, value: unknown): unknown => {
    if (verdict.status !== 'broken') return value;
    const { problems } = verdict;
    throw refuse(problems.map(({ message }) => message).join('; '), {
      schema: Object.fromEntries(
        problems.map((problem) => [problem.path === '' ? '(all)' : problem.path, problem.schema]),
      ),
      suggestions: problems.flatMap(({ suggestion }) => (suggestion === undefined ? [] : [suggestion])),
    });
  };
  return (value) => {
    const verdict = validators.check(json, value);
    return verdict instanceof Promise ? verdict.then((found) => read(found, value)) : read(verdict, value);
  };
}

function issueText({ message, path = [] }: StandardIssue): string {
  const steps = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return steps.length === 0 ? message : `"${steps.join('.')}" ${message}`;
}
