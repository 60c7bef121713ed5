/**
 * Writes tool definitions for an LLM API, with legal and unique names and schemas the API accepts, and reads the
 * model's calls of them. Pure: fetches nothing, and never throws because of a tool.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { toAiSdkTool } from './ai-sdk-tool.ts';
import {
  type AiSdkOptions,
  type AnthropicOptions,
  type DefinitionSet,
  type DefinitionsOf,
  type DescribedTool,
  type FormatProblem,
  type GeminiOptions,
  type NamedCall,
  type ObjectSchema,
  type OpenAiFunction,
  type OpenAiNamespace,
  type OpenAiResponsesOptions,
  type OptionsOf,
  type ReadCall,
  TOOL_FORMATS,
  type ToolChoice,
  type ToolFormat,
} from './definition-types.ts';
import { toInputExamples } from './input-examples.ts';
import { type MadeSchema, makeSchema, type SchemaTarget, TARGETS } from './make-schema.ts';
import { createNameTable, type NameTable, PairMap } from './names.ts';
import { toOpenApi } from './open-api-schema.ts';
import { refuseUnknown } from './refuse-unknown.ts';
import { StrictAllowance } from './strict-limits.ts';
import { argumentsOf, argumentsProblem } from './tool-call.ts';

/**
 * Returns the definitions of tools for one API, in the order of the tools.
 * @example
 * const { definitions, problems, readCall } = toDefinitions(tools, { format: 'openai-responses', strict: true });
 * const response = await openai.responses.create({ model, input, tools: definitions });
 * // For each function_call in response.output:
 * const call = readCall(functionCall); // { server: 'github', tool: 'create_issue', arguments: { … } }
 */
export function toDefinitions<F extends ToolFormat>(
  tools: Iterable<DescribedTool>,
  options: { readonly format: F } & OptionsOf[F],
): DefinitionSet<F> {
  if (!TOOL_FORMATS.includes(options.format))
    throw new ValidationError(`There is no format "${String(options.format)}". Use one of ${TOOL_FORMATS.join(', ')}.`);
  refuseUnknown(options, KNOWN_OPTIONS[options.format], `The format "${options.format}"`);
  return new Definer([...tools], options as AnyOptions).define() as DefinitionSet<F>;
}

const COMMON = ['format', 'names'] as const;

/** The options of each format, by name. */
const KNOWN_OPTIONS: { readonly [F in ToolFormat]: readonly ('format' | keyof OptionsOf[F])[] } = {
  anthropic: [...COMMON, 'strict', 'deferLoading', 'inputExamples'],
  'openai-chat': [...COMMON, 'strict'],
  'openai-responses': [...COMMON, 'strict', 'deferLoading', 'namespaces'],
  gemini: [...COMMON, 'parameters'],
  'ai-sdk': [...COMMON, 'execute'],
  langchain: COMMON,
};

type AnyOptions = { readonly format: ToolFormat } & AnthropicOptions &
  OpenAiResponsesOptions &
  GeminiOptions &
  AiSdkOptions;

/** A tool on its way. */
interface Defined {
  readonly made: MadeSchema;
  readonly tool: DescribedTool;
  readonly name: string;
  readonly description: string | undefined;
}

class Definer {
  readonly #tools: readonly DescribedTool[];
  readonly #options: AnyOptions;
  readonly #names: NameTable;
  readonly #problems: FormatProblem[] = [];
  readonly #allowance = new StrictAllowance();
  /** By namespace and name. */
  readonly #calls = new PairMap<Defined>();

