/**
 * Keeps the registered tools by name and in small groups, so that a change re-indexes one group instead of all tools.
 * @module
 */
import type { ToolSummary } from '../../core/tool-provider.ts';
import type { RegisteredTool } from './registered-tool.ts';
import type { ToolIndex } from './tool-index.ts';

const GROUP_SIZE = 32;

interface Group {
  readonly key: string;
  readonly tools: Map<string, RegisteredTool>;
}

/** Keeps tools and reports changed groups to the index. */
export class RegisteredTools {
  readonly #index: ToolIndex;
  readonly #tools = new Map<string, RegisteredTool>();
  readonly #groupOf = new Map<string, Group>();
  readonly #withRoom = new Set<Group>();
  readonly #changed = new Set<Group>();
  #count = 0;

  constructor(index: ToolIndex) {
    this.#index = index;
  }

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name);
  }

  get isEmpty(): boolean {
    return this.#tools.size === 0;
  }

  /** All tools, in order of registration. */
  values(): IterableIterator<RegisteredTool> {
    return this.#tools.values();
  }

  add(tool: RegisteredTool): void {
    const { name } = tool.definition;
    const [roomy] = this.#withRoom;
    const group = roomy ?? { key: `registered ${this.#count++}`, tools: new Map() };
    group.tools.set(name, tool);
    if (group.tools.size < GROUP_SIZE) this.#withRoom.add(group);
    else this.#withRoom.delete(group);
    this.#tools.set(name, tool);
    this.#groupOf.set(name, group);
    this.#changed.add(group);
  }

  delete(name: string): RegisteredTool | undefined {
    const tool = this.#tools.get(name);
    const group = this.#groupOf.get(name);
    if (tool === undefined || group === undefined) return undefined;
    this.#tools.delete(name);
    this.#groupOf.delete(name);
    group.tools.delete(name);
    this.#withRoom.add(group);
    this.#changed.add(group);
    return tool;
  }

  /** Passes the changed groups to the index. */
  publish(): void {
    if (this.#changed.size === 0) return;
    for (const group of this.#changed) {
      if (group.tools.size > 0) this.#index.set(group.key, [...group.tools.values()].map(toSummary));
      else this.#index.delete(group.key);
    }
    this.#changed.clear();
  }
}

const summaries = new WeakMap<RegisteredTool, ToolSummary>();

/** A registered tool in the form that providers list. Frozen: it does not change, so it need not be read again. */
export function toSummary(tool: RegisteredTool): ToolSummary {
  const known = summaries.get(tool);
  if (known) return known;
  const { name, title, description, inputSchema, outputSchema, annotations } = tool.definition;
  const { keywords, visible } = tool;
  const summary = Object.freeze({
    name,
    title,
    description,
    keywords,
    visible,
    inputSchema,
    outputSchema,
    annotations,
  });
  summaries.set(tool, summary);
  return summary;
}
