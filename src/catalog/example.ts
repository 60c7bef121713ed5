/**
 * Chooses examples for a tool: the configured ones, else those of its schema, else a generated one, marked as such.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { JsonSchema, ToolExample } from '../core/types.ts';
import { branchesOf, wholeNode } from '../schema/schema-merge.ts';

/** The given examples of a tool: the configured ones, else up to three of its schema. */
export function examplesFor(
  inputSchema: JsonSchema | undefined,
  configured: readonly ToolExample[] = [],
): readonly ToolExample[] {
  if (configured.length > 0) return configured;
  const given = Array.isArray(inputSchema?.examples) ? inputSchema.examples : [];
  const own = given.filter(
    (example): example is Record<string, unknown> =>
      typeof example === 'object' && example !== null && !Array.isArray(example),
  );
  if (own.length > 0) return own.slice(0, 3).map((parameters) => ({ parameters }));
  return [];
}

/**
 * Generates arguments for the required parameters, with values from the schema where it has any. Undefined if they
 * would show nothing.
 */
export function generateExample(inputSchema: JsonSchema | undefined): ToolExample | undefined {
  if (!inputSchema) return undefined;
  const sample = sampleOf(inputSchema, inputSchema, 4, { left: LIMITS.schema.samples });
  // An empty object or list would tell the agent nothing.
  if (typeof sample !== 'object' || sample === null || hasGaps(sample)) return undefined;
  if (JSON.stringify(sample).length > LIMITS.schema.example) return undefined;
  return { parameters: sample as Record<string, unknown>, generated: true };
}

function hasGaps(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const items = Object.values(value);
  return items.length === 0 || items.some(hasGaps);
}

function sampleOf(schema: unknown, root: JsonSchema, levels: number, samples: { left: number }): unknown {
  if (typeof schema !== 'object' || schema === null || levels < 0) return null;
  const node = wholeNode(schema as JsonSchema, root);
  if (samples.left-- <= 0) return {};
  if ('const' in node) return node.const;
  if (node.default !== undefined) return node.default;
  if (Array.isArray(node.examples) && node.examples.length > 0) return node.examples[0];
  if (Array.isArray(node.enum)) return node.enum[0];
  const branches = node.properties === undefined ? branchesOf(node) : [];
  if (branches.length > 0) return sampleOf(branches[0], root, levels - 1, samples);
  const type = Array.isArray(node.type) ? node.type[0] : node.type;
  if (type === 'array')
    return node.items === undefined || levels === 0 ? [] : [sampleOf(node.items, root, levels - 1, samples)];
  if (type === 'object' || node.properties !== undefined) {
    const properties = Object(node.properties) as Record<string, unknown>;
    const required: unknown[] = Array.isArray(node.required) ? node.required.slice(0, 20) : [];
    const names = required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name)) as string[];
    // Entries, not assignment: a property may be named `__proto__`.
    return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name], root, levels - 1, samples)]));
  }
  if (type === 'integer' || type === 'number') return typeof node.minimum === 'number' ? node.minimum : 1;
  if (type === 'boolean') return true;
  return type === 'null' ? null : 'string';
}