  constructor(tools: readonly DescribedTool[], options: AnyOptions) {
    this.#options = options;
    this.#tools = tools.filter((tool) => {
      const isNamed = typeof tool?.name === 'string';
      if (!isNamed) this.#problem({ name: '' }, 'left-out', 'It has no name.');
      return isNamed;
    });
    this.#names = options.names ?? createNameTable(this.#tools);
  }

  define(): DefinitionSet<ToolFormat> {
    const definitions = this.#definitions();
    return {
      definitions,
      names: this.#names,
      problems: this.#problems,
      readCall: (call) => this.#readCall(call),
    };
  }

  #definitions(): DefinitionsOf[ToolFormat] {
    const { format, deferLoading, inputExamples, parameters, execute } = this.#options;
    if (format === 'openai-responses') return this.#openAiResponses();
    const defined = this.#defineAll(this.#tools, '', (tool) => this.#names.nameOf(refOf(tool)));
    switch (format) {
      case 'anthropic':
        return defined.map((one) => ({
          name: one.name,
          ...words(one),
          input_schema: schemaOf(one),
          ...(one.made.strict && { strict: true }),
          ...(chosen(deferLoading, one.tool) && { defer_loading: true }),
          ...(chosen(inputExamples, one.tool) && examplesOf(one)),
        }));
      case 'openai-chat':
        if (defined.length > LIMITS.names.apiTools)
          this.#problem(
            { name: '' },
            'too-many',
            `There are ${defined.length} tools, but OpenAI Chat Completions accepts at most ${LIMITS.names.apiTools}: send fewer, or let the model search them.`,
          );
        return defined.map((one) => ({
          type: 'function' as const,
          function: {
            name: one.name,
            ...words(one),
            parameters: schemaOf(one),
            ...(one.made.strict && { strict: true }),
          },
        }));
      case 'gemini': {
        const functionDeclarations = defined.map((one) => ({
          name: one.name,
          description: one.description ?? one.tool.name,
          ...(parameters === 'open-api' ? openApi(one) : { parametersJsonSchema: schemaOf(one) }),
        }));
        return functionDeclarations.length > 0 ? [{ functionDeclarations }] : [];
      }
      case 'ai-sdk':
        return Object.fromEntries(
          defined.map((one) => [
            one.name,
            toAiSdkTool(one.tool, one.description, schemaOf(one), (args) => readOf(one, args), execute),
          ]),
        );
      case 'langchain':
        return defined.map((one) => ({ name: one.name, description: one.description ?? '', schema: schemaOf(one) }));
    }
  }

  #openAiResponses(): (OpenAiFunction | OpenAiNamespace)[] {
    const { namespaces = false } = this.#options;
    const write = (one: Defined): OpenAiFunction => ({
      type: 'function',
      name: one.name,
      ...words(one),
      parameters: schemaOf(one),
      strict: one.made.strict,
      ...(chosen(this.#options.deferLoading, one.tool) && { defer_loading: true }),
    });
    if (namespaces === false)
      return this.#defineAll(this.#tools, '', (tool) => this.#names.nameOf(refOf(tool))).map(write);
    const servers = new Map<string, DescribedTool[]>();
    for (const tool of this.#tools) {
      const { server = '' } = tool;
      const known = servers.get(server);
      if (known) known.push(tool);
      else servers.set(server, [tool]);
    }
    const spaces = createNameTable([...servers.keys()].filter((server) => server !== '').map((name) => ({ name })));
    return [...servers].flatMap(([server, tools]): (OpenAiFunction | OpenAiNamespace)[] => {
      const own = createNameTable(tools.map(({ name }) => ({ name })));
      const space = server === '' ? '' : (spaces.nameOf({ server: '', tool: server }) ?? '');
      const defined = this.#defineAll(tools, space, (tool) => own.nameOf({ server: '', tool: tool.name })).map(write);
      if (server === '' || defined.length === 0) return defined;
      const description = (typeof namespaces === 'function' ? namespaces(server) : undefined) || `Tools of ${server}`;
      return [{ type: 'namespace', name: space, description, tools: defined }];
    });
  }

  #defineAll(
    tools: readonly DescribedTool[],
    namespace: string,
    nameOf: (tool: DescribedTool) => string | undefined,
  ): readonly Defined[] {
    const all: Defined[] = [];
    for (const tool of tools) {
      const name = nameOf(tool);
      if (name === undefined) this.#problem(tool, 'left-out', 'It is not in the table of names.');
      else if (this.#calls.get(namespace, name)) this.#problem(tool, 'left-out', 'It is listed twice.');
      else {
        const one = this.#one(tool, name);
        if (!one) continue;
        this.#calls.set(namespace, name, one);
        all.push(one);
      }
    }
    return all;
  }

  #one(tool: DescribedTool, name: string): Defined | undefined {
    const made = makeSchema(tool.inputSchema, schemaTargetOf(this.#options), {
      strict: chosen(this.#options.strict, tool),
      allowance: this.#allowance,
    });
    if ('refused' in made) {
      this.#problem(tool, 'left-out', made.refused);
      return undefined;
    }
    if (made.notStrict !== undefined) this.#problem(tool, 'not-strict', `It is not strict: ${made.notStrict}.`);
    if (made.simplified.length > 0) this.#problem(tool, 'simplified', `Its schema: ${made.simplified.join('; ')}.`);
    return { made, tool, name, description: textIn(tool.description) ?? textIn(tool.title) };
  }

  #readCall({ name, namespace = '', arguments: raw }: NamedCall): ReadCall | undefined {
    const one = this.#calls.get(namespace, name);
    if (!one) return undefined;
    const args = argumentsOf(raw);
    return args
      ? readOf(one, args)
      : { ...readOf(one, {}), invalid: `The arguments of ${name} ${argumentsProblem(raw)}.` };
  }

  #problem({ server = '', name }: DescribedTool, kind: FormatProblem['kind'], message: string): void {
    this.#problems.push({ server, tool: name, kind, message });
  }
}

const refOf = ({ server = '', name }: DescribedTool) => ({ server, tool: name });
const chosen = (choice: ToolChoice | undefined, tool: DescribedTool): boolean =>
  typeof choice === 'function' ? choice(tool) : choice === true;
const words = ({ description }: Defined): { description?: string } =>
  description === undefined ? {} : { description };
const textIn = (text: unknown): string | undefined =>
  typeof text === 'string' && text.trim() !== '' ? text : undefined;
const schemaOf = ({ made }: Defined): ObjectSchema => made.schema as ObjectSchema;
const readOf = ({ tool, made }: Defined, args: Readonly<Record<string, unknown>>): ReadCall => ({
  ...refOf(tool),
  arguments: made.readArguments(args),
});

function examplesOf({ tool, made }: Defined): { input_examples?: Record<string, unknown>[] } {
  const examples = toInputExamples(tool, made);
  return examples.length > 0 ? { input_examples: examples } : {};
}

function openApi({ made }: Defined) {
  const parameters = toOpenApi(made.schema);
  return parameters === undefined ? {} : { parameters };
}

const schemaTargetOf = ({ format, parameters }: AnyOptions): SchemaTarget =>
  format === 'gemini' && parameters === 'open-api' ? 'gemini-open-api' : TARGETS[format];
