/**
 * Asks providers for the definitions that their lists left out.
 * @module
 */
import { Semaphore } from '../../async/semaphore.ts';
import { waitAtMost } from '../../async/time-limit.ts';
import { LIMITS } from '../../core/limits.ts';
import { isProvider, UNDESCRIBED } from '../../core/tool-provider.ts';
import type { ToolDefinition } from '../../core/types.ts';
import type { KnownSource } from './registry-sources.ts';

export class LateDefinitions {
  readonly #described = new WeakMap<ToolDefinition, ToolDefinition>();
  #changes = 0;

  /** Changes with every definition that arrives. */
  get changes(): number {
    return this.#changes;
  }

  /** The whole definition of a listed tool, if it has arrived. */
  of(listed: ToolDefinition): ToolDefinition | undefined {
    return this.#described.get(listed);
  }

  /** The tools that a provider listed without a definition. */
  missing({ state: { catalog }, definition: { name } }: KnownSource): readonly ToolDefinition[] {
    return catalog
      .tools(name)
      .flatMap((tool) => catalog.definition(name, tool.name) ?? [])
      .filter((tool) => tool.inputSchema === UNDESCRIBED && !this.#described.has(tool));
  }

  /** Asks for all of them and waits at most `waitMs`. Late ones are used by the next discovery. */
  async ask(known: KnownSource, waitMs: number): Promise<void> {
    const { state, definition } = known;
    if (!isProvider(definition)) return;
    const turns = new Semaphore(LIMITS.atOnce.definitions);
    const describe = async (tool: ToolDefinition): Promise<void> => {
      const found = await state.describe(definition, tool);
      if (found.inputSchema === UNDESCRIBED) return;
      this.#described.set(tool, found);
      this.#changes++;
    };
    const all = this.missing(known).map((tool) => turns.run(() => describe(tool)));
    if (all.length > 0) await waitAtMost(Promise.all(all), waitMs);
  }
}
