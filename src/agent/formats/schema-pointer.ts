/**
 * Resolves `$ref` within one schema. Never fetches anything.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { childrenOf, isNode, type Node } from './schema-tree.ts';

/** Whether a reference leads out of the schema. */
export const isExternal = (reference: string): boolean => !reference.startsWith('#');

/** Returns the schema a reference points to: `#`, `#/$defs/name` or `#anchor`; undefined when there is none. */
export function lookUp(reference: string, root: Node): unknown {
  if (isExternal(reference) || reference.length > LIMITS.schema.reference) return undefined;
  if (reference === '#' || reference === '#/') return root;
  if (!reference.startsWith('#/')) return anchored(reference.slice(1), root);
  let found: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const name = unescapePart(part);
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return isNode(found) || typeof found === 'boolean' ? found : undefined;
}

/** Returns every reference in a schema, once. */
export function referencesIn(schema: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (!isNode(schema)) return found;
  for (const reference of [schema.$ref, schema.$dynamicRef]) if (typeof reference === 'string') found.add(reference);
  for (const child of childrenOf(schema)) referencesIn(child, found);
  return found;
}

/** Returns the last part of a reference, for use as a name. */
export const lastPart = (reference: string): string =>
  unescapePart(reference.slice(reference.lastIndexOf('/') + 1).replace(/^#/, ''));

/** The anchors of a schema, collected once. */
const collected = new WeakMap<Node, Map<string, Node>>();

function anchored(anchor: string, root: Node): Node | undefined {
  let anchors = collected.get(root);
  if (!anchors) {
    anchors = new Map();
    collect(root, anchors);
    collected.set(root, anchors);
  }
  return anchors.get(anchor);
}

function collect(node: unknown, anchors: Map<string, Node>): void {
  if (!isNode(node)) return;
  for (const anchor of [node.$anchor, node.$dynamicAnchor])
    if (typeof anchor === 'string' && !anchors.has(anchor)) anchors.set(anchor, node);
  for (const child of childrenOf(node)) collect(child, anchors);
}

/** Decodes one part of a reference. */
export function unescapePart(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // A lone percent sign is literal.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Encodes a name as one part of a reference. */
export const escapePart = (name: string): string =>
  name.replaceAll('%', '%25').replaceAll('~', '~0').replaceAll('/', '~1');
