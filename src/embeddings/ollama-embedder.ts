/**
 * Embeds texts with Ollama's `POST {url}/api/embed`.
 * @module
 */

import type { Embedder } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { type ServiceOptions, serviceId, unusable, withPrefix } from './openai-embedder.ts';
import { postJson } from './post-json.ts';
import { readVector } from './read-vector.ts';

/** Returns an embedder that uses Ollama. */
export function ollamaEmbedder(options: ServiceOptions): Embedder {
  const { model, dimensions } = options;
  return {
    id: serviceId('ollama', options),
    embed: async (texts, { purpose, signal } = {}) => {
      const input = withPrefix(texts, purpose === 'query' ? options.queryPrefix : options.toolPrefix);
      const body = { model, input, ...(dimensions !== undefined && { dimensions }) };
      const answer = await postJson(options, '/api/embed', body, signal);
      const embeddings = isObject(answer) ? answer.embeddings : undefined;
      if (!Array.isArray(embeddings)) throw unusable('without a list of vectors');
      if (embeddings.length !== texts.length)
        throw unusable(`with ${embeddings.length} vectors for ${texts.length} texts`);
      return embeddings.map(readVector);
    },
  };
}
