/**
 * Downloads an MCPB bundle to a file and checks its SHA-256. A bundle with another hash is neither kept nor read.
 * Bounded in time, bytes and redirects; every address on the way is encrypted.
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withTimeLimit } from '../async/time-limit.ts';
import { httpFetch } from '../connections/http/http-fetch.ts';
import { DiscoveryError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { makeFolder } from '../disk/make-folder.ts';
import { isBundleAddress } from './connection-ways.ts';

/** Where a bundle is, and what it has to be. */
interface BundleSource {
  readonly url: string;
  readonly sha256: string;
  /** Whether it may come from this machine without encryption. */
  readonly isLocalRegistry: boolean;
}

/** Returns the path of the downloaded file in `folder`. The caller removes it. */
export async function fetchBundle(source: BundleSource, folder: string, signal?: AbortSignal): Promise<string> {
  await makeFolder(folder);
  const path = join(folder, `download-${randomBytes(8).toString('hex')}.mcpb`);
  const overdue = () => failed(source, `did not arrive within ${LIMITS.time.bundle / 1000} s`);
  try {
    await withTimeLimit(LIMITS.time.bundle, signal, overdue, (limit) => download(source, path, limit));
    return path;
  } catch (error) {
    await rm(path, { force: true });
    if (error instanceof DiscoveryError || signal?.aborted) throw error;
    throw failed(source, `cannot be downloaded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function download(source: BundleSource, path: string, signal: AbortSignal): Promise<void> {
  const response = await responseOf(source, signal);
  const hash = createHash('sha256');
  let size = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const bytes of response.body ?? []) {
      size += bytes.length;
      if (size > LIMITS.registry.bundle) {
        await response.body?.cancel().catch(() => undefined);
        throw failed(source, `is larger than ${LIMITS.registry.bundle / 2 ** 20} MiB`);
      }
      hash.update(bytes);
      await file.writeFile(bytes);
    }
  } finally {
    await file.close();
  }
  const found = hash.digest('hex');
  if (found !== source.sha256)
    throw failed(source, `is not the one that the registry names: its SHA-256 is ${found}, not ${source.sha256}`);
}

/** Follows redirects, which hosts of releases use. */
async function responseOf(source: BundleSource, signal: AbortSignal): Promise<Response> {
  let url = source.url;
  for (let hops = 0; hops <= LIMITS.registry.redirects; hops++) {
    if (!isBundleAddress(url, source.isLocalRegistry)) throw failed(source, 'leads to an address without https');
    const response = await httpFetch(url, { signal });
    const target = response.headers.get('location');
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status < 300 || response.status >= 400 || target === null || !URL.canParse(target, url))
      throw failed(source, `is not there (HTTP ${response.status})`);
    url = new URL(target, url).href;
  }
  throw failed(source, 'is redirected too often');
}

const failed = ({ url }: BundleSource, what: string): DiscoveryError =>
  new DiscoveryError('SERVER_CONNECTION_ERROR', `The bundle ${url} ${what}.`, { retryable: false });
