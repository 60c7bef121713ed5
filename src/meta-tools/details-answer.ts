/**
 * Builds the answer of `get_tool_details`: what an agent needs to call a tool, in as few tokens as possible.
 *
 * A short answer is complete. A longer one is shortened until it fits into the next band; names, types and required
 * parameters are cut last. A cut text ends in `…`, and the definition of `get_tool_details` says how to read on. If
 * more than text is missing, the answer says so.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { OWN_SERVER, READ_SCHEMA_NAME } from '../core/own-server.ts';
import type { CallToolResult, JsonSchema, ToolExample, ToolMetadata, ToolParameter } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { branchesOf, requiredSets, wholeNode } from '../schema/schema-merge.ts';
import { parametersOf, type SchemaParameter } from '../schema/schema-parameters.ts';
import { CUT, Effort, typeText } from '../schema/type-text.ts';
import { shorten, visible } from '../text/plain-text.ts';
import { textWeight } from '../text/text-weight.ts';
import { answer, compact } from './answers.ts';
import { describedIn, firstSentences, repeatsName, tidy, withoutParameterList } from './details-text.ts';

/** Lengths that answers are fitted to, in weight; a token weighs a little over four. */
const BANDS = [400, 640, 900, 1200, 1600, 2400] as const;

/** The most characters of each kind of text. */
interface Brevity {
  readonly description: number;
  readonly parameter: number;
  readonly type: number;
  readonly example: number;
  /** Leaves out descriptions that only repeat a name. */
  readonly terse?: boolean;
}

const WHOLE: Brevity = { description: LIMITS.answer.page, parameter: LIMITS.answer.page, type: 700, example: 1200 };
const SHORTER: readonly Brevity[] = [
  WHOLE,
  { description: 480, parameter: 160, type: 700, example: 600 },
  { description: 240, parameter: 100, type: 700, example: 400 },
  { description: 140, parameter: 60, type: 700, example: 300, terse: true },
];
const SHORTEST: readonly Brevity[] = [
  ...SHORTER,
  { description: 140, parameter: 60, type: 300, example: 300, terse: true },
  { description: 140, parameter: 40, type: 120, example: 300, terse: true },
  { description: 140, parameter: 0, type: 60, example: 0, terse: true },
  { description: 140, parameter: 0, type: 24, example: 0, terse: true },
];

const MORE = `execute_tool ${OWN_SERVER} ${READ_SCHEMA_NAME} {server,tool,path?} has all`;

/** Keywords of the whole schema that the list of parameters does not show. */
const CONDITIONS = ['if', 'not', 'dependentRequired', 'dependentSchemas', 'dependencies'];

type DetailedTool = ToolMetadata & { readonly inferredOutput?: JsonSchema | undefined };

/** Describes a tool for an agent, whatever the size of its schema. */
export function detailsAnswer(tool: DetailedTool): CallToolResult {
  const writer = new Details(tool);
  const tried = SHORTER.map((brevity) => writer.write(brevity));
  const weights = tried.map(weight);
  for (const band of BANDS) {
    const fits = tried[weights.findIndex((one) => one <= band)];
    if (fits) return answer(fits);
  }
  for (const brevity of SHORTEST) {
    const details = writer.write(brevity);
    if (weight(details) <= LIMITS.answer.page) return answer(details);
  }
  return answer(writer.asManyAsFit());
}

const weight = (details: object): number => textWeight(JSON.stringify(compact(details)));

class Details {
  readonly #tool: DetailedTool;
  readonly #root: JsonSchema;
  readonly #parameters: readonly SchemaParameter[];
  readonly #description: string;
  readonly #described: readonly string[];
  readonly #conditional: boolean;
  readonly #note: string;
  readonly #types = new Map<number, readonly string[]>();
  #lifted: ReadonlyMap<string, string> | undefined;

