/**
 * Provides the five meta-tools for an agent loop: their definitions in any API's format, and one function that answers
 * the model's calls in that API's format.
 * @module
 */

import { DiscoveryError } from '../../core/errors.ts';
import { toFailure } from '../../core/result.ts';
import type { Caller, CallToolResult, Progress } from '../../core/types.ts';
import type { DiscoveryEngine } from '../../engine/discovery-engine.ts';
import { failure } from '../../meta-tools/answers.ts';
import { createMetaToolRunner } from '../../meta-tools/meta-tool-runner.ts';
import { isMetaTool, metaToolDefinitions } from '../../meta-tools/meta-tools.ts';
import type { DefinitionSet, OptionsOf, ToolFormat } from './definition-types.ts';
import type { ToolResultsOf } from './result-types.ts';
import { toDefinitions } from './to-definitions.ts';
import {
  type AnyToolCall,
  argumentsOf,
  type FormatOf,
  jsonProblem,
  readToolCall,
  type ToolCallOptions,
} from './tool-call.ts';
import { type ResultOptionsOf, toToolResult } from './tool-result.ts';

/** Options of one call. */
export interface HandleOptions<F extends ToolFormat = ToolFormat> extends ToolCallOptions<F> {
  readonly signal?: AbortSignal | undefined;
  /** The caller: for the audit log, and for tools that ask back. */
  readonly caller?: Caller | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** False if the model reads text only. Default true. */
  readonly media?: boolean | undefined;
}

/** The meta-tools of one engine. */
export interface MetaToolHandler {
  /** Their definitions, with the names of searchable servers, always in the same order. */
  definitions<F extends ToolFormat>(options: { readonly format: F } & OptionsOf[F]): Promise<DefinitionSet<F>>;
  /** Tells whether a call is one of theirs. Throws `ValidationError` for anything that is not a call. */
  handles(call: AnyToolCall, options?: ToolCallOptions): boolean;
  /** Answers a call. Never rejects because of a tool: errors are in the result. */
  handle<C extends AnyToolCall, F extends ToolFormat = FormatOf<C>>(
    call: C,
    options?: HandleOptions<F>,
  ): Promise<ToolResultsOf[F]>;
}

/**
 * Returns definitions and answers for an agent loop over one engine.
 * @example
 * const tools = createMetaToolHandler(engine);
 * const { definitions } = await tools.definitions({ format: 'anthropic' });
 * const reply = await anthropic.messages.create({ model, max_tokens, messages, tools: definitions });
 * const results = await Promise.all(
 *   reply.content.filter((block) => block.type === 'tool_use').map((block) => tools.handle(block)),
 * );
 * messages.push({ role: 'assistant', content: reply.content }, { role: 'user', content: results });
 */
export function createMetaToolHandler(engine: DiscoveryEngine): MetaToolHandler {
  const run = createMetaToolRunner(engine);
  const answer = async (name: string, args: unknown, options: HandleOptions): Promise<CallToolResult> => {
    const { caller = {}, signal = new AbortController().signal, onProgress } = options;
    try {
      const broken = jsonProblem(args);
      if (broken !== undefined)
        throw new DiscoveryError('TOOL_VALIDATION_ERROR', `The arguments of ${name} ${broken}.`, {
          outcome: 'not_sent',
        });
      return await run(name, argumentsOf(args) ?? args, { caller, signal, onProgress });
    } catch (error) {
      const failed = toFailure(error, { tool: name });
      return failed.success ? {} : failure(failed.error);
    }
  };
  return {
    definitions: async (options) => toDefinitions(metaToolDefinitions(await engine.serverNames()), options),
    handles: (call, options) => isMetaTool(readToolCall(call, options).name),
    handle: async <C extends AnyToolCall, F extends ToolFormat = FormatOf<C>>(
      call: C,
      options: HandleOptions<F> = {},
    ) => {
      const { format, id, name, arguments: args } = readToolCall(call, options);
      const result = await answer(name, args, options);
      const written = { format, id, name, media: options.media } as ResultOptionsOf<ToolFormat>;
      return toToolResult(result, written) as ToolResultsOf[F];
    },
  };
}
