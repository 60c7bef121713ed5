/**
 * Asks an npm registry for the latest version of a package, so that it can be pinned. Downloads no package.
 * @module
 */
import { withTimeLimit } from '../async/time-limit.ts';
import { guardedFetch } from '../connections/http/guarded-fetch.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';

/** Returns the registry that the environment names, else the one that npm uses by itself. */
export const npmRegistryOf = (env: Readonly<Record<string, string | undefined>>): string =>
  env.npm_config_registry || env.NPM_CONFIG_REGISTRY || 'https://registry.npmjs.org';

/** Returns the version that `latest` stands for now. Throws if the registry cannot say. */
export function latestNpmVersion(name: string, registry: string, signal?: AbortSignal): Promise<string> {
  const who = 'The npm registry';
  const failed = (why: string, code: 'SERVER_NOT_FOUND' | 'SERVER_CONNECTION_ERROR' = 'SERVER_CONNECTION_ERROR') =>
    new DiscoveryError(code, `${who} ${why}. Write the version yourself: npm:${name}@VERSION.`, { retryable: false });
  const address = `${registry.replace(/\/+$/, '')}/${encodeURIComponent(name)}/latest`;
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) throw failed('has no http address');
  const send = guardedFetch({ server: who, maxMessageBytes: LIMITS.registry.answer });
  const overdue = () => failed(`did not answer within ${LIMITS.time.registry} ms`);
  return withTimeLimit(LIMITS.time.registry, signal, overdue, async (limit) => {
    const response = await send(address, { headers: { accept: 'application/json' }, signal: limit });
    if (response.status === 404) throw failed(`has no package ${JSON.stringify(name)}`, 'SERVER_NOT_FOUND');
    const body: unknown = response.ok ? await response.json().catch(() => undefined) : undefined;
    const version = isObject(body) ? body.version : undefined;
    if (typeof version !== 'string') throw failed(`gave no version of ${name} (HTTP ${response.status})`);
    return version;
  });
}
