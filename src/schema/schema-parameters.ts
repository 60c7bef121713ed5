/**
 * Lists the parameters of a tool's input schema, required ones first.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { branchesOf, entriesOf, wholeNode } from './schema-merge.ts';

/** One parameter, its schema with references followed. */
export interface SchemaParameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/**
 * Returns all parameters. For alternatives, returns the parameters of all of them; a parameter is required if each
 * requires it. Some servers write the parameters in place of the schema; these are read too.
 */
export function parametersOf(inputSchema: JsonSchema | undefined): SchemaParameter[] {
  const root = inputSchema ?? {};
  const node = wholeNode(root, root);
  const branches = branchesOf(node)
    .slice(0, LIMITS.schema.branches)
    .filter(isObject)
    .map((branch) => wholeNode(branch, root));
  const properties = new Map(branches.flatMap((branch) => entriesOf(branch.properties)));
  for (const [name, schema] of entriesOf(node.properties)) properties.set(name, schema);
  if (properties.size === 0 && isShorthand(node))
    for (const [name, schema] of entriesOf(node)) properties.set(name, schema);
  const own = namesIn(node.required);
  const [first = new Set<unknown>(), ...others] = branches.map((branch) => namesIn(branch.required));
  const isRequired = (name: string): boolean =>
    own.has(name) || (first.has(name) && others.every((other) => other.has(name)));
  const all = [...properties].map(([name, schema]) => ({ name, schema, required: isRequired(name) }));
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)].map(
    ({ name, schema, required }) => {
      let followed: JsonSchema | undefined;
      return {
        name,
        required,
        // Lazy, because few of thousands are read.
        get schema() {
          followed ??= isObject(schema) ? wholeNode(schema, root) : {};
          return followed;
        },
      };
    },
  );
}

const namesIn = (required: unknown): ReadonlySet<unknown> => new Set(Array.isArray(required) ? required : []);

/** `{"days": {"type": "integer"}}` in place of a schema: no keywords, every value a schema. */
function isShorthand(node: JsonSchema): boolean {
  const values = Object.values(node);
  return values.length > 0 && values.every((value) => isObject(value) && typeof value.type === 'string');
}
