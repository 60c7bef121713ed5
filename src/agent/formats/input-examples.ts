/**
 * Selects a tool's published examples that an API accepts with the sent schema. None is generated; an example that may
 * not match is left out.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { JsonCopier } from '../../json/json-copy.ts';
import type { DescribedTool } from './definition-types.ts';
import type { MadeSchema } from './make-schema.ts';
import { isNode, isSame, listOf } from './schema-tree.ts';
import { surelyFits } from './surely-fits.ts';

/** The examples that came with the tool and those in its schema, under the names that are sent. */
export function toInputExamples(
  { examples, inputSchema }: DescribedTool,
  { schema, renamed }: MadeSchema,
): Record<string, unknown>[] {
  const given = listOf(examples).flatMap((one) => (isNode(one) && one.generated !== true ? [one.parameters] : []));
  const published = isNode(inputSchema) ? listOf(inputSchema.examples) : [];
  const sentNames = new Map([...renamed].map(([sent, own]) => [own, sent]));
  const found: Record<string, unknown>[] = [];
  for (const example of [...given, ...published].slice(0, LIMITS.answer.examplesRead)) {
    const copy = copyOf(example);
    if (found.length >= LIMITS.answer.examples || !isNode(copy)) continue;
    const sent = Object.fromEntries(Object.entries(copy).map(([name, value]) => [sentNames.get(name) ?? name, value]));
    if (surelyFits(sent, schema) && !found.some((one) => isSame(one, sent))) found.push(sent);
  }
  return found;
}

/** Copies an example as JSON; undefined if it is too big or cannot be read. */
function copyOf(example: unknown): unknown {
  try {
    return new JsonCopier().copy(example, 0);
  } catch {
    return undefined;
  }
}
