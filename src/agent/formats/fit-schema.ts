/**
 * Fits a schema with an object root to an API's rules. Returns the schema, what was left out, and why it does not fit,
 * if so.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { setOwn } from '../../json/json-copy.ts';
import { requiredSets } from '../../schema/schema-merge.ts';
import { typeText } from '../../schema/type-text.ts';
import type { SchemaDialect } from './dialects.ts';
import { type FittedKeywords, fitKeyword, fitValues, needsSplit } from './fit-keywords.ts';
import { mergeAllOf, typesOf } from './merge-schemas.ts';
import { allowsNull, impliedTypes, isNever, liftReference, nullable, orNull, withoutNullable } from './schema-facts.ts';
import { describeLeftOut, withNote } from './schema-notes.ts';
import { References } from './schema-references.ts';
import { ANNOTATIONS, distinct, entriesOf, isNode, listOf, type Node, namesIn, SAYING } from './schema-tree.ts';

/** A schema as an API accepts it. */
interface FittedSchema {
  readonly schema: Node;
  /** Why it does not fit; empty when it does. */
  readonly misfits: readonly string[];
  /** Keywords that were left out or rewritten. */
  readonly left: readonly string[];
}

/** Fits a schema. Parts too large or too deep to expand are cut, or make it not fit. */
export function fitSchema(schema: Node, dialect: SchemaDialect): FittedSchema {
  const inline = dialect.references === 'inline';
  const first = new Fitter(schema, dialect, inline);
  const fitted = first.fit();
  if (inline || dialect.recursion || !first.references.areCircular()) return fitted;
  return dialect.exact
    ? { ...fitted, misfits: [...fitted.misfits, 'it refers to itself'] }
    : new Fitter(schema, dialect, true).fit();
}

/** A node being built. */
type Keywords = Record<string, unknown>;

/** A position in the schema. */
interface Place {
  /** Names on the path here, for messages. */
  readonly at: string;
  readonly isTop: boolean;
  readonly depth: number;
  /** References that were expanded on the path here. */
  readonly inside: readonly string[];
}

/** Keywords that have code of their own. */
const HANDLED: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'patternProperties', 'items'],
  ...['description', 'prefixItems', 'unevaluatedProperties', 'unevaluatedItems'],
]);

class Fitter {
  readonly references: References;
  readonly #root: Node;
  readonly #dialect: SchemaDialect;
  readonly #inline: boolean;
  readonly #misfits = new Set<string>();
  readonly #left = new Set<string>();
  #nodes = 0;

  constructor(root: Node, dialect: SchemaDialect, inline: boolean) {
    this.#root = root;
    this.#dialect = dialect;
    this.#inline = inline;
    this.references = new References(root);
  }

