/**
 * Renames parameters whose names an API refuses. Returns the schema with new names at its root, and the mapping.
 * @module
 */
import { createNameTable, isLegalName, type NameRule } from './names.ts';
import { escapePart, unescapePart } from './schema-pointer.ts';
import { entriesOf, isNode, mapSchema, type Node, namesIn } from './schema-tree.ts';

/** A schema and its new names; the map is empty when all were legal. */
interface RenamedParameters {
  readonly schema: Node;
  /** New name to the tool's own. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** Anthropic's rule: `^[a-zA-Z0-9_.-]{1,64}$`. */
export const ANTHROPIC_PARAMETER_RULE: NameRule = { maxLength: 64, letterFirst: false, characters: '.-' };
/** Gemini's rule: `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`. */
export const GEMINI_PARAMETER_RULE: NameRule = { maxLength: 64, letterFirst: true, characters: '' };

/** The mapping when all names are legal. */
export const NONE_RENAMED: ReadonlyMap<string, string> = new Map();

/** Renames what the rule refuses. */
export function renameParameters(schema: Node, rule: NameRule): RenamedParameters {
  const names = Object.keys(isNode(schema.properties) ? schema.properties : {});
  if (names.every((name) => isLegalName(name, rule))) return { schema, renamed: NONE_RENAMED };
  const table = createNameTable(
    names.map((name) => ({ name })),
    rule,
  );
  const nameOf = (name: string): string => table.nameOf({ server: '', tool: name }) ?? name;
  const changed = names.filter((name) => nameOf(name) !== name);
  const references = new Map(
    changed.map((name) => [`#/properties/${escapePart(name)}`, `#/properties/${escapePart(nameOf(name))}`]),
  );
  const pointed = mapSchema(schema, (node) => moved(node, references)) as Node;
  return {
    schema: {
      ...pointed,
      properties: Object.fromEntries(entriesOf(pointed.properties).map(([name, one]) => [nameOf(name), one])),
      ...(schema.required !== undefined && { required: namesIn(schema.required).map(nameOf) }),
      ...(schema.propertyOrdering !== undefined && { propertyOrdering: namesIn(schema.propertyOrdering).map(nameOf) }),
    },
    renamed: new Map(changed.map((name) => [nameOf(name), name])),
  };
}

/** Updates references into a renamed parameter. */
function moved(node: Node, references: ReadonlyMap<string, string>): Node {
  if (typeof node.$ref !== 'string') return node;
  const [hash, properties, name, ...rest] = node.$ref.split('/');
  const target = references.get(`${hash}/${properties}/${escapePart(unescapePart(name ?? ''))}`);
  return target === undefined ? node : { ...node, $ref: [target, ...rest].join('/') };
}
