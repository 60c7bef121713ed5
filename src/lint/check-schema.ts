/**
 * Checks a tool's input schema for what APIs refuse and what agents cannot infer. Walks every node once, within limits,
 * and fetches nothing.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import type { Breach, LintedTool, RuleId } from './rules.ts';

const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const SAYS_TYPE = ['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', '$dynamicRef', 'if', 'not'];

type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text of the schema that a model reads. */
interface SchemaText {
  readonly where: string;
  readonly text: string;
}

/** Returns what is wrong, and every description in the schema. */
export function checkSchema({ inputSchema }: Pick<LintedTool, 'inputSchema'>): {
  readonly breaches: Breach[];
  readonly texts: SchemaText[];
} {
  if (!isNode(inputSchema)) return { breaches: [['schema-not-object']], texts: [] };
  const walk = new Walk(inputSchema);
  walk.root();
  return { breaches: walk.breaches(), texts: walk.texts };
}

class Walk {
  readonly texts: SchemaText[] = [];
  readonly #root: Node;
  readonly #found = new Map<RuleId, Set<string>>();
  #nodes = 0;

  constructor(root: Node) {
    this.#root = root;
  }

  breaches(): Breach[] {
    return [...this.#found].map(([rule, where]) => [rule, ...where]);
  }

  root(): void {
    const root = this.#root;
    const unions = ['anyOf', 'oneOf', 'allOf'].filter((keyword) => Object.hasOwn(root, keyword));
    if (unions.length > 0) this.#add('schema-root-union', unions.join(', '));
    const { type } = root;
    if (type !== 'object' && !(type === undefined && (unions.length > 0 || typeof root.$ref === 'string')))
      this.#add('schema-not-object', type === undefined ? 'no type' : `type ${JSON.stringify(type)}`.slice(0, 60));
    this.#visit(root, '', 0);
    for (const [name, parameter] of Object.entries(isNode(root.properties) ? root.properties : {})) {
      if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) this.#add('parameter-name', name.slice(0, 120));
      if (!isNode(parameter)) continue;
      // In deeper levels a missing type may be intended.
      if (!SAYS_TYPE.some((keyword) => Object.hasOwn(parameter, keyword))) this.#add('parameter-type', name);
      const said = [parameter.description, parameter.title].some(
        (text) => typeof text === 'string' && text.trim() !== '',
      );
      // A referenced schema may have the description.
      if (!said && parameter.$ref === undefined) this.#add('parameter-description', name);
    }
  }

  /** `path` is empty for the root; `depth` counts schemas inside schemas. */
  #visit(node: unknown, path: string, depth: number): void {
    if (!isNode(node) || ++this.#nodes > LIMITS.schema.expanded) return;
    if (depth > LIMITS.schema.deepNesting) {
      this.#add('schema-deep', path);
      return;
    }
    this.#keywords(node, path);
    if (typeof node.description === 'string' && path !== '') this.texts.push({ where: path, text: node.description });
    const under = (name: string) => (path === '' ? name : `${path}.${name}`);
    for (const [name, child] of Object.entries(isNode(node.properties) ? node.properties : {})) {
      this.#visit(child, under(name), depth + 1);
    }
    const items = Array.isArray(node.items) ? node.items : [node.items];
    for (const child of [...items, ...listOf(node.prefixItems)]) this.#visit(child, `${path}[]`, depth + 1);
    this.#visit(node.additionalProperties, `${path}{}`, depth + 1);
    // The value is on the same level.
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      for (const child of listOf(node[keyword])) this.#visit(child, path, depth + (path === '' ? 1 : 0));
    }
    for (const keyword of ['$defs', 'definitions']) {
      const defined = node[keyword];
      for (const [name, child] of Object.entries(isNode(defined) ? defined : {}))
        this.#visit(child, `${keyword}.${name}`, 1);
    }
  }

  #keywords(node: Node, path: string): void {
    const place = path || 'the schema itself';
    const invalid = (keyword: string) => this.#add('schema-invalid', path === '' ? keyword : `${path}: ${keyword}`);
    const { type, $ref, properties, required, pattern, items } = node;
    if (
      type !== undefined &&
      !(Array.isArray(type) ? type.length > 0 && type.every((one) => TYPES.has(one)) : TYPES.has(type))
    )
      invalid('type');
    if (node.enum !== undefined && !(Array.isArray(node.enum) && node.enum.length > 0)) invalid('enum');
    if (properties !== undefined && !isNode(properties)) invalid('properties');
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const value = node[keyword];
      if (value !== undefined && !(Array.isArray(value) && value.length > 0)) invalid(keyword);
    }
    if (pattern !== undefined && !isPattern(pattern)) invalid('pattern');
    if (typeof $ref === 'string' && !this.#resolves($ref))
      this.#add('schema-reference', `${place}: ${$ref.slice(0, 80)}`);
    const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'));
    if (isArray && items === undefined && node.prefixItems === undefined && $ref === undefined)
      this.#add('array-items', place);
    // Drafts 3 and 4 had `required: true` inside a parameter; current readers ignore it.
    if (required !== undefined && !(Array.isArray(required) && required.every((name) => typeof name === 'string')))
      invalid('required');
    else if (isNode(properties) || (path === '' && type === 'object')) {
      const known = isNode(properties) ? properties : {};
      for (const name of listOf(required)) {
        const defined = Object.hasOwn(known, String(name));
        if (!defined) this.#add('required-unknown', path === '' ? String(name) : `${path}.${name}`);
      }
    }
  }

  #resolves(reference: string): boolean {
    // An anchor is inside the schema, so a reader of the whole schema finds it.
    if (!reference.startsWith('#')) return false;
    if (reference === '#' || !reference.startsWith('#/')) return true;
    let node: unknown = this.#root;
    for (const part of reference.slice(2, LIMITS.schema.reference).split('/')) {
      const name = decoded(part).replace(/~1/g, '/').replace(/~0/g, '~');
      if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return false;
      node = (node as Record<string, unknown>)[name];
    }
    return true;
  }

  #add(rule: RuleId, where: string): void {
    const places = this.#found.get(rule) ?? new Set();
    this.#found.set(rule, places);
    if (places.size < LIMITS.shown.listed) places.add(where);
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A lone percent sign is literal.
    return part;
  }
}

/** Tells whether a text is a valid regular expression; it is not run. */
function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false;
  for (const flags of ['u', '']) {
    try {
      new RegExp(pattern.slice(0, LIMITS.text.pattern), flags);
      return true;
    } catch {
      // Valid without the flag is valid for most readers.
    }
  }
  return false;
}
