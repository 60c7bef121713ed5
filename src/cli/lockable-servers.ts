/**
 * Collects what the lock file records: every server with its version, tools and domains, as they are now.
 * @module
 */
import { buildLock, LOCK_FILE, type Lock } from '../approvals/lock-file.ts';
import type { ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { domainsOf } from '../service/infer/classes-of.ts';
import { forTerminal } from './failure.ts';
import type { Session } from './session.ts';

/** The path of the lock file, unless --file names another. */
export const lockPath = (values: Readonly<Record<string, unknown>>): string => String(values.file ?? LOCK_FILE);

/** Asks the named servers, or all, for their lists. Returns the error of a server that cannot be listed, after a note about each other one. */
export async function lockNow(session: Session, names: readonly string[]): Promise<Lock | ErrorInfo> {
  const { engine } = session;
  for (const name of names) {
    const known = await engine.toolsOf(name);
    if (!known.success) return known.error;
  }
  const servers = names.length > 0 ? names : await engine.serverNames();
  const failed = await session.lists(servers, true, LIMITS.time.probe);
  const [failure, ...others] = failed.values();
  for (const { message } of others) session.note(forTerminal(message));
  if (failure) return failure;
  const { servers: configured } = await engine.getConfig();
  return buildLock(
    await Promise.all(
      servers.map(async (server) => {
        const { version, tools, items } = await engine.approvals.listed(server);
        const definition = configured.find(({ name }) => name === server) ?? { name: server };
        const domains = new Map(tools.map(({ name }) => [name, domainsOf(definition, name)]));
        return { server, version, tools, items, domains };
      }),
    ),
  );
}
