/**
 * Tools of providers beside a program's own: providers in, their tools in the table, read again when they are old. A provider
 * that is slow or fails keeps what it gave before and spoils nobody else's.
 * @module
 */
import type { ErrorInfo } from '../../core/errors.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';
import { ProviderReader, type ProviderReaderOptions, type Wanted } from './provider-reader.ts';
import type { Tell } from './registry-log.ts';
import type { Discovered } from './tool-discovery.ts';
import type { Provided, ToolTable } from './tool-table.ts';

export interface ProvidedToolsOptions extends Omit<ProviderReaderOptions, 'publish'> {
  readonly table: ToolTable;
  readonly tell: Tell;
}

/** What came of reading providers. */
export interface ProvidersRead extends Discovered {
  /** Providers of which nothing is known, and why. */
  readonly unread: readonly ErrorInfo[];
}

const NOTHING: Provided = { tools: new Map(), excluded: [] };

export class ProvidedTools {
  readonly #options: ProvidedToolsOptions;
  readonly #readers = new Map<ToolProvider, ProviderReader>();

  constructor(options: ProvidedToolsOptions) {
    this.#options = options;
  }

  has(provider: ToolProvider): boolean {
    return this.#readers.has(provider);
  }

  add(provider: ToolProvider): void {
    const { table } = this.#options;
    const publish = (provided: Provided) => table.setProvided(provider, provided);
    this.#readers.set(provider, new ProviderReader(provider, { ...this.#options, publish }));
    // Takes its place in the order now, whenever its list arrives.
    publish(NOTHING);
  }

  remove(provider: ToolProvider): boolean {
    this.#readers.get(provider)?.remove();
    this.#options.table.removeProvided(provider);
    return this.#readers.delete(provider);
  }

  /** Reads what is due: all that is old or has failed, or only what may be asked again while looking for one tool. */
  async readDue(wanted: Wanted, traceId: string | undefined): Promise<ProvidersRead> {
    const readers = [...this.#readers.values()];
    const results = await Promise.all(readers.map((reader) => reader.read(wanted)));
    const failures = results.flatMap(({ failure }, at) => {
      if (!failure) return [];
      const serverName = readers[at]?.name ?? '';
      this.#options.tell('tools.discovery.server.failed', { serverName, errorMessage: failure.message }, traceId);
      return failure.toInfo();
    });
    const unread = readers.flatMap(({ unread: failure }) => failure?.toInfo() ?? []);
    return { changed: results.some(({ changed }) => changed), failures, unread };
  }
}
