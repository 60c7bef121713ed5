/**
 * Remembers what tools without an output schema have returned, as schemas. An inferred schema informs; no result is
 * checked against it. It is forgotten when the tool's definition changes.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { CallToolResult, JsonSchema, ToolDefinition } from '../../core/types.ts';

interface Observed {
  readonly schema: JsonSchema;
  readonly results: number;
}

export class ObservedOutputs {
  readonly #observed = new WeakMap<ToolDefinition, Observed>();
  #isBusy = false;

  /** The schema that was inferred for a tool. */
  schemaOf(definition: ToolDefinition): JsonSchema | undefined {
    return this.#observed.get(definition)?.schema;
  }

  /** Looks at a result after its answer has left: a few results of each tool, one at a time. */
  note(definition: ToolDefinition | undefined, result: CallToolResult): void {
    if (this.#isBusy || definition === undefined || definition.outputSchema !== undefined) return;
    if ((this.#observed.get(definition)?.results ?? 0) >= LIMITS.observe.results) return;
    this.#isBusy = true;
    setImmediate(async () => {
      await this.observe(definition, result);
      this.#isBusy = false;
    });
  }

  /** Adds a result. Returns the schema so far; undefined if the result says nothing about it. */
  async observe(definition: ToolDefinition, result: CallToolResult): Promise<JsonSchema | undefined> {
    const value = valueIn(result);
    const before = this.#observed.get(definition);
    if (value === undefined) return before?.schema;
    const { mergeSchemas, schemaOfValue } = await import('./value-schema.ts');
    const merged = before ? mergeSchemas(before.schema, schemaOfValue(value)) : schemaOfValue(value);
    const schema = JSON.stringify(merged).length > LIMITS.observe.schema ? { type: merged.type } : merged;
    this.#observed.set(definition, { schema, results: (before?.results ?? 0) + 1 });
    return schema;
  }
}

/** What a result holds: its structured content, else the JSON in its only text, else that text. */
function valueIn({ isError, structuredContent, content, resultType }: CallToolResult): unknown {
  if (isError || resultType === 'input_required') return undefined;
  if (structuredContent !== undefined) return structuredContent;
  const [block, ...more] = content ?? [];
  if (block?.type !== 'text' || typeof block.text !== 'string' || more.length > 0) return undefined;
  if (block.text.length > LIMITS.observe.text) return undefined;
  try {
    if (/^\s*[[{]/.test(block.text)) return JSON.parse(block.text);
  } catch {
    // A text that only begins like JSON.
  }
  return block.text;
}
