import { describe, expect, it } from 'vitest';
import {
  type Behaviour,
  type EmbeddingService,
  startEmbeddingService,
  vectorOf,
} from '../../test/fixtures/embedding-service.ts';
import { ConfigurationError, DiscoveryError } from '../core/errors.ts';
import { checkVectors } from './check-vectors.ts';
import { ollamaEmbedder } from './ollama-embedder.ts';
import { type EmbedderSettings, openEmbedder } from './open-embedder.ts';
import { openAiEmbedder, type ServiceOptions } from './openai-embedder.ts';
import { InputRefusedError } from './post-json.ts';

const KINDS = ['openai', 'ollama'] as const;
const open = (kind: (typeof KINDS)[number], { url }: EmbeddingService, more: Partial<ServiceOptions> = {}) => {
  const options = { url: kind === 'openai' ? `${url}/v1` : url, model: 'm', ...more };
  return kind === 'openai' ? openAiEmbedder(options) : ollamaEmbedder(options);
};
const failureOf = async (work: Promise<unknown>): Promise<DiscoveryError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DiscoveryError);
  return error as DiscoveryError;
};

describe.each(KINDS)('an %s service', (kind) => {
  it('gives one vector for each text, in order', async () => {
    await using service = await startEmbeddingService();
    const vectors = await open(kind, service, { apiKey: 'key-1', dimensions: 32 }).embed(['read a file', 'send mail']);
    expect(vectors.map((vector) => [...vector])).toEqual(
      ['read a file', 'send mail'].map((text) => [...Float32Array.from(vectorOf(text))]),
    );
    expect(service.requests).toMatchObject([
      {
        path: kind === 'openai' ? '/v1/embeddings' : '/api/embed',
        authorization: 'Bearer key-1',
        body: { model: 'm', dimensions: 32 },
      },
    ]);
  });

  it('reads vectors in base64 as well', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 'base64';
    const [vector] = await open(kind, service).embed(['read a file']);
    expect([...(vector ?? [])]).toEqual([...Float32Array.from(vectorOf('read a file'))]);
  });

  it('puts in front of queries and tools what the model wants', async () => {
    await using service = await startEmbeddingService();
    const embedder = open(kind, service, { queryPrefix: 'query: ', toolPrefix: 'tool: ' });
    await embedder.embed(['x'], { purpose: 'query' });
    await embedder.embed(['x'], { purpose: 'tool' });
    expect(service.texts()).toEqual(['query: x', 'tool: x']);
  });

  it.each<[Behaviour, RegExp]>([
    ['few', /1 vectors for 2 texts/],
    ['no-list', /without a list of vectors/],
    ['nan', /not JSON/],
    ['html', /not JSON/],
    ['redirect', /redirects to https:\/\/elsewhere\.example/],
    ['cut', /could not be reached/],
    [500, /HTTP 500: model "m" says no/],
    [404, /HTTP 404: model "m" says no/],
  ])('is refused when it behaves like this: %s', async (behaviour, message) => {
    await using service = await startEmbeddingService();
    service.behaviour = behaviour;
    expect((await failureOf(open(kind, service).embed(['a', 'b']))).message).toMatch(message);
  });

  it.each<Behaviour>(['null-vectors', 'null-numbers', 'zeros', 'infinite', 'ragged'])(
    'gives vectors that the check refuses when it sends %s',
    async (behaviour) => {
      await using service = await startEmbeddingService();
      service.behaviour = behaviour;
      const vectors = await open(kind, service).embed(['a', 'b']);
      expect(() => checkVectors(vectors, 2)).toThrow(DiscoveryError);
    },
  );

  it('says whether trying again helps', async () => {
    await using service = await startEmbeddingService();
    const infoFor = async (behaviour: Behaviour) => {
      service.behaviour = behaviour;
      return (await failureOf(open(kind, service).embed(['a']))).toInfo();
    };
    expect(await infoFor(500)).toMatchObject({ retryable: true });
    expect(await infoFor(404)).toMatchObject({ retryable: false });
    expect(await infoFor(401)).toMatchObject({ retryable: false, code: 'SERVER_AUTH_REQUIRED' });
    expect((await infoFor(403)).message).toMatch(/does not accept the key\. Check search\.embedder\.apiKey/);
    expect(await infoFor(429)).toMatchObject({ retryable: true, code: 'RATE_LIMITED', retryAfterMs: 7000 });
  });

  it('tells a refused text from a refused request', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 413;
    await expect(open(kind, service).embed(['a'])).rejects.toBeInstanceOf(InputRefusedError);
  });

  it.each<Behaviour>(['hang', 'stall'])('may not %s', async (behaviour) => {
    await using service = await startEmbeddingService();
    service.behaviour = behaviour;
    const error = await failureOf(open(kind, service, { requestMs: 60 }).embed(['a']));
    expect(error.message).toMatch(/did not answer within 60 ms/);
  });

  it('may not send more than it should', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 'huge';
    const error = await failureOf(open(kind, service, { maxBytes: 100_000 }).embed(['a']));
    expect(error.code).toBe('RESULT_TOO_LARGE');
  });

  it('stops asking when no caller waits any more', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 'hang';
    const ending = new AbortController();
    const asked = open(kind, service).embed(['a'], { signal: ending.signal });
    ending.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });

  it('cannot be reached if no server listens', async () => {
    const service = await startEmbeddingService();
    await service[Symbol.asyncDispose]();
    expect((await failureOf(open(kind, service).embed(['a']))).message).toMatch(
      /could not be reached \(ECONNREFUSED\)/,
    );
  });
});

