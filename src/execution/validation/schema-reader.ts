/**
 * Parses an untrusted schema into nodes, within limits, or says why it cannot. Nothing is ever fetched: a reference
 * that leaves the document makes the schema unusable.
 * @module
 */
import { DEFAULTS } from '../../core/limits.ts';
import { isLinearPattern } from './linear-pattern.ts';
import { openNode, type PatternNode, type SchemaNode } from './schema-node.ts';

export interface SchemaLimits {
  readonly depth: number;
  readonly subSchemas: number;
}

/** The default limits. */
export const SCHEMA_LIMITS: SchemaLimits = {
  depth: DEFAULTS.limits.schemaDepth,
  subSchemas: DEFAULTS.limits.schemaNodes,
};

/** The schema is not used; the message says why. */
export class UnusableSchema extends Error {}

type Source = Readonly<Record<string, unknown>>;

/** Parses one document. */
export class SchemaReader {
  readonly #root: unknown;
  readonly #limits: SchemaLimits;
  readonly #nodes = new Map<unknown, SchemaNode>();
  readonly #anchors = new Map<string, unknown>();
  readonly #patterns = new Map<string, PatternNode>();
  /** Up to draft 7, keywords beside `$ref` are ignored, and those of 2019-09 and later have no meaning. */
  readonly #isOld: boolean;
  /** A custom dialect may give every keyword another meaning, or none. */
  readonly #isForeign: boolean;
  /** References are resolved after the walk, so that a long chain needs no deep stack. */
  readonly #untied: { readonly node: SchemaNode; readonly target: unknown }[] = [];
  readonly #report: ((source: unknown, reason: string) => void) | undefined;
  #count = 0;

  /** With `report`, a part that cannot be read allows everything and is reported, and `read` does not throw. */
  constructor(root: unknown, limits: SchemaLimits = SCHEMA_LIMITS, report?: (source: unknown, reason: string) => void) {
    this.#root = root;
    this.#limits = limits;
    this.#report = report;
    const dialect = isObject(root) ? own(root, '$schema') : undefined;
    this.#isOld = typeof dialect === 'string' && OLD_DIALECT.test(dialect);
    this.#isForeign = typeof dialect === 'string' && !this.#isOld && !NEW_DIALECT.test(dialect);
  }

  /** All patterns found so far. */
  get patterns(): Iterable<PatternNode> {
    return this.#patterns.values();
  }

  /** Parses the whole document. Throws `UnusableSchema`. */
  read(): SchemaNode {
    if (this.#isForeign) this.#refuse(this.#root, 'its $schema names an unknown dialect');
    const root = this.#read(this.#root, 0);
    for (let open = this.#untied.pop(); open !== undefined; open = this.#untied.pop()) {
      open.node.ref = this.#read(open.target, 1);
    }
    return root;
  }

  /** Returns a node that allows everything; without `report`, throws. */
  #refuse(source: unknown, reason: string): SchemaNode {
    if (this.#report === undefined) throw new UnusableSchema(reason);
    this.#report(source, reason);
    return openNode(source);
  }

  /** The same sub-schema always gives the same node. */
  #read(source: unknown, depth: number): SchemaNode {
    const known = isObject(source) ? this.#nodes.get(source) : undefined;
    if (known !== undefined) return known;
    const { subSchemas, depth: levels } = this.#limits;
    if (++this.#count > subSchemas) return this.#refuse(source, `it has more than ${subSchemas} sub-schemas`);
    if (depth > levels) return this.#refuse(source, `it is nested deeper than ${levels} levels`);
    const node = openNode(source);
    if (source === false) node.allows = false;
    if (!isObject(source)) return node;
    this.#nodes.set(source, node);
    const id = own(source, '$id');
    if (depth > 0 && typeof id === 'string' && !id.startsWith('#')) {
      this.#refuse(source, 'it contains another schema with its own $id');
    }
    const ref = own(source, '$ref') ?? this.#newer(source, '$dynamicRef') ?? this.#newer(source, '$recursiveRef');
    if (typeof ref === 'string') {
      this.#tie(node, ref);
      if (this.#isOld) return node;
    }
    this.#scalars(node, source);
    this.#arrays(node, source, depth + 1);
    this.#objects(node, source, depth + 1);
    this.#combinators(node, source, depth + 1);
    return node;
  }

  #tie(node: SchemaNode, ref: string): void {
    try {
      this.#untied.push({ node, target: this.#resolve(ref) });
    } catch (thrown) {
      if (!(thrown instanceof UnusableSchema)) throw thrown;
      this.#refuse(node.source, thrown.message);
    }
  }

  #scalars(node: SchemaNode, source: Source): void {
    const type = own(source, 'type');
    const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
    if (types.length > 0 && types.every((name) => TYPES.has(name))) {
      node.types = new Set(own(source, 'nullable') === true ? [...types, 'null'] : types);
    }
    if (Object.hasOwn(source, 'const')) node.constant = { value: source.const };
    const all = own(source, 'enum');
    if (Array.isArray(all)) {
      const isScalar = (value: unknown) => typeof value !== 'object' || value === null;
      node.enumeration = {
        all,
        scalars: new Set(all.filter(isScalar)),
        others: all.filter((value) => !isScalar(value)),
      };
    }
    node.minimum = numberIn(source, 'minimum');
    node.maximum = numberIn(source, 'maximum');
    node.exclusiveMinimum = numberIn(source, 'exclusiveMinimum');
    node.exclusiveMaximum = numberIn(source, 'exclusiveMaximum');
    // Draft 4 wrote these as booleans beside the limit.
    if (own(source, 'exclusiveMinimum') === true) [node.exclusiveMinimum, node.minimum] = [node.minimum, undefined];
    if (own(source, 'exclusiveMaximum') === true) [node.exclusiveMaximum, node.maximum] = [node.maximum, undefined];
    const multipleOf = numberIn(source, 'multipleOf');
    node.multipleOf = multipleOf !== undefined && multipleOf > 0 ? multipleOf : undefined;
    node.minLength = numberIn(source, 'minLength');
    node.maxLength = numberIn(source, 'maxLength');
    const pattern = own(source, 'pattern');
    if (typeof pattern === 'string') node.pattern = this.#pattern(pattern);
  }

