/**
 * Tells whether a value certainly matches a schema. Returns false for an unknown keyword or too much work. Used to
 * leave out values that an API might refuse.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { typesOf } from './merge-schemas.ts';
import { lookUp } from './schema-pointer.ts';
import { ANNOTATIONS, entriesOf, isNode, isSame, listOf, type Node, namesIn } from './schema-tree.ts';

/** Whether a JSON value fits a schema, for certain. */
export function surelyFits(value: unknown, schema: Node): boolean {
  return new Checker(schema).fits(value, schema, 0);
}

class Checker {
  readonly #root: Node;
  #steps = 0;

  constructor(root: Node) {
    this.#root = root;
  }

  fits(value: unknown, schema: unknown, depth: number): boolean {
    if (schema === true) return true;
    if (!isNode(schema) || depth > LIMITS.schema.depth || ++this.#steps > LIMITS.schema.nodes) return false;
    return Object.keys(schema).every((key) => ANNOTATIONS.has(key) || this.#keyword(key, value, schema, depth + 1));
  }

  #keyword(key: string, value: unknown, schema: Node, depth: number): boolean {
    const said = schema[key];
    switch (key) {
      case '$ref':
        return this.fits(value, lookUp(String(said), this.#root), depth);
      case 'type':
        return typesOf(said).some((type) => isOfType(value, type));
      case 'enum':
        return listOf(said).some((one) => isSame(one, value));
      case 'const':
        return isSame(said, value);
      case 'anyOf':
        return listOf(said).some((one) => this.fits(value, one, depth));
      case 'allOf':
        return listOf(said).every((one) => this.fits(value, one, depth));
      case 'items':
        return schema.prefixItems === undefined && listOf(value).every((item) => this.fits(item, said, depth));
      case 'required':
        return !isNode(value) || namesIn(said).every((name) => Object.hasOwn(value, name));
      case 'properties':
        return (
          !isNode(value) ||
          entriesOf(said).every(([name, one]) => lacks(value, name) || this.fits(value[name], one, depth))
        );
      case 'additionalProperties':
        return !isNode(value) || othersIn(value, schema).every((name) => this.fits(value[name], said, depth));
      case 'minimum':
        return typeof value !== 'number' || value >= Number(said);
      case 'maximum':
        return typeof value !== 'number' || value <= Number(said);
      case 'minLength':
        return typeof value !== 'string' || [...value].length >= Number(said);
      case 'maxLength':
        return typeof value !== 'string' || [...value].length <= Number(said);
      case 'minItems':
        return !Array.isArray(value) || value.length >= Number(said);
      case 'maxItems':
        return !Array.isArray(value) || value.length <= Number(said);
      default:
        return false;
    }
  }
}

const lacks = (value: Node, name: string): boolean => !Object.hasOwn(value, name);

/** Returns the names that the schema does not list. */
const othersIn = (value: Node, { properties, patternProperties }: Node): string[] =>
  patternProperties === undefined
    ? Object.keys(value).filter((name) => !isNode(properties) || lacks(properties, name))
    : [];

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'object':
      return isNode(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
