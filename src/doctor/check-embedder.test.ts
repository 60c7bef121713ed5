import { describe, expect, it } from 'vitest';
import { startEmbeddingService } from '../../test/fixtures/embedding-service.ts';
import { checkEmbedder } from './check-embedder.ts';

const search = (url: string, more: object = {}) => ({
  search: {
    meaning: true,
    phrases: true,
    learn: true,
    keepQueries: false,
    embedder: { type: 'openai' as const, url: `${url}/v1`, model: 'm', apiKey: '${KEY}', timeoutMs: 5000, ...more },
  },
});
const env = { KEY: 'sk-secret-12345678' };

describe('the check of an embedder', () => {
  it('asks for one vector and says how long it took', async () => {
    await using service = await startEmbeddingService();
    expect(await checkEmbedder(search(service.url), { env })).toEqual([
      {
        kind: 'configuration',
        subject: 'search.embedder m',
        check: 'embed',
        status: 'ok',
        detail: 'returns vectors of 32 numbers',
        ms: expect.any(Number),
      },
    ]);
    expect(service.requests).toHaveLength(1);
  });

  it('warns of one that is slower than a search waits for', async () => {
    await using service = await startEmbeddingService();
    const [check] = await checkEmbedder(search(service.url, { timeoutMs: -1 }), { env });
    expect(check).toMatchObject({ status: 'warn', fix: expect.stringMatching(/search\.embedder\.timeoutMs/) });
  });

  it('warns of one that does not work, without its key', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 500;
    const [check] = await checkEmbedder(search(service.url), { env });
    expect(check).toMatchObject({ status: 'warn', detail: expect.stringMatching(/HTTP 500/) });
    expect(JSON.stringify(check)).not.toContain('sk-secret');
    service.behaviour = 'zeros';
    expect(await checkEmbedder(search(service.url), { env })).toMatchObject([
      { status: 'warn', detail: expect.stringMatching(/zeros/) },
    ]);
    expect(await checkEmbedder(search(service.url), { env: {} })).toMatchObject([
      { status: 'warn', detail: expect.stringMatching(/KEY is not set/) },
    ]);
  });

  it('has nothing to say where there is none', async () => {
    expect(
      await checkEmbedder({ search: { meaning: true, phrases: true, learn: true, keepQueries: false } }, { env }),
    ).toEqual([]);
  });
});