describe('an openai service', () => {
  it('may answer in any order', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 'shuffled';
    const vectors = await open('openai', service).embed(['a', 'b', 'c']);
    expect(vectors.map((vector) => [...vector])).toEqual(
      ['a', 'b', 'c'].map((text) => [...Float32Array.from(vectorOf(text))]),
    );
  });

  it('must say which vector belongs to which text', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 'same-index';
    expect((await failureOf(open('openai', service).embed(['a', 'b']))).message).toMatch(/does not say which vector/);
  });

  it('is understood with the whole path in its address, a slash at the end, or a name and password in it', async () => {
    await using service = await startEmbeddingService();
    const address = service.url.replace('http://', '');
    for (const url of [`${service.url}/v1/embeddings`, `${service.url}/v1/`, `http://me:p%40ss@${address}/v1?api=2`])
      await openAiEmbedder({ url, model: 'm' }).embed(['a']);
    expect(service.requests.map(({ path }) => path)).toEqual([
      '/v1/embeddings',
      '/v1/embeddings',
      '/v1/embeddings?api=2',
    ]);
    expect(service.requests[2]?.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
  });

  it('needs an address and a key that HTTP allows; messages do not show them', async () => {
    const attempt = (more: Partial<ServiceOptions>) =>
      openAiEmbedder({ url: 'http://127.0.0.1:1', model: 'm', ...more }).embed(['a']);
    await expect(attempt({ url: 'ftp://x' })).rejects.toThrow(ConfigurationError);
    await expect(attempt({ url: 'nowhere' })).rejects.toThrow(ConfigurationError);
    const error = await failureOf(attempt({ apiKey: 'sk-\u0000secret' }));
    expect(error.message).not.toContain('secret');
  });
});

describe('the configured embedder', () => {
  it('expands references for each request and never keeps what they stand for', async () => {
    await using service = await startEmbeddingService();
    const settings: EmbedderSettings = { type: 'openai', url: '${BASE}/v1', model: 'm', apiKey: '${KEY}' };
    let key = 'first';
    const expand = (text: string) => text.replace('${BASE}', service.url).replace('${KEY}', key);
    const embedder = openEmbedder(settings, { expand });
    await embedder.embed(['a']);
    key = 'second';
    await embedder.embed(['a']);
    expect(service.requests.map(({ authorization }) => authorization)).toEqual(['Bearer first', 'Bearer second']);
    expect(embedder.id).not.toContain(service.url);
  });

  it('has the usual address of each kind, and an id that tells models apart', () => {
    const idOf = (settings: EmbedderSettings) => openEmbedder(settings, {}).id;
    expect(idOf({ type: 'openai', model: 'a' })).toContain('https://api.openai.com/v1');
    expect(idOf({ type: 'ollama', model: 'a' })).toContain('http://localhost:11434');
    const ids = [
      idOf({ type: 'ollama', model: 'a' }),
      idOf({ type: 'ollama', model: 'b' }),
      idOf({ type: 'ollama', model: 'a', dimensions: 256 }),
      idOf({ type: 'ollama', model: 'a', toolPrefix: 'x' }),
    ];
    expect(new Set(ids).size).toBe(4);
  });
});
