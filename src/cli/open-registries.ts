/**
 * Opens the registries for one command: those of the configuration, or those that `--registry` names.
 * @module
 */
import { join } from 'node:path';
import { withTimeLimit } from '../async/time-limit.ts';
import { expandReferences } from '../config/references.ts';
import { DiscoveryError } from '../core/errors.ts';
import { findCommand } from '../doctor/find-command.ts';
import { McpRegistries } from '../mcp-registry/mcp-registries.ts';
import type { SyncProgress } from '../mcp-registry/sync-registry.ts';
import type { Values } from './command.ts';
import type { Io } from './io.ts';
import { ENGINE_HELP, ENGINE_OPTIONS, type Session, withSession } from './session.ts';
import { UsageError } from './usage-error.ts';

/** Options of every command that asks registries. */
export const REGISTRY_OPTIONS = {
  ...ENGINE_OPTIONS,
  registry: { type: 'string', multiple: true },
  offline: { type: 'boolean' },
  timeout: { type: 'string' },
} as const;

/** Help for these options. */
export const REGISTRY_HELP = `  --registry URL     Ask this registry, not the configured ones; repeatable
  --offline          Send no requests; use the synced copy
  --timeout TIME     Longest wait: 30 (seconds), 500ms, 2m
${ENGINE_HELP}`;

/** The session of a command that asks registries. */
export interface RegistrySession extends Session {
  readonly registries: McpRegistries;
  readonly offline: boolean;
  /** Shows how far a sync is. */
  onProgress(progress: SyncProgress): void;
}

/** Opens a session and the registries, and runs the work within --timeout. */
export function withRegistries(
  values: Values,
  io: Io,
  work: (session: RegistrySession) => Promise<number>,
): Promise<number> {
  const run = async (session: Session): Promise<number> => {
    const { home, registries: configured, retry } = await session.engine.getConfig();
    const named = (values.registry as string[] | undefined)?.map((url) => {
      if (!/^https?:\/\//i.test(url)) throw new UsageError('--registry takes an http:// or https:// address');
      // A registry that is configured keeps its headers.
      return configured.find((one) => one.url === url) ?? { url };
    });
    const expand = (text: string): string => expandReferences(text, io.env, 'registries');
    const registries = new McpRegistries({
      registries: named ?? configured,
      folder: join(home, 'registry'),
      world: { expand, retry },
    });
    const overdue = () =>
      new DiscoveryError('SERVER_CONNECTION_ERROR', 'The registry did not answer within --timeout.');
    const { timeoutMs = Number.POSITIVE_INFINITY, progress } = session;
    return withTimeLimit(timeoutMs, session.signal, overdue, (signal) =>
      work({
        ...session,
        signal,
        registries,
        offline: values.offline === true,
        onProgress: ({ registry, entries, step }) =>
          progress.show(
            step === 'reading'
              ? `Reading ${registry}: ${entries.toLocaleString('en')} servers`
              : `Indexing ${entries.toLocaleString('en')} servers of ${registry}`,
          ),
      }).finally(() => progress.clear()),
    );
  };
  return withSession(values, io, run, 'registries');
}

/** Tells whether a program is on the search path of this process. */
export const hasCommand =
  ({ env, cwd }: Pick<Io, 'env' | 'cwd'>) =>
  (command: string): boolean =>
    findCommand(command, { path: env.PATH, pathExt: env.PATHEXT, cwd, platform: process.platform }) !== undefined;
