/**
 * Creates an embedder from the `search.embedder` of a configuration. Sends nothing yet.
 * @module
 */
import type { Embedder } from '../core/types.ts';
import { ollamaEmbedder } from './ollama-embedder.ts';
import { openAiEmbedder, type ServiceOptions } from './openai-embedder.ts';

/** A service as configured. */
export interface EmbedderSettings extends Omit<ServiceOptions, 'url' | 'expand' | 'fetch'> {
  readonly type: 'openai' | 'ollama';
  readonly url?: string | undefined;
}

const SERVICES = {
  openai: { open: openAiEmbedder, url: 'https://api.openai.com/v1' },
  ollama: { open: ollamaEmbedder, url: 'http://localhost:11434' },
} as const;

/** Returns an embedder for a service. References in URL and key are expanded for each request. */
export function openEmbedder(
  { type, ...settings }: EmbedderSettings,
  world: Pick<ServiceOptions, 'expand' | 'fetch'>,
): Embedder {
  const { open, url } = SERVICES[type];
  return open({ ...settings, url: settings.url ?? url, ...world });
}
