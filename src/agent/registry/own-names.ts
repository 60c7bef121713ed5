/**
 * Tracks the names of a server's own tools, beside those of the registry. Reads all pages of them on first use, and
 * again after the server announces a change.
 * @module
 */

import { limitTime } from '../../async/time-limit.ts';
import { ValidationError } from '../../core/errors.ts';
import { DEFAULTS } from '../../core/limits.ts';
import type { ToolDefinition } from '../../core/types.ts';
import type { RawHandler, RawRequest } from './sdk-server.ts';

interface ListedTool {
  readonly name: string;
}

/** The result of a `tools/list` handler. */
export interface ListResult {
  readonly tools?: readonly (ListedTool | ToolDefinition)[];
  readonly nextCursor?: unknown;
  readonly [key: string]: unknown;
}

/** The names of a server's own tools. */
export class OwnNames {
  readonly #reserved: ReadonlySet<unknown>;
  readonly #waitMs: number;
  readonly #handler: () => RawHandler | undefined;
  #names = new Set<string>();
  #isKnown = false;
  /** Number of `forget` calls. A reading that started before the latest one is stale. */
  #changes = 0;

  /** `handler` returns the server's own `tools/list` handler, if any. It times out after `waitMs`. */
  constructor(reserved: ReadonlySet<unknown>, waitMs: number, handler: () => RawHandler | undefined) {
    this.#reserved = reserved;
    this.#waitMs = waitMs;
    this.#handler = handler;
  }

  /** Tells whether a name is known to be the server's. */
  knows(name: string): boolean {
    return this.#names.has(name);
  }

  /** Tells whether a name is the server's. Lists the server's tools if necessary. */
  async has(name: string, sdk: unknown): Promise<boolean> {
    if (!this.#isKnown) {
      const list = this.#handler();
      if (list === undefined) return false;
      const request = { method: 'tools/list', params: {} };
      // A server that cannot list has no names to protect. A client that lists its tools gets the error.
      const result = await this.#limited(() => list(request, sdk)).catch(() => undefined);
      if (result === undefined) return this.knows(name);
      await this.passBy(request, result as ListResult, sdk);
    }
    return this.knows(name);
  }

  /** Call when the server announces changed tools. */
  forget(): void {
    this.#isKnown = false;
    this.#changes++;
  }

  /**
   * Notes the names on a listed page and, after a first page, on all further pages. Returns the server's own tools on
   * this page.
   */
  async passBy({ params }: RawRequest, result: ListResult, sdk: unknown): Promise<readonly ListedTool[]> {
    const tools = this.#own(result);
    if (params?.cursor !== undefined || (this.#isKnown && result.nextCursor !== undefined)) {
      for (const { name } of tools) this.#names.add(name);
      return tools;
    }
    const changes = this.#changes;
    const names = new Set(tools.map(({ name }) => name));
    // If the rest cannot be read, known names stay and the rest is read another time.
    const isWhole = await this.#limited(() => this.#readRest(result.nextCursor, names, sdk)).catch(() => false);
    if (!isWhole) for (const name of this.#names) names.add(name);
    this.#names = names;
    this.#isKnown = isWhole && changes === this.#changes;
    return tools;
  }

  async #readRest(first: unknown, names: Set<string>, sdk: unknown): Promise<boolean> {
    const list = this.#handler();
    let cursor = first;
    for (let page = 1; cursor !== undefined; page++) {
      if (list === undefined || page >= DEFAULTS.limits.listPages || names.size >= DEFAULTS.limits.tools) {
        throw new ValidationError('The server lists more tools than can be read');
      }
      const result = (await list({ method: 'tools/list', params: { cursor } }, sdk)) as ListResult;
      for (const { name } of this.#own(result)) names.add(name);
      cursor = result.nextCursor;
    }
    return true;
  }

  #limited<T>(work: () => Promise<T>): Promise<T> {
    const overdue = () => new ValidationError('The server did not list its tools in time');
    return limitTime({ ms: this.#waitMs, overdue }, work);
  }

  #own({ tools }: ListResult): readonly ListedTool[] {
    return (tools ?? []).filter(({ name }) => !this.#reserved.has(name));
  }
}