  fit(): FittedSchema {
    const start: Place = { at: '', isTop: false, depth: 0, inside: [] };
    const schema = this.#plain(this.#root, { ...start, isTop: true });
    const definitions = this.references.writeAll((target, name) => this.#visit(target, { ...start, at: name }));
    return {
      schema: definitions.length > 0 ? { ...schema, $defs: Object.fromEntries(definitions) } : schema,
      misfits: [...this.#misfits].slice(0, LIMITS.validation.misfits),
      left: [...this.#left],
    };
  }

  #visit(value: unknown, place: Place): Node {
    if (
      ++this.#nodes > (this.#inline ? LIMITS.schema.nodes : LIMITS.schema.expanded) ||
      place.depth > LIMITS.schema.depth
    )
      return this.#cut('a part that is too large');
    const raw = withoutNullable(isNode(value) ? value : {});
    if (value === false) this.#misfit(`${where(place)} accepts no value`);
    const lifted = liftReference(raw);
    const { node, inside } = Array.isArray(lifted.allOf)
      ? this.#merged(lifted, place)
      : { node: lifted, inside: place.inside };
    const here = inside === place.inside ? place : { ...place, inside };
    if (typeof node.$ref === 'string') return this.#reference(node, here);
    if (Array.isArray(node.anyOf) || Array.isArray(node.oneOf)) return this.#choice(node, here);
    return needsSplit(node, this.#dialect) ? this.#choice(orNull(node), here) : this.#plain(node, here);
  }

  /** Returns the node without `allOf`. */
  #merged(node: Node, place: Place): { readonly node: Node; readonly inside: readonly string[] } {
    const inside = [...place.inside];
    const merged = mergeAllOf(node, (part) => {
      if (!isNode(part) || typeof part.$ref !== 'string') return part;
      if (rounds(inside, part.$ref) >= LIMITS.schema.rounds) return this.#cut('a schema that refers to itself');
      inside.push(part.$ref);
      return this.references.expand(part);
    });
    if (merged.conflicts.length > 0) this.#leave('allOf', `${where(place)} has parts of allOf that cannot be merged`);
    return { node: merged.node, inside };
  }

  #reference(node: Node, place: Place): Node {
    const { $ref, ...beside } = node as Node & { readonly $ref: string };
    const restricts = Object.keys(beside).some((key) => !ANNOTATIONS.has(key));
    if (this.#inline || restricts) {
      if (rounds(place.inside, $ref) >= LIMITS.schema.rounds) {
        const target = this.references.target($ref);
        const type = isNode(target) ? typesOf(target.type)[0] : undefined;
        return { ...this.#cut('a schema that refers to itself'), type: type ?? 'object', ...this.#words(node) };
      }
      const inner = { ...deeper(place), inside: [...place.inside, $ref] };
      const { $ref: _reference, ...target } = this.references.expand({ $ref });
      return this.#visit(restricts ? { allOf: [beside, target] } : { ...target, ...beside }, inner);
    }
    const reference: Node = { $ref: this.references.keep($ref) };
    const words = this.#words(beside);
    // No other keyword may be beside a reference.
    return Object.keys(words).length > 0 ? { anyOf: [reference], ...words } : reference;
  }

  #choice(node: Node, place: Place): Node {
    const { anyOf, oneOf, ...own } = node;
    if (anyOf !== undefined && oneOf !== undefined) this.#leave('oneOf', `${where(place)} has anyOf and oneOf at once`);
    const sets = requiredSets(node);
    if (sets.length > 0) {
      this.#left.add('anyOf');
      const note = `Give one of: ${sets.map((names) => names.join(' + ')).join(' | ')}.`;
      return this.#plain({ ...own, description: withNote(own.description, note) }, place);
    }
    const base = Object.fromEntries(Object.entries(own).filter(([key]) => !ANNOTATIONS.has(key)));
    const all: Node[] = [];
    for (const branch of listOf(anyOf ?? oneOf)) {
      if (isNever(branch)) continue;
      const inside = [...place.inside];
      const whole = this.#distributed(base, branch, place, inside);
      if (whole !== undefined) all.push(this.#visit(whole, { ...deeper(place), inside }));
    }
    const branches = distinct(all);
    const words = this.#words(own);
    const [only] = branches;
    if (!only) return this.#plain(own, place);
    if (branches.length === 1 && only.$ref === undefined) return { ...only, ...words };
    if (branches.length === 1 && Object.keys(words).length === 0) return only;
    const keyword = anyOf === undefined && this.#dialect.oneOf ? 'oneOf' : 'anyOf';
    if (keyword === 'anyOf' && anyOf === undefined) this.#left.add('oneOf');
    return { [keyword]: branches, ...words };
  }

  /** Returns a branch merged with what applies to all branches; undefined when they contradict. */
  #distributed(base: Node, branch: unknown, place: Place, inside: string[]): unknown {
    if (Object.keys(base).length === 0) return branch;
    const { node, conflicts } = mergeAllOf({ allOf: [base, branch] }, (part) => {
      if (!isNode(part) || typeof part.$ref !== 'string' || rounds(inside, part.$ref) >= LIMITS.schema.rounds)
        return part;
      inside.push(part.$ref);
      return this.references.expand(part);
    });
    if (conflicts.includes('type') || conflicts.includes('enum')) return undefined;
    if (conflicts.length > 0) this.#leave('anyOf', `${where(place)} has alternatives that cannot be merged`);
    return node;
  }

  #plain(node: Node, place: Place): Node {
    const { keeps, misfits, exact } = this.#dialect;
    const out: Keywords = {};
    const left: Keywords = {};
    const types = node.type === undefined ? impliedTypes(node) : typesOf(node.type);
    if (types.length > 0) out.type = types.length === 1 ? types[0] : types;
    for (const fitted of fitValues(node, this.#dialect)) this.#take(fitted, out, left);
    if (types.includes('object')) this.#object(node, place, out, left);
    if (types.includes('array')) this.#array(node, place, out, left);
    for (const key of Object.keys(node)) {
      if (HANDLED.has(key)) continue;
      if (misfits.has(key)) this.#misfit(`${where(place)} uses ${key}`);
      else if (keeps.has(key)) this.#take(fitKeyword(key, node[key], this.#dialect), out, left);
      else if (SAYING.has(key)) left[key] = node[key];
    }
    if (exact && types.length === 0 && out.enum === undefined && out.const === undefined)
      this.#misfit(`${where(place)} may be anything`);
    for (const key of Object.keys(left)) if (key !== 'note') this.#left.add(key);
    const description = describeLeftOut(node.description, left);
    if (description !== undefined) out.description = description;
    return out;
  }

  #object(node: Node, place: Place, out: Keywords, left: Keywords): void {
    const { closed, allRequired, keeps, exact } = this.#dialect;
    const asked = new Set(namesIn(node.required));
    const own = isNode(node.properties) ? node.properties : {};
    const known = Object.keys(own).filter((name) => asked.has(name) || !isNever(own[name]));
    const missing = [...asked].filter((name) => !Object.hasOwn(own, name));
    if (missing.length > 0) {
      if (exact) this.#misfit(`${where(place)} requires ${String(missing[0]).slice(0, 64)} and does not describe it`);
      this.#left.add('required');
    }
    const names = exact ? known : [...known, ...missing];
    const properties: Keywords = {};
    for (const name of names) {
      const at = place.at === '' ? name : `${place.at}.${name}`;
      const fitted = this.#visit(Object.hasOwn(own, name) ? own[name] : true, deeper(place, at));
      const mayLack = allRequired && !asked.has(name) && !allowsNull(fitted);
      setOwn(properties, name, mayLack ? nullable(fitted) : fitted);
    }
    const required = allRequired ? names : [...asked].filter((name) => !exact || Object.hasOwn(own, name));
    if (names.length > 0 || place.isTop) out.properties = properties;
    if (required.length > 0 || allRequired) out.required = required;
    if (closed) {
      this.#close(node, known.length === 0 && !place.isTop, place);
      out.additionalProperties = false;
    } else if (keeps.has('additionalProperties')) {
      const more = this.#open(node, place);
      if (more !== undefined) out.additionalProperties = more;
    } else if (isNode(node.additionalProperties) && Object.keys(node.additionalProperties).length > 0)
      left.note = `Any property names, each value ${typeText(node.additionalProperties, this.#root, { maxChars: 80 })}.`;
  }

  /** Reports a misfit if closing the object would forbid properties that it allows. */
  #close(node: Node, isEmpty: boolean, place: Place): void {
    const { additionalProperties: more, patternProperties } = node;
    if (more === false && patternProperties === undefined) return;
    if (patternProperties !== undefined || (more !== undefined && more !== false) || isEmpty)
      this.#misfit(`${where(place)} allows properties that are not listed`);
  }

