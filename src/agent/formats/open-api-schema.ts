/**
 * Converts a schema fitted for Gemini's `parameters` to its subset of OpenAPI 3.0: one type each, in capitals,
 * `nullable`, enums of strings, and nothing beside `anyOf`.
 * @module
 */
import { typesOf } from './merge-schemas.ts';
import { withNote } from './schema-notes.ts';
import { entriesOf, isNode, listOf, type Node, namesIn } from './schema-tree.ts';

/** A schema of Gemini's `parameters`. */
export interface GeminiSchema {
  /** `STRING`, `NUMBER`, `INTEGER`, `BOOLEAN`, `ARRAY` or `OBJECT`. */
  // biome-ignore lint/suspicious/noExplicitAny: for Google's SDK this is an enum of its own, which takes no text.
  type?: any;
  description?: string;
  title?: string;
  nullable?: boolean;
  enum?: string[];
  format?: string;
  items?: GeminiSchema;
  properties?: Record<string, GeminiSchema>;
  required?: string[];
  propertyOrdering?: string[];
  anyOf?: GeminiSchema[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  /** Whole numbers are written as strings, as in all Google APIs. */
  minItems?: string;
  maxItems?: string;
  minLength?: string;
  maxLength?: string;
  minProperties?: string;
  maxProperties?: string;
}

type GeminiType = 'STRING' | 'NUMBER' | 'INTEGER' | 'BOOLEAN' | 'ARRAY' | 'OBJECT';

const FORMATS: Readonly<Record<GeminiType, readonly string[]>> = {
  STRING: ['date-time', 'enum'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
  BOOLEAN: [],
  ARRAY: [],
  OBJECT: [],
};
const NUMBERS: readonly GeminiType[] = ['NUMBER', 'INTEGER'];
const COUNTS: readonly (readonly [
  type: GeminiType,
  'minItems' | 'minLength' | 'minProperties',
  'maxItems' | 'maxLength' | 'maxProperties',
])[] = [
  ['ARRAY', 'minItems', 'maxItems'],
  ['STRING', 'minLength', 'maxLength'],
  ['OBJECT', 'minProperties', 'maxProperties'],
];
/** A schema for anything. An array must declare its items. */
const ANYTHING: Node = { type: ['string', 'number', 'boolean', 'object', 'array'], items: { type: 'string' } };

/**
 * Converts a fitted schema to OpenAPI; undefined for an object without properties, which Gemini requires to be left
 * out.
 */
export function toOpenApi(schema: Node): GeminiSchema | undefined {
  return entriesOf(schema.properties).length === 0 ? undefined : convert(schema);
}

function convert(node: Node): GeminiSchema {
  const branches = listOf(node.anyOf).filter(isNode);
  if (branches.length > 0) {
    const real = branches.filter((branch) => !isNull(branch));
    return oneOrMore(real, node, real.length < branches.length || branches.some(canBeNull));
  }
  const types = typesOf(node.type);
  const real = types.filter((type) => type !== 'null');
  if (types.length === 0) return convert({ ...ANYTHING, ...words(node) });
  if (real.length === 0) return { type: 'STRING', nullable: true, ...words(node) };
  const isNullable = real.length < types.length;
  if (real.length === 1) return plain(node, real[0] as string, isNullable);
  const { description: _description, title: _title, ...rest } = node;
  return oneOrMore(
    real.map((type) => ({ ...rest, type })),
    node,
    isNullable,
  );
}

/** Converts alternatives; descriptions and `nullable` move into them, because nothing may be beside them. */
function oneOrMore(branches: readonly Node[], outer: Node, isNullable: boolean): GeminiSchema {
  const converted = branches.map(convert).flatMap((branch) => branch.anyOf ?? [branch]);
  const [first] = converted;
  if (!first) return { type: 'STRING', nullable: true, ...words(outer) };
  const marked = converted.map((branch) => ({ ...branch, ...(isNullable && { nullable: true }) }));
  if (marked.length === 1) return { ...(marked[0] as GeminiSchema), ...words(outer) };
  const { description } = words(outer);
  if (description !== undefined)
    marked[0] = {
      ...first,
      ...marked[0],
      description: first.description ? withNote(description, first.description) : description,
    };
  return { anyOf: marked };
}

function plain(node: Node, type: string, isNullable: boolean): GeminiSchema {
  const name = type.toUpperCase() as GeminiType;
  const schema: GeminiSchema = { type: name, ...words(node), ...(isNullable && { nullable: true }) };
  if (typeof node.format === 'string' && FORMATS[name].includes(node.format)) schema.format = node.format;
  if (NUMBERS.includes(name)) {
    if (typeof node.minimum === 'number') schema.minimum = node.minimum;
    if (typeof node.maximum === 'number') schema.maximum = node.maximum;
  }
  for (const [owner, ...keywords] of COUNTS) {
    for (const keyword of keywords)
      if (owner === name && typeof node[keyword] === 'number') schema[keyword] = String(node[keyword]);
  }
  if (name === 'STRING') {
    if (typeof node.pattern === 'string') schema.pattern = node.pattern;
    // Gemini refuses an empty string in an enum.
    const values = namesIn(node.enum).filter((value) => value !== '');
    if (values.length > 0) schema.enum = values;
  }
  if (name === 'ARRAY') schema.items = convert(isNode(node.items) ? node.items : {});
  if (name === 'OBJECT') Object.assign(schema, members(node));
  return schema;
}

function members(node: Node): Pick<GeminiSchema, 'properties' | 'required' | 'propertyOrdering'> {
  const properties = entriesOf(node.properties);
  if (properties.length === 0) return {};
  const required = namesIn(node.required);
  const known = new Set(properties.map(([name]) => name));
  const order = namesIn(node.propertyOrdering).filter((name) => known.has(name));
  return {
    properties: Object.fromEntries(properties.map(([name, one]) => [name, convert(isNode(one) ? one : {})])),
    ...(required.length > 0 && { required }),
    ...(order.length > 0 && { propertyOrdering: order }),
  };
}

const isNull = (node: Node): boolean => typesOf(node.type).every((type) => type === 'null') && node.type !== undefined;
const canBeNull = (node: Node): boolean => typesOf(node.type).includes('null');

const words = ({ title, description }: Node): Pick<GeminiSchema, 'title' | 'description'> => ({
  ...(typeof title === 'string' && { title }),
  ...(typeof description === 'string' && { description }),
});