  #arrays(node: SchemaNode, source: Source, depth: number): void {
    node.minItems = numberIn(source, 'minItems');
    node.maxItems = numberIn(source, 'maxItems');
    node.uniqueItems = own(source, 'uniqueItems') === true;
    const items = own(source, 'items');
    if (Array.isArray(items)) {
      node.prefixItems = items.map((item) => this.#read(item, depth));
      node.items = this.#sub(source, 'additionalItems', depth);
    } else {
      node.prefixItems = this.#isOld ? undefined : this.#list(source, 'prefixItems', depth);
      node.items = this.#sub(source, 'items', depth);
    }
    node.contains = this.#sub(source, 'contains', depth);
    if (this.#isOld) return;
    node.minContains = numberIn(source, 'minContains') ?? 1;
    node.maxContains = numberIn(source, 'maxContains');
    node.unevaluatedItems = this.#sub(source, 'unevaluatedItems', depth);
  }

  #objects(node: SchemaNode, source: Source, depth: number): void {
    const properties = own(source, 'properties');
    if (isObject(properties)) {
      node.properties = new Map(Object.keys(properties).map((name) => [name, this.#read(properties[name], depth)]));
    }
    const patterns = own(source, 'patternProperties');
    if (isObject(patterns)) {
      node.patternProperties = Object.keys(patterns).map((name) => [
        this.#pattern(name),
        this.#read(patterns[name], depth),
      ]);
    }
    node.additionalProperties = this.#sub(source, 'additionalProperties', depth);
    node.propertyNames = this.#sub(source, 'propertyNames', depth);
    if (!this.#isOld) node.unevaluatedProperties = this.#sub(source, 'unevaluatedProperties', depth);
    node.required = stringsIn(own(source, 'required'));
    node.minProperties = numberIn(source, 'minProperties');
    node.maxProperties = numberIn(source, 'maxProperties');
    const required: (readonly [string, readonly string[]])[] = [];
    const schemas: (readonly [string, SchemaNode])[] = [];
    for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
      const dependencies = keyword === 'dependencies' ? own(source, keyword) : this.#newer(source, keyword);
      if (!isObject(dependencies)) continue;
      for (const name of Object.keys(dependencies)) {
        const names = stringsIn(dependencies[name]);
        if (names !== undefined) required.push([name, names]);
        else schemas.push([name, this.#read(dependencies[name], depth)]);
      }
    }
    if (required.length > 0) node.dependentRequired = required;
    if (schemas.length > 0) node.dependentSchemas = schemas;
  }

  #combinators(node: SchemaNode, source: Source, depth: number): void {
    node.allOf = this.#list(source, 'allOf', depth);
    node.anyOf = this.#list(source, 'anyOf', depth);
    node.oneOf = this.#list(source, 'oneOf', depth);
    node.not = this.#sub(source, 'not', depth);
    node.if = this.#sub(source, 'if', depth);
    if (node.if === undefined) return;
    node.thenPart = this.#sub(source, 'then', depth);
    node.elsePart = this.#sub(source, 'else', depth);
  }

  /** Returns a keyword of 2019-09 or later. */
  #newer(source: Source, keyword: string): unknown {
    return this.#isOld ? undefined : own(source, keyword);
  }

  #sub(source: Source, keyword: string, depth: number): SchemaNode | undefined {
    const value = own(source, keyword);
    // `true` allows everything, but counts as evaluated, on which `unevaluatedProperties` depends.
    return isObject(value) || typeof value === 'boolean' ? this.#read(value, depth) : undefined;
  }

  #list(source: Source, keyword: string, depth: number): readonly SchemaNode[] | undefined {
    const value = own(source, keyword);
    return Array.isArray(value) && value.length > 0 ? value.map((one) => this.#read(one, depth)) : undefined;
  }

  #pattern(source: string): PatternNode {
    let pattern = this.#patterns.get(source);
    if (pattern === undefined) {
      const linear = isLinearPattern(source);
      pattern = { source, linear, test: linear ? nativeTest(source) : undefined };
      this.#patterns.set(source, pattern);
    }
    return pattern;
  }

  #resolve(ref: string): unknown {
    const rootId = isObject(this.#root) ? own(this.#root, '$id') : undefined;
    const local = typeof rootId === 'string' && ref.startsWith(rootId) ? ref.slice(rootId.length) || '#' : ref;
    if (local === '#' || local === '#/') return this.#root;
    if (local.startsWith('#/')) return this.#pointer(local);
    if (local.startsWith('#')) return this.#anchor(local.slice(1));
    throw new UnusableSchema(`its reference "${clip(ref)}" leads out of the schema; nothing is fetched`);
  }

  #pointer(pointer: string): unknown {
    let target: unknown = this.#root;
    for (const part of pointer.slice(2).split('/')) {
      const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
      const holder: unknown = target;
      if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) {
        throw new UnusableSchema(`its reference "${clip(pointer)}" has no target`);
      }
      target = (holder as Source)[key];
    }
    return target;
  }

  /** Anchors are collected once, from where definitions are. */
  #anchor(name: string): unknown {
    if (this.#anchors.size === 0 && isObject(this.#root)) {
      for (const holder of [{ root: this.#root }, own(this.#root, '$defs'), own(this.#root, 'definitions')]) {
        if (!isObject(holder)) continue;
        for (const candidate of Object.values(holder)) {
          if (!isObject(candidate)) continue;
          for (const keyword of ['$anchor', '$dynamicAnchor', '$id']) {
            const anchor = own(candidate, keyword);
            if (typeof anchor === 'string') this.#anchors.set(anchor.replace(/^#/, ''), candidate);
          }
        }
      }
    }
    const target = this.#anchors.get(name);
    if (target === undefined) throw new UnusableSchema(`its reference "#${clip(name)}" has no target`);
    return target;
  }
}

