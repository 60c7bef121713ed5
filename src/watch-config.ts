/**
 * Reloads an engine when the files its configuration came from change, or when `config reload` says so.
 * @module
 */

import { createHash } from 'node:crypto';
import { createReadStream, type FSWatcher, mkdirSync, watch, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { wallNow } from './clock.ts';
import type { DiscoveryEngine } from './discovery-engine.ts';
import type { Logger } from './types.ts';

/** Touched by `anygpt mcp config reload`; running gateways of the same home watch it. */
export const reloadStamp = (home: string): string => join(home, 'reload');

/** Tells running gateways of this home to reload. */
export function touchReloadStamp(home: string, now: () => number = wallNow): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(reloadStamp(home), `${new Date(now()).toISOString()}\n`, { mode: 0o600 });
}

/** What is watched beside the stamp that a reload leaves, and where changes are said. */
export interface WatchOptions {
  readonly logger: Logger;
  /** Also watch the configuration files themselves. */
  readonly files?: boolean;
  /** Editors write in several steps; a change counts once it is this old. */
  readonly settleMs?: number;
}

/**
 * Watches until the returned function is called. A configuration that cannot be used is said and not taken. A file that
 * is written again with the same content, or in which only things changed that are nobody's servers, changes nothing:
 * some clients rewrite their files all the time. The stamp always counts.
 */
export async function watchConfig(
  engine: DiscoveryEngine,
  { logger, files = false, settleMs = 200 }: WatchOptions,
): Promise<() => void> {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let asked = false;
  /** Of all files, taken before they were last read: what equals it was read already. */
  let contents: string | undefined;
  const reload = async () => {
    const ifChanged = !asked;
    asked = false;
    try {
      const before = contents;
      contents = await contentsOf((await engine.getConfig()).files);
      if (ifChanged && contents === before) return;
      if (!(await engine.reload({ ifChanged }))) return;
      logger.info({}, 'the configuration was reloaded');
    } catch (error) {
      logger.error(
        {},
        `the new configuration cannot be used, the old one stays: ${error instanceof Error ? error.message : error}`,
      );
      return;
    }
    await start();
  };
  const changed = (byStamp: boolean) => {
    asked ||= byStamp;
    clearTimeout(timer);
    timer = setTimeout(() => void reload(), settleMs).unref();
  };
  const close = () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  const start = async () => {
    const config = await engine.getConfig();
    close();
    if (stopped) return;
    const stamp = reloadStamp(config.home);
    const wanted = [stamp, ...(files ? config.files : [])];
    // Folders, because editors replace files, and a watched file that is replaced is watched no more.
    for (const folder of new Set(wanted.map((path) => dirname(path)))) {
      const names = new Set(wanted.filter((path) => dirname(path) === folder).map((path) => basename(path)));
      const failed = (error: Error) => logger.warn({ folder }, `cannot watch for changes: ${error.message}`);
      // A home that cannot be written, or no watches left: the gateway works on, and a restart takes changes over.
      try {
        if (folder === config.home) mkdirSync(folder, { recursive: true, mode: 0o700 });
        const watcher = watch(folder, (_event, name) => {
          if (name === null || names.has(name)) changed(name === null || join(folder, name) === stamp);
        });
        watchers.push(watcher.on('error', failed).unref());
      } catch (error) {
        failed(error as Error);
      }
    }
  };
  await start();
  return () => {
    stopped = true;
    close();
  };
}

/** One digest for the contents of many files; one that cannot be read has none. */
async function contentsOf(files: readonly string[]): Promise<string> {
  const digests = await Promise.all(files.map(digestOf));
  return JSON.stringify(files.map((file, at) => [file, digests[at]]));
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
    return hash.digest('hex');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}
