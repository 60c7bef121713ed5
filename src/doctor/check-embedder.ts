/**
 * Checks `search.embedder` by requesting one vector. Search works without it, so problems are warnings.
 * @module
 */
import { expandReferences } from '../config/references.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { LIMITS } from '../core/limits.ts';
import { checkVectors } from '../embeddings/check-vectors.ts';
import { openEmbedder } from '../embeddings/open-embedder.ts';
import { maskSecrets } from '../secrets/credential-patterns.ts';
import type { Check } from './check.ts';

/** The environment and limits of the check. */
interface EmbedderWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Nothing where none is configured. */
export async function checkEmbedder(
  { search: { embedder: settings } }: Pick<ResolvedConfig, 'search'>,
  { env, signal, timeoutMs = LIMITS.time.embeddingCheck }: EmbedderWorld,
): Promise<Check[]> {
  if (settings === undefined) return [];
  const about = { kind: 'configuration', subject: `search.embedder ${settings.model}`, check: 'embed' } as const;
  const expand = (text: string) => expandReferences(text, env, 'search.embedder');
  const began = performance.now();
  try {
    const embedder = openEmbedder({ ...settings, requestMs: timeoutMs }, { expand });
    const answer = await embedder.embed(['open a ticket'], { purpose: 'query', signal });
    const { dimensions } = checkVectors(answer, 1, settings.dimensions);
    const ms = Math.round(performance.now() - began);
    const detail = `returns vectors of ${dimensions} numbers`;
    if (ms <= settings.timeoutMs) return [{ ...about, status: 'ok', detail, ms }];
    const fix = `Raise search.embedder.timeoutMs, which is ${settings.timeoutMs}, if that is its usual time`;
    return [{ ...about, status: 'warn', detail: `${detail}, but slower than a search waits`, fix, ms }];
  } catch (error) {
    const detail = maskSecrets(error instanceof Error ? error.message : String(error), env);
    return [{ ...about, status: 'warn', detail, fix: 'Correct search.embedder; until then, search works without it' }];
  }
}