/** The `$schema` of draft 3 to draft 7. */
const OLD_DIALECT = /^https?:\/\/json-schema\.org\/draft-0[3467]\/(?:hyper-)?schema#?$/;
/** The `$schema` of later drafts; without a version the newest is meant. OpenAPI's dialect only adds annotations. */
const NEW_DIALECT =
  /^https?:\/\/json-schema\.org\/(?:draft\/(?:2019-09|2020-12|next)\/)?(?:hyper-)?schema#?$|^https:\/\/spec\.openapis\.org\/oas\/3\.\d\/dialect\/[\w-]{1,40}$/;

const TYPES: ReadonlySet<string> = new Set(['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']);

/** Compiles a pattern as ECMAScript does; undefined when it is invalid. */
export function nativeTest(source: string): ((text: string) => boolean) | undefined {
  for (const flags of ['u', '']) {
    try {
      const expression = new RegExp(source, flags);
      return (text) => expression.test(text);
    } catch {
      // Older schemas escape more than Unicode mode allows, so plain mode is tried next.
    }
  }
  return undefined;
}

const isObject = (value: unknown): value is Source =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (source: Source, key: string): unknown => (Object.hasOwn(source, key) ? source[key] : undefined);

const numberIn = (source: Source, key: string): number | undefined => {
  const value = own(source, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
};

const stringsIn = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;

const clip = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
