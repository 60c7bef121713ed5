/**
 * The names of the tools a server has beside those of the registry, all pages of them: read when they are first needed,
 * and anew when the server says that they changed.
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

/** What a handler of `tools/list` gives. */
export interface ListResult {
  readonly tools?: readonly (ListedTool | ToolDefinition)[];
  readonly nextCursor?: unknown;
  readonly [key: string]: unknown;
}

/** See the module. */
export class OwnNames {
  readonly #reserved: ReadonlySet<unknown>;
  readonly #waitMs: number;
  readonly #handler: () => RawHandler | undefined;
  #names = new Set<string>();
  #isKnown = false;
  /** How often they were forgotten: what was under way by then is old. */
  #changes = 0;

  /** `handler` gives the server's own handler of `tools/list`, if it has one; it is waited for `waitMs`. */
  constructor(reserved: ReadonlySet<unknown>, waitMs: number, handler: () => RawHandler | undefined) {
    this.#reserved = reserved;
    this.#waitMs = waitMs;
    this.#handler = handler;
  }

  /** Whether a name is the server's, as far as is known by now. */
  knows(name: string): boolean {
    return this.#names.has(name);
  }

  /** Whether a name is the server's; lists its tools if need be. */
  async has(name: string, sdk: unknown): Promise<boolean> {
    if (!this.#isKnown) {
      const list = this.#handler();
      if (list === undefined) return false;
      const request = { method: 'tools/list', params: {} };
      // A server that cannot list now has no names to protect; whoever lists is told why.
      const result = await this.#limited(() => list(request, sdk)).catch(() => undefined);
      if (result === undefined) return this.knows(name);
      await this.passBy(request, result as ListResult, sdk);
    }
    return this.knows(name);
  }

  /** The server said that its tools changed. */
  forget(): void {
    this.#isKnown = false;
    this.#changes++;
  }

  /** Takes note of a page that was asked for, and of those behind a first one; gives the tools of this page that are the server's. */
  async passBy({ params }: RawRequest, result: ListResult, sdk: unknown): Promise<readonly ListedTool[]> {
    const tools = this.#own(result);
    if (params?.cursor !== undefined || (this.#isKnown && result.nextCursor !== undefined)) {
      for (const { name } of tools) this.#names.add(name);
      return tools;
    }
    const changes = this.#changes;
    const names = new Set(tools.map(({ name }) => name));
    // Pages that cannot be read are read another time; until then the names that were known are.
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
