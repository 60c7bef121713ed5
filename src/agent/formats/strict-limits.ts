/**
 * Measures strict schemas against the limits of OpenAI, and tracks what an Anthropic request has left for strict tools.
 * @module
 */
import { childrenOf, isNode, listOf, type Node, namesIn } from './schema-tree.ts';

/** The sizes that APIs limit. */
interface SchemaSize {
  readonly properties: number;
  readonly optional: number;
  readonly unions: number;
  readonly levels: number;
  readonly enumValues: number;
  /** Characters of names, enums and constants. */
  readonly characters: number;
  /** Characters of the longest enum with more than 250 values. */
  readonly longEnum: number;
}

const OPENAI = { properties: 5000, levels: 10, enumValues: 1000, characters: 120_000, longEnum: 15_000 } as const;
const LONG_ENUM = 250;

/** Measures a fitted schema. */
export function sizeOf(schema: Node): SchemaSize {
  const size = { properties: 0, optional: 0, unions: 0, levels: 0, enumValues: 0, characters: 0, longEnum: 0 };
  const visit = (value: unknown, level: number): void => {
    if (!isNode(value)) return;
    const isNested = value.properties !== undefined || value.items !== undefined;
    const here = isNested ? level + 1 : level;
    size.levels = Math.max(size.levels, here);
    const names = Object.keys(isNode(value.properties) ? value.properties : {});
    const required = new Set(namesIn(value.required));
    size.properties += names.length;
    size.optional += names.filter((name) => !required.has(name)).length;
    if (Array.isArray(value.anyOf) || (Array.isArray(value.type) && value.type.length > 1)) size.unions++;
    const values = listOf(value.enum);
    const characters = lengthOf(values);
    size.enumValues += values.length;
    if (values.length > LONG_ENUM) size.longEnum = Math.max(size.longEnum, characters);
    const defined = Object.keys(isNode(value.$defs) ? value.$defs : {});
    size.characters +=
      lengthOf(names) + lengthOf(defined) + characters + (value.const === undefined ? 0 : lengthOf([value.const]));
    for (const child of childrenOf(value)) visit(child, here);
  };
  visit(schema, 0);
  return size;
}

const lengthOf = (values: readonly unknown[]): number =>
  values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : JSON.stringify(value).length),
    0,
  );

/** Returns why a schema is too large for OpenAI's strict mode, if it is. */
export function tooLargeForOpenAi(size: SchemaSize): string | undefined {
  for (const [what, limit] of Object.entries(OPENAI) as [keyof typeof OPENAI, number][]) {
    if (size[what] > limit) return `it has ${size[what]} ${NAMES[what]}, but at most ${limit} are allowed`;
  }
  return undefined;
}

const NAMES: Readonly<Record<keyof typeof OPENAI, string>> = {
  properties: 'properties',
  levels: 'levels',
  enumValues: 'enum values',
  characters: 'characters of names and enums',
  longEnum: 'characters in one enum',
};

/** The total that strict tools of one Anthropic request may use. */
export class StrictAllowance {
  #tools = 20;
  #optional = 24;
  #unions = 16;

  /** Why no further tool can be strict, once that is so. */
  get spent(): string | undefined {
    return this.#tools < 1 ? 'a request may contain at most 20 strict tools' : undefined;
  }

  /** Takes a tool's share, or returns why not enough is left. */
  take({ optional, unions }: SchemaSize): string | undefined {
    if (this.spent !== undefined) return this.spent;
    if (optional > this.#optional)
      return `the strict tools of a request may have at most 24 optional parameters together, and this tool adds ${optional}`;
    if (unions > this.#unions)
      return `the strict tools of a request may have at most 16 parameters with alternatives together, and this tool adds ${unions}`;
    this.#tools--;
    this.#optional -= optional;
    this.#unions -= unions;
    return undefined;
  }
}
