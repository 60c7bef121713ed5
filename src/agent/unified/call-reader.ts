/**
 * Finds the tool that a model was shown under a name. What a call means depends on the tools and on the call, not on how
 * other requests asked for theirs.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import type { NamedCall } from '../formats/definition-types.ts';
import type { ShownNames } from '../formats/shown-names.ts';
import type { ToolEntry, ToolTable } from './tool-table.ts';

export class CallReader {
  readonly #table: ToolTable;
  /** Latest first. */
  #seen: readonly ShownNames[] = [];

  constructor(table: ToolTable) {
    this.#table = table;
  }

  /** Models have seen the names as they are now. */
  handedOut(): void {
    const { shown } = this.#table;
    if (this.#seen[0] !== shown) this.#seen = [shown, ...this.#seen].slice(0, LIMITS.cache.earlierNames);
  }

  /** The tool that is meant: by the names models were shown, else by any way to read a name as server and tool. */
  find({ name, namespace }: NamedCall): ToolEntry | undefined {
    // What a bare name means now is looked up in the table itself; only namespaces need a view of all tools.
    for (const names of namespace ? [...this.#seen, this.#table.shown] : this.#seen) {
      const ref = names.refOf(name, namespace);
      const entry = ref && this.#table.findRef(ref.server, ref.tool);
      if (entry) return entry;
    }
    // In a namespace, a bare name must not lead to a tool of another server.
    return namespace ? this.#table.findRef(namespace, name) : this.#table.find(name);
  }
}
