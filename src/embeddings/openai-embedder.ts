/**
 * Embeds texts with `POST {url}/embeddings`, OpenAI's API, which many others support: vLLM, LM Studio, llama.cpp,
 * text-embeddings-inference, LiteLLM.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import type { Embedder } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { type Endpoint, postJson } from './post-json.ts';
import { readVector } from './read-vector.ts';

/** Options of both kinds of service. */
export interface ServiceOptions extends Endpoint {
  readonly model: string;
  readonly dimensions?: number | undefined;
  /** The prefixes the model expects before a query and before a tool. */
  readonly queryPrefix?: string | undefined;
  readonly toolPrefix?: string | undefined;
}

/** Returns an embedder that uses an OpenAI-compatible service. */
export function openAiEmbedder(options: ServiceOptions): Embedder {
  const { model, dimensions } = options;
  return {
    id: serviceId('openai', options),
    embed: async (texts, { purpose, signal } = {}) => {
      const input = withPrefix(texts, purpose === 'query' ? options.queryPrefix : options.toolPrefix);
      const body = { model, input, ...(dimensions !== undefined && { dimensions }) };
      return inOrder(await postJson(options, '/embeddings', body, signal), texts.length);
    },
  };
}

/** Identifies everything that the vectors of tools depend on. References stay references. */
export const serviceId = (type: string, { url, model, dimensions, toolPrefix }: ServiceOptions): string =>
  JSON.stringify([type, url, model, dimensions ?? null, toolPrefix ?? '']);

/** Adds the model's prefix to each text. */
export const withPrefix = (texts: readonly string[], prefix = ''): string[] => texts.map((text) => prefix + text);

/** Sorts the items by their index; they may arrive in any order. */
function inOrder(answer: unknown, count: number): Float32Array[] {
  const data = isObject(answer) ? answer.data : undefined;
  if (!Array.isArray(data)) throw unusable('without a list of vectors');
  if (data.length !== count) throw unusable(`with ${data.length} vectors for ${count} texts`);
  const vectors = new Map<number, Float32Array>();
  for (const [at, item] of data.entries()) {
    if (!isObject(item)) throw unusable('without a list of vectors');
    const index = item.index ?? at;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count || vectors.has(index))
      throw unusable('that does not say which vector belongs to which text');
    vectors.set(index, readVector(item.embedding));
  }
  return Array.from({ length: count }, (_, at) => vectors.get(at) ?? readVector(undefined));
}

/** The error for an unusable answer. */
export const unusable = (what: string): DiscoveryError =>
  new DiscoveryError('SERVER_CONNECTION_ERROR', `The embedder returned an answer ${what}.`);
