/**
 * Reads a JSON Schema into the neutral type tree. Takes any value and never throws: a part that cannot be read or is
 * too large becomes `any`, with a note.
 *
 * The schema is parsed by the reader that validates calls, so that both mean the same by a reference, a dialect or a
 * malformed keyword.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { checkValue } from '../../execution/validation/check-value.ts';
import { children } from '../../execution/validation/schema-check.ts';
import type { JsonType, SchemaNode } from '../../execution/validation/schema-node.ts';
import { SCHEMA_LIMITS, SchemaReader } from '../../execution/validation/schema-reader.ts';
import { isObject } from '../../json/plain-object.ts';
import { oneLine, plainText } from '../../text/plain-text.ts';
import { messageOf } from '../../text/thrown-message.ts';
import { allOf, unionOf } from './join-types.ts';
import {
  ANY,
  type ArrayType,
  NEVER,
  type NumberType,
  type ObjectType,
  type StringType,
  type TypeCondition,
  type TypeDocument,
  type TypeNote,
  type TypeTree,
} from './type-tree.ts';

/** Returns the types of a schema. */
export function readTypes(schema: unknown): TypeDocument {
  const notes = new TypeNotes();
  try {
    const note = (_source: unknown, reason: string) => notes.add('', `a part is any: ${reason}`);
    return new TypeReader(new SchemaReader(schema, SCHEMA_LIMITS, note).read(), schema, notes).document();
  } catch (thrown) {
    // Only what is no JSON gets here, such as an object with a getter that throws.
    notes.add('', `any: it cannot be read (${messageOf(thrown)})`);
    return { root: ANY, definitions: new Map(), notes: notes.all() };
  }
}

/** Collects notes, each once, up to a limit. */
export class TypeNotes {
  readonly #notes = new Map<string, TypeNote>();

