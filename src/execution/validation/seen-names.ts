/**
 * Restores names and values that an agent saw in visible form. A name with invisible characters is shown with their
 * numbers (`visible`), and the agent sends it back that way; the tool gets its own name.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { JsonSchema } from '../../core/types.ts';
import { isObject } from '../../json/plain-object.ts';
import { branchesOf, wholeNode } from '../../schema/schema-merge.ts';
import { isPlain, visible } from '../../text/plain-text.ts';

type Arguments = Readonly<Record<string, unknown>>;

const unseen = new WeakMap<object, boolean>();

/**
 * Returns the arguments with the tool's own names. Costs one lookup for a tool without invisible characters, as nearly
 * all are.
 */
export function asKnown(args: Arguments, schema: JsonSchema): Arguments {
  let hides = unseen.get(schema);
  if (hides === undefined) {
    hides = hidesSomething(schema);
    unseen.set(schema, hides);
  }
  return hides ? (restored(args, schema, schema, 0) as Arguments) : args;
}

function hidesSomething(schema: JsonSchema): boolean {
  try {
    const text = JSON.stringify(schema);
    // JSON escapes control characters as numbers.
    return !isPlain(text) || /\\u00[0-9a-f]{2}/.test(text);
  } catch {
    return false;
  }
}

function restored(value: unknown, schema: unknown, root: JsonSchema, depth: number): unknown {
  if (!isObject(schema) || depth > LIMITS.schema.hiddenNames) return value;
  const whole = wholeNode(schema, root);
  const branches = branchesOf(whole).slice(0, LIMITS.schema.branches).filter(isObject);
  const nodes = [...branches.map((branch) => wholeNode(branch, root)), whole];
  if (typeof value === 'string')
    return meant(
      value,
      nodes.flatMap((node) => [...list(node.enum), node.const]),
    );
  if (Array.isArray(value)) {
    const items = nodes.find((node) => isObject(node.items))?.items;
    return value.map((item) => restored(item, items, root, depth + 1));
  }
  if (!isObject(value)) return value;
  const properties = new Map(
    nodes.flatMap((node) => (isObject(node.properties) ? Object.entries(node.properties) : [])),
  );
  const names = [...properties.keys()];
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const own = properties.has(name) ? name : String(meant(name, names));
      return [own, restored(item, properties.get(own), root, depth + 1)];
    }),
  );
}

const list = (values: unknown): readonly unknown[] => (Array.isArray(values) ? values : []);

/** Returns the known value that is shown like this, unless the text itself is known. */
const meant = (shown: string, known: readonly unknown[]): unknown =>
  known.includes(shown) ? shown : (known.find((one) => typeof one === 'string' && visible(one) === shown) ?? shown);