  constructor(tool: DetailedTool) {
    this.#tool = tool;
    this.#root = tool.inputSchema ?? {};
    this.#parameters = parametersOf(tool.inputSchema);
    this.#description = tidy(tool.description ?? tool.title ?? '');
    this.#described = this.#parameters
      .slice(0, LIMITS.schema.parameters)
      .map(({ schema }) => (typeof schema.description === 'string' ? tidy(schema.description) : ''));
    const node = wholeNode(this.#root, this.#root);
    this.#conditional = CONDITIONS.some((keyword) => node[keyword] !== undefined);
    this.#note = noteOn(node, this.#root);
  }

  write(brevity: Brevity, most: number = LIMITS.schema.parameters): object {
    const { server, name, tags } = this.#tool;
    const whole = brevity === WHOLE;
    const described = whole ? this.#description : withoutParameterList(this.#description);
    const description = firstSentences(described, brevity.description);
    const types = this.#typesWithin(brevity.type);
    const parameters = this.#parameters.slice(0, most).map(
      (parameter, at): ToolParameter => ({
        name: shorten(visible(parameter.name), LIMITS.names.shown),
        type: types[at] ?? 'any',
        description: this.#describe(parameter.name, this.#described[at] ?? '', brevity),
        required: parameter.required,
      }),
    );
    const left = this.#parameters.length - parameters.length;
    const examples = fitting(this.#tool.examples ?? [], brevity.example);
    const isCut =
      this.#conditional ||
      left > 0 ||
      [this.#note, ...parameters.map(({ type }) => type)].some((text) => text.includes(CUT)) ||
      examples.length < (this.#tool.examples ?? []).filter(({ generated }) => !generated).length;
    return {
      server,
      tool: name,
      description,
      parameters,
      note: this.#note,
      returns: brevity.terse ? '' : returned(this.#tool),
      examples,
      tags,
      more: isCut ? `${left > 0 ? `+${left} more parameters; ` : ''}${MORE}` : '',
    };
  }

  /** Returns the shortest form, with as many parameters as fit; required ones come first. */
  asManyAsFit(): object {
    const shortest = SHORTEST.at(-1) ?? WHOLE;
    let [low, high] = [0, Math.min(this.#parameters.length, LIMITS.schema.parameters)];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (weight(this.write(shortest, middle)) <= LIMITS.answer.page) low = middle;
      else high = middle - 1;
    }
    return this.write(shortest, low);
  }

  #describe(name: string, own: string, { parameter: room, terse }: Brevity): string {
    // While the tool's description is shown in full, its text about parameters need not be repeated.
    const text = own || (room < LIMITS.answer.page ? (this.#liftedText(name) ?? '') : '');
    return terse && repeatsName(text, name, this.#tool.name) ? '' : firstSentences(text, room);
  }

  #liftedText(name: string): string | undefined {
    this.#lifted ??= describedIn(
      this.#tool.description ?? '',
      this.#parameters.slice(0, LIMITS.schema.parameters).flatMap((one, at) => (this.#described[at] ? [] : [one.name])),
    );
    return this.#lifted.get(name);
  }

  #typesWithin(maxChars: number): readonly string[] {
    const known = this.#types.get(maxChars);
    if (known) return known;
    const parameters = this.#parameters.slice(0, LIMITS.schema.parameters);
    const effort = new Effort(LIMITS.schema.expanded);
    const types = parameters.map(({ schema }) => typeText(schema, this.#root, { maxChars, effort }));
    this.#types.set(maxChars, types);
    return types;
  }
}

/** What the tool has returned so far. */
function returned({ inferredOutput }: DetailedTool): string {
  if (inferredOutput === undefined) return '';
  return `inferred from results: ${typeText(inferredOutput, inferredOutput, { maxChars: LIMITS.observe.shown })}`;
}

/** Describes what applies to the parameters together: alternative sets, or free names. */
function noteOn(node: JsonSchema, root: JsonSchema): string {
  const sets = requiredSets(node);
  if (sets.length > 0)
    return shorten(
      `one of: ${sets.map((names) => names.map((name) => shorten(visible(name), 80)).join(' + ')).join(' | ')}`,
      LIMITS.text.reason,
    );
  const { properties: _properties, ...rest } = node;
  if (branchesOf(node).length > 1) return `one of: ${typeText(rest, root, { maxChars: LIMITS.text.reason })}`;
  const isFree = isObject(node.additionalProperties) && Object.keys(node.additionalProperties).length > 0;
  return isFree ? `other names: ${typeText(node.additionalProperties, root, { maxChars: LIMITS.text.reason })}` : '';
}

function fitting(examples: readonly ToolExample[], maxChars: number): readonly ToolExample[] {
  let left = maxChars;
  return examples.filter((example) => {
    left -= JSON.stringify(example).length;
    return left >= 0;
  });
}