  add(path: string, text: string): void {
    if (this.#notes.size < LIMITS.convert.notes) this.#notes.set(JSON.stringify([path, text]), { path, text });
  }

  all(): readonly TypeNote[] {
    return [...this.#notes.values()];
  }
}

/** Where a part is: its path, the kind of value if that is known, and the nodes that describe the same value. */
interface Place {
  readonly path: string;
  readonly depth: number;
  readonly within: JsonType | undefined;
  readonly chain: ReadonlySet<SchemaNode>;
}

const NO_CHAIN: ReadonlySet<SchemaNode> = new Set();

class TypeReader {
  readonly #root: SchemaNode;
  readonly #notes: TypeNotes;
  readonly #definitions = new Map<string, TypeTree>();
  readonly #titles: ReadonlyMap<unknown, string>;
  /** Names of the nodes that are, or may become, definitions. */
  readonly #names = new Map<SchemaNode, string>();
  readonly #taken = new Set<string>();
  readonly #open = new Set<SchemaNode>();
  /** Nodes that refer to themselves. */
  readonly #recursive = new Set<SchemaNode>();
  readonly #shared: ReadonlySet<SchemaNode>;

  constructor(root: SchemaNode, schema: unknown, notes: TypeNotes) {
    this.#root = root;
    this.#notes = notes;
    this.#titles = definitionNames(schema);
    this.#shared = sharedTargets(root);
  }

  document(): TypeDocument {
    const root = this.#type(this.#root, { path: '', depth: 0, within: undefined, chain: NO_CHAIN });
    return { root, definitions: this.#definitions, notes: this.#notes.all() };
  }

  #type(node: SchemaNode, place: Place): TypeTree {
    if (place.chain.has(node)) return this.#lost(place.path, 'any: its references go round in a circle');
    if (place.depth > LIMITS.convert.depth) return this.#lost(place.path, 'any: it is nested too deep');
    if (this.#open.has(node)) {
      this.#recursive.add(node);
      return { kind: 'ref', name: this.#nameOf(node) };
    }
    const name = this.#names.get(node);
    if (name !== undefined && this.#definitions.has(name)) return { kind: 'ref', name };
    this.#open.add(node);
    const type = this.#read(node, { ...place, chain: new Set(place.chain).add(node) });
    this.#open.delete(node);
    if (!this.#recursive.has(node) && !(this.#shared.has(node) && isLarge(type))) return type;
    const own = this.#nameOf(node);
    this.#definitions.set(own, type);
    return { kind: 'ref', name: own };
  }

  #read(node: SchemaNode, place: Place): TypeTree {
    if (!node.allows) return NEVER;
    const type = this.#literals(node, place) ?? this.#whole(node, place);
    const { description } = isObject(node.source) ? node.source : {};
    if (typeof description !== 'string' || description === '') return type;
    const text = plainText(description, LIMITS.convert.description).trim();
    return text === '' ? type : { ...type, description: text };
  }

  #whole(node: SchemaNode, place: Place): TypeTree {
    const { path, depth } = place;
    const [kind, ...others] = jsonKinds(node);
    const within = node.types !== undefined && others.length === 0 ? kind : place.within;
    const same = (part: SchemaNode): TypeTree => this.#type(part, { ...place, depth: depth + 1, within });
    const parts = [this.#base(node, place)];
    if (node.ref !== undefined) parts.push(this.#type(node.ref, { ...place, depth: depth + 1, within: undefined }));
    for (const part of node.allOf ?? []) parts.push(same(part));
    if (node.anyOf !== undefined) parts.push(unionOf(node.anyOf.map(same), false));
    if (node.oneOf !== undefined) parts.push(unionOf(node.oneOf.map(same), true));
    const conditions: TypeCondition[] = [];
    if (node.not !== undefined) {
      const not = same(node.not);
      if (not.kind === 'any') return NEVER;
      if (not.kind !== 'never') conditions.push({ not });
    }
    if (node.if !== undefined && (node.thenPart ?? node.elsePart) !== undefined)
      conditions.push({
        if: same(node.if),
        yes: node.thenPart ? same(node.thenPart) : ANY,
        no: node.elsePart ? same(node.elsePart) : ANY,
      });
    for (const [name, needed] of node.dependentRequired ?? [])
      conditions.push({ if: having([name]), yes: having(needed), no: ANY });
    for (const [name, dependent] of node.dependentSchemas ?? [])
      conditions.push({ if: having([name]), yes: same(dependent), no: ANY });
    if (node.unevaluatedItems !== undefined) this.#notes.add(path, 'unevaluatedItems is not checked');
    if (node.unevaluatedProperties !== undefined) this.#notes.add(path, 'unevaluatedProperties is not checked');
    return allOf(parts, conditions);
  }

  /** The values of `const` and `enum` that the rest of the node allows. */
  #literals(node: SchemaNode, { path }: Place): TypeTree | undefined {
    const values = node.constant !== undefined ? [node.constant.value] : node.enumeration?.all;
    if (values === undefined) return undefined;
    if (values.length > LIMITS.convert.members || values.some(isLong)) {
      this.#notes.add(path, 'its list of values is too long and is not checked');
      return undefined;
    }
    const fuel = Math.max(100, Math.floor(LIMITS.validation.fuel / Math.max(values.length, 1)));
    const fitting = values.filter((value) => {
      const found = checkValue(node, value, fuel);
      return found === 'exhausted' || found.length === 0;
    });
    return fitting.length === 0 ? NEVER : { kind: 'literals', values: fitting };
  }

  /** What the node itself says of its value, apart from combinations. */
  #base(node: SchemaNode, place: Place): TypeTree {
    const make = (kind: JsonType): TypeTree => {
      if (kind === 'string') return this.#string(node, place);
      if (kind === 'number') return numberOf(node);
      if (kind === 'array') return this.#array(node, place);
      return kind === 'object' ? this.#object(node, place) : { kind };
    };
    if (node.types !== undefined) return unionOf(jsonKinds(node).map(make), false);
    const implied: JsonType[] = KINDS.filter((kind) => KEYWORDS[kind].some((keyword) => isSet(node[keyword])));
    if (place.within !== undefined) return implied.includes(place.within) ? make(place.within) : ANY;
    const types = implied.map((kind) => ({ ...make(kind), loose: true }));
    const [only] = types;
    if (only === undefined) return ANY;
    return types.length === 1 ? only : { kind: 'union', members: types, exclusive: false, loose: true };
  }

  #string(node: SchemaNode, { path }: Place): StringType {
    const { format } = isObject(node.source) ? node.source : {};
    return {
      kind: 'string',
      minLength: node.minLength === 0 ? undefined : node.minLength,
      maxLength: node.maxLength,
      pattern: node.pattern && this.#pattern(node.pattern.source, node.pattern.test !== undefined, path),
      format: typeof format === 'string' ? oneLine(format, LIMITS.names.compared) : undefined,
    };
  }

  /** Generated code runs a pattern as it is, so only those proven to end in linear time are kept. */
  #pattern(source: string, isSafe: boolean, path: string): string | undefined {
    if (isSafe && source.length <= LIMITS.text.pattern) return source;
    this.#notes.add(path, `the pattern ${oneLine(source, LIMITS.text.noteExample)} is not checked`);
    return undefined;
  }

  #child(node: SchemaNode | undefined, place: Place, step: string): TypeTree {
    if (node === undefined) return ANY;
    const path = place.path === '' ? step : `${place.path}.${step}`;
    return this.#type(node, { path, depth: place.depth + 1, within: undefined, chain: NO_CHAIN });
  }