  /** Returns the schema of further properties of an open object; undefined when it has none. */
  #open(node: Node, place: Place): unknown {
    const { additionalProperties: more, patternProperties } = node;
    const patterns = entriesOf(patternProperties);
    const inner = deeper(place, `${place.at}.*`);
    if (patterns.length > 0) this.#left.add('patternProperties');
    if (isNode(more)) return this.#visit(more, inner);
    if (patterns.length === 0 || more === true) return more;
    return patterns.length === 1 ? this.#visit(patterns[0]?.[1], inner) : undefined;
  }

  #array(node: Node, place: Place, out: Keywords, left: Keywords): void {
    const { keeps, exact } = this.#dialect;
    const inner = deeper(place, `${place.at}[]`);
    const { prefixItems, items } = node;
    if (!Array.isArray(prefixItems)) {
      if (exact && !isNode(items)) this.#misfit(`${where(place)} does not describe its items`);
      out.items = isNode(items) ? this.#visit(items, inner) : {};
      return;
    }
    if (exact) this.#misfit(`${where(place)} uses prefixItems`);
    const fitted = prefixItems.map((one) => this.#visit(one, inner));
    if (keeps.has('prefixItems')) {
      out.prefixItems = fitted;
      out.items = isNode(items) ? this.#visit(items, inner) : {};
      return;
    }
    this.#left.add('prefixItems');
    left.note = `${prefixItems.length} items, in this order: ${prefixItems
      .map((one) => typeText(isNode(one) ? one : {}, this.#root, { maxChars: 60 }))
      .join(', ')
      .slice(0, 300)}.`;
    const different = distinct(fitted);
    out.items = different.length === 1 ? different[0] : { anyOf: different };
  }

  /** Records what became of a keyword. */
  #take({ kept, left, changed, misfit }: FittedKeywords, out: Keywords, said: Keywords): void {
    Object.assign(out, kept);
    Object.assign(said, left);
    if (changed !== undefined) this.#left.add(changed);
    if (misfit !== undefined && this.#dialect.exact) this.#misfit(misfit);
  }

  /** Returns title and description, with left-out keywords described in words. */
  #words(node: Node): Node {
    const said = Object.entries(node).filter(([key]) => SAYING.has(key) && !this.#dialect.keeps.has(key));
    for (const [key] of said) this.#left.add(key);
    const description = describeLeftOut(node.description, Object.fromEntries(said));
    const kept = node.default !== undefined && this.#dialect.keeps.has('default') ? { default: node.default } : {};
    return {
      ...(typeof node.title === 'string' && { title: node.title }),
      ...kept,
      ...(description !== undefined && { description }),
    };
  }

  #cut(what: string): Node {
    this.#leave(what, what);
    return {};
  }

  #leave(keyword: string, misfit: string): void {
    if (this.#dialect.exact) this.#misfit(misfit);
    this.#left.add(keyword);
  }

  #misfit(why: string): void {
    if (this.#misfits.size < LIMITS.validation.misfits) this.#misfits.add(why);
  }
}

const deeper = ({ at: outer, depth, inside }: Place, at = outer): Place => ({
  at,
  isTop: false,
  depth: depth + 1,
  inside,
});
const where = ({ at }: Place): string => (at === '' ? 'it' : at.slice(0, 100));
const rounds = (inside: readonly string[], reference: string): number =>
  inside.reduce((count, one) => (one === reference ? count + 1 : count), 0);
