/**
 * Validates arguments before they are sent and, if configured, structured results. A refusal names the path, the reason
 * and the violated part of the schema.
 * @module
 */

import { noteFlag } from '../../core/call-notes.ts';
import { LIMITS } from '../../core/limits.ts';
import { fail, type ToolResult } from '../../core/result.ts';
import type { CallToolResult, ToolCall, ToolDefinition } from '../../core/types.ts';
import { jsonFault } from '../../json/json-fault.ts';
import { type Redact, redactUnknown } from '../../secrets/redactor.ts';
import { nameOf, type Step } from '../pipeline.ts';
import { detailsOf, listed, type Problem } from '../validation/problem.ts';
import { unwrapped } from '../validation/repair-arguments.ts';
import type { SchemaValidators, Verdict } from '../validation/schema-validators.ts';
import { asKnown } from '../validation/seen-names.ts';

/** What to do with results that violate their own schema: nothing, flag them, or refuse them. */
type OutputMode = 'off' | 'warn' | 'strict';

/** How results are checked. */
export interface OutputOptions {
  readonly output?: OutputMode | undefined;
  /** Redacts a result that an error quotes. */
  readonly redact?: Redact | undefined;
  /** Tells whether the source of a tool checks its arguments itself: its schema may convert them. */
  readonly checksItself?: ((server: string) => boolean) | undefined;
}

/** Checks arguments, and output as `output` says. A tool whose schema is unusable is called unchecked and flagged. */
export const validate =
  (
    validators: SchemaValidators,
    output: OutputMode = 'warn',
    redact: Redact = redactUnknown,
    checksItself?: OutputOptions['checksItself'],
  ): Step =>
  (next) => {
    const goOn = (call: ToolCall, definition: ToolDefinition, verdict: Verdict) => {
      if (verdict.status === 'broken') return Promise.resolve(refuse(call, verdict.problems));
      const isUnusable = verdict.status === 'unchecked' && verdict.reason !== undefined;
      const checksOutput = output !== 'off' && isRecord(definition.outputSchema);
      if (!isUnusable && !checksOutput) return next(call);
      return next(call).then((result) => {
        if (!result.success) return result;
        if (isUnusable) noteFlag(call, 'invalid_schema');
        return checksOutput ? checkOutput(validators, output, call, definition, result, redact) : result;
      });
    };
    const judge = (sent: ToolCall, definition: ToolDefinition, verdict: Verdict) => {
      if (verdict.status !== 'broken') return goOn(sent, definition, verdict);
      const rest = withoutNulls(sent.arguments);
      // Whether null stands for an argument that may be left out is for the server to say.
      if (rest !== undefined)
        return then(validators.check(definition.inputSchema, rest), (second) =>
          goOn(sent, definition, second.status === 'fits' ? second : verdict),
        );
      const inner = unwrapped(sent.arguments);
      if (inner === undefined) return goOn(sent, definition, verdict);
      const meant = inOwnNames(sent, inner, definition);
      return then(validators.check(definition.inputSchema, meant.arguments), (second) =>
        second.status === 'fits' ? goOn(meant, definition, second) : goOn(sent, definition, verdict),
      );
    };
    return (call) => {
      // Must come first: code that walks values, here and on the wire, relies on limited depth.
      const fault = jsonFault(call.arguments);
      if (fault !== undefined) return Promise.resolve(unwritable(call, fault));
      const { definition } = call;
      if (definition === undefined || checksItself?.(call.server)) return next(call);
      const sent = inOwnNames(call, call.arguments, definition);
      return then(validators.check(definition.inputSchema, sent.arguments), (verdict) =>
        judge(sent, definition, verdict),
      );
    };
  };

/** Continues synchronously if the check is synchronous, as most are. */
const then = <T>(verdict: Verdict | Promise<Verdict>, next: (verdict: Verdict) => Promise<T>): Promise<T> =>
  verdict instanceof Promise ? verdict.then(next) : next(verdict);

function inOwnNames(call: ToolCall, given: ToolCall['arguments'], { inputSchema }: ToolDefinition): ToolCall {
  const args = asKnown(given, inputSchema);
  return args === call.arguments ? call : { ...call, arguments: args };
}

/** Returns the arguments that are not null; undefined if none is. */
function withoutNulls(args: ToolCall['arguments']): ToolCall['arguments'] | undefined {
  const kept = Object.entries(args).filter(([, value]) => value !== null);
  return kept.length === Object.keys(args).length ? undefined : Object.fromEntries(kept);
}

/** Refuses arguments that cannot be written as JSON. */
export const unwritable = (call: Pick<ToolCall, 'server' | 'tool'>, fault: string): ToolResult<never> =>
  fail(
    'TOOL_VALIDATION_ERROR',
    `Arguments of ${nameOf(call)} ${fault}. Change them and call again; nothing was sent.`,
    { server: call.server, tool: call.tool, outcome: 'not_sent' },
  );

function refuse(call: ToolCall, problems: readonly Problem[]): ToolResult<never> {
  const { server, tool } = call;
  return fail(
    'TOOL_VALIDATION_ERROR',
    `Arguments of ${nameOf(call)} do not fit its schema: ${listed(problems)}. Fix these and call again; nothing was sent.`,
    {
      server,
      tool,
      outcome: 'not_sent',
      ...detailsOf(problems),
    },
  );
}

async function checkOutput(
  validators: SchemaValidators,
  mode: 'warn' | 'strict',
  call: ToolCall,
  definition: ToolDefinition,
  result: { readonly success: true; readonly data: CallToolResult },
  redact: Redact,
): Promise<ToolResult<CallToolResult>> {
  const { outputSchema } = definition;
  const { data } = result;
  // An `input_required` answer is not a result yet.
  if (outputSchema === undefined || data.isError === true || isUnfinished(data)) return result;
  const verdict: Verdict =
    data.structuredContent === undefined ? NOTHING : await validators.check(outputSchema, data.structuredContent);
  if (verdict.status === 'unchecked' && verdict.reason !== undefined) noteFlag(call, 'invalid_schema');
  if (verdict.status !== 'broken') return result;
  if (mode === 'warn') {
    noteFlag(call, 'invalid_output');
    return result;
  }
  const { server, tool } = call;
  return fail(
    'TOOL_VALIDATION_ERROR',
    `The result of ${nameOf(call)} does not fit its output schema: ${listed(verdict.problems)}. The tool did run. ${originalText(data, redact)}`,
    { server, tool, outcome: 'failed' },
  );
}

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null;

const isUnfinished = (data: CallToolResult): boolean => data.resultType !== undefined && data.resultType !== 'complete';

const NOTHING: Verdict = {
  status: 'broken',
  problems: [{ path: '', message: 'there is no structured content', schema: undefined }],
};

/** Returns the tool's text, so that the agent still sees a refused result. */
function originalText(data: CallToolResult, redact: Redact): string {
  const texts = Array.isArray(data.content) ? data.content.map((block) => block?.text) : [];
  const text = texts.filter((one) => typeof one === 'string').join('\n');
  if (text === '') return 'It returned no text.';
  return `It returned: ${redact.cut(text, LIMITS.text.error)}${text.length > LIMITS.text.error ? '…' : ''}`;
}