  #array(node: SchemaNode, place: Place): ArrayType {
    const { contains, minContains, maxContains } = node;
    return {
      kind: 'array',
      prefix: (node.prefixItems ?? []).map((item, at) => this.#child(item, place, String(at))),
      items: this.#child(node.items, place, '[]'),
      minItems: node.minItems === 0 ? undefined : node.minItems,
      maxItems: node.maxItems,
      unique: node.uniqueItems,
      contains: contains && { type: this.#child(contains, place, '[]'), min: minContains, max: maxContains },
    };
  }

  #object(node: SchemaNode, place: Place): ObjectType {
    const required = new Set(node.required);
    const fields: ObjectType['fields'][number][] = [];
    const add = (name: string, type: () => TypeTree): void => {
      if (name.length <= LIMITS.convert.name) fields.push({ name, type: type(), optional: !required.has(name) });
      else this.#notes.add(place.path, 'a field with a very long name is left out');
    };
    for (const [name, part] of node.properties ?? [])
      add(name, () => this.#child(part, place, oneLine(name, LIMITS.names.compared)));
    const patterns: [string, TypeTree][] = [];
    let isComplete = true;
    for (const [pattern, part] of node.patternProperties ?? []) {
      const source = this.#pattern(pattern.source, pattern.test !== undefined, place.path);
      if (source === undefined) isComplete = false;
      else patterns.push([source, this.#child(part, place, '*')]);
    }
    const { additionalProperties } = node;
    const rest = additionalProperties && isComplete ? this.#child(additionalProperties, place, '*') : undefined;
    const names = new Set(fields.map(({ name }) => name));
    for (const name of required) if (!names.has(name)) add(name, () => (patterns.length > 0 ? ANY : (rest ?? ANY)));
    return {
      kind: 'object',
      fields,
      patterns,
      rest: rest?.kind === 'any' && patterns.length > 0 ? undefined : rest,
      names: node.propertyNames && this.#child(node.propertyNames, place, '*'),
      minFields: node.minProperties === 0 ? undefined : node.minProperties,
      maxFields: node.maxProperties,
    };
  }

  #lost(path: string, text: string): TypeTree {
    this.#notes.add(path, text);
    return ANY;
  }

  /** A name for a definition, unique and legal in every language. */
  #nameOf(node: SchemaNode): string {
    const known = this.#names.get(node);
    if (known !== undefined) return known;
    const plain = node === this.#root ? 'Root' : typeName(this.#titles.get(node.source) ?? '');
    let name = plain;
    for (let count = 2; this.#taken.has(name); count++) name = `${plain}${count}`;
    this.#taken.add(name);
    this.#names.set(node, name);
    return name;
  }
}

/** Returns a name in the usual form of a type: `list_issues` becomes `ListIssues`. */
function typeName(text: string): string {
  const words = text.slice(0, LIMITS.names.compared).split(/[^a-zA-Z0-9]+/);
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(name) ? name : `Type${name}`;
}

/** The names of definitions, by their schema. */
function definitionNames(schema: unknown): ReadonlyMap<unknown, string> {
  const holders = isObject(schema) ? [schema.$defs, schema.definitions] : [];
  return new Map(
    holders.flatMap((holder) => (isObject(holder) ? Object.entries(holder).map(([name, part]) => [part, name]) : [])),
  );
}

/** The nodes that several references lead to. */
function sharedTargets(root: SchemaNode): ReadonlySet<SchemaNode> {
  const once = new Set<SchemaNode>();
  const shared = new Set<SchemaNode>();
  const seen = new Set<SchemaNode>([root]);
  for (const node of seen) {
    if (node.ref !== undefined) (once.has(node.ref) ? shared : once).add(node.ref);
    for (const child of children(node)) seen.add(child);
  }
  return shared;
}

/** Whether a type is worth a name of its own. */
const isLarge = (type: TypeTree): boolean =>
  ['array', 'object', 'union', 'all'].includes(type.kind) || (type.kind === 'literals' && type.values.length > 3);

const KINDS = ['string', 'number', 'array', 'object'] as const;

/** The keywords that apply to one kind of value. */
const KEYWORDS: Readonly<Record<(typeof KINDS)[number], readonly (keyof SchemaNode)[]>> = {
  string: ['minLength', 'maxLength', 'pattern'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['prefixItems', 'items', 'contains', 'minItems', 'maxItems', 'uniqueItems'],
  object: [
    'properties',
    'patternProperties',
    'additionalProperties',
    'propertyNames',
    'required',
    'minProperties',
    'maxProperties',
  ],
};
const isSet = (value: unknown): boolean =>
  value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);

function jsonKinds({ types }: SchemaNode): JsonType[] {
  return [...new Set([...(types ?? [])].map((type) => (type === 'integer' ? 'number' : type) as JsonType))];
}

const numberOf = (node: SchemaNode): NumberType => ({
  kind: 'number',
  integer: node.types?.has('integer') === true && !node.types.has('number'),
  minimum: node.minimum,
  maximum: node.maximum,
  exclusiveMinimum: node.exclusiveMinimum,
  exclusiveMaximum: node.exclusiveMaximum,
  multipleOf: node.multipleOf,
});

/** Any value that, if it is an object, has these fields. */
const having = (names: readonly string[]): TypeTree => ({
  kind: 'object',
  loose: false,
  fields: names.map((name) => ({ name, type: ANY, optional: false })),
  patterns: [],
  rest: undefined,
  names: undefined,
  minFields: undefined,
  maxFields: undefined,
});

const isLong = (value: unknown): boolean => (JSON.stringify(value)?.length ?? 0) > LIMITS.convert.literal;
