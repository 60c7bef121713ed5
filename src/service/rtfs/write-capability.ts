/**
 * Writes a manifest as an RTFS capability document.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import { oneLine } from '../../text/plain-text.ts';
import { schemaToTypeExpr } from '../convert/type-expr.ts';
import type { TypeNote } from '../convert/type-tree.ts';
import type { CapabilityManifest } from '../manifest.ts';
import { nameValue } from './rtfs-value.ts';
import { rtfsText } from './write-rtfs.ts';

/**
 * Returns `(capability :mcp.<server>.<tool> …)`. What the types cannot say stands in comments before it.
 */
export function capabilityText(manifest: CapabilityManifest): string {
  const { id, version, description, inputSchema, outputSchema, provider, domains, categories } = manifest;
  const input = schemaToTypeExpr(inputSchema);
  const output = outputSchema && schemaToTypeExpr(outputSchema);
  const where = [
    ':type :mcp',
    ...(provider.serverUrl === undefined ? [] : [`:server-url ${rtfsText(provider.serverUrl)}`]),
    `:tool-name ${rtfsText(provider.toolName)}`,
  ];
  const lines = [
    `(capability ${rtfsText(nameValue(id))}`,
    `:version ${rtfsText(version)}`,
    `:description ${rtfsText(description)}`,
    `:input-schema ${rtfsText(input.expr, '  ')}`,
    ...(output ? [`:output-schema ${rtfsText(output.expr, '  ')}`] : []),
    `:provider {${where.join('\n             ')}}`,
    `:domains ${rtfsText(domains)}`,
    `:categories ${rtfsText(categories)}`,
  ];
  return `${[...notes('input', input.notes), ...notes('output', output?.notes ?? [])].join('')}${lines.join('\n  ')})\n`;
}

const notes = (part: string, all: readonly TypeNote[]): string[] =>
  all.map(({ path, text }) => `; ${oneLine(`${part}${path && `.${path}`}: ${text}`, LIMITS.text.note)}\n`);
