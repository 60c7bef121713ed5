import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type EmbeddingService, startEmbeddingService } from '../../test/fixtures/embedding-service.ts';
import { BROKEN, engineIn, entry, folder, memoryLog, sample, until } from '../../test/fixtures/engine.ts';
import type { Embedder } from '../core/types.ts';

const tool = (name: string, description: string) => ({ name, description });
const SERVERS = [
  entry('tracker', BROKEN, {
    tools: [tool('create_ticket', 'Opens a ticket for a problem'), tool('close_ticket', 'Closes a ticket')],
  }),
  entry('post', BROKEN, { tools: [tool('send', 'Sends a letter to a person'), tool('find', 'Finds letters')] }),
];
const config = ({ url }: Pick<EmbeddingService, 'url'>, more: object = {}) => ({
  servers: SERVERS,
  search: {
    embedder: { type: 'openai', url: `${url}/v1`, model: 'm', apiKey: '${EMBED_KEY}', timeoutMs: 5000, ...more },
  },
});
const env = { EMBED_KEY: 'sk-secret-12345678' };
const queries = ['open a ticket', 'letter to a person', 'send', 'qwertz'];

describe('an engine with an embedder', () => {
  it('embeds its tools in the background after the first search, and queries after that', async () => {
    using home = folder();
    await using service = await startEmbeddingService();
    await using engine = engineIn(home, config(service), { env });
    await engine.searchTools('open a ticket');
    await until(async () => (await engine.embedder())?.embedded === 4);
    expect(service.requests).toMatchObject([{ authorization: 'Bearer sk-secret-12345678', model: 'm' }]);
    expect(service.texts()[1]).toBe('tracker: create ticket\nOpens a ticket for a problem');
    expect((await engine.searchTools('open a ticket'))[0]).toMatchObject({ tool: 'create_ticket' });
    expect(service.texts().at(-1)).toBe('open a ticket');
    expect(service.requests).toHaveLength(2);
  });

  it('keeps vectors over a restart, and asks for none again', async () => {
    using home = folder();
    await using service = await startEmbeddingService();
    await using first = engineIn(home, config(service), { env });
    expect(await first.embedder(true)).toEqual({ id: expect.any(String), tools: 4, embedded: 4 });
    await first.close();
    expect(readdirSync(join(home.path, 'cache', 'vectors'))).toHaveLength(3);
    service.requests.length = 0;
    await using second = engineIn(home, config(service), { env, background: false });
    await second.searchTools('open a ticket');
    expect(service.texts()).toEqual(['open a ticket']);
    expect(home.contents()).not.toContain('sk-secret');
  });

  it('answers like one without an embedder while the service is down, whether or not it ever worked', async () => {
    using home = folder();
    using other = folder();
    await using plain = engineIn(other, { servers: SERVERS });
    const service = await startEmbeddingService();
    await using engine = engineIn(home, config(service), { env });
    await engine.embedder(true);
    await service[Symbol.asyncDispose]();
    using empty = folder();
    await using never = engineIn(empty, config(service), { env });
    for (const query of queries) {
      const expected = await plain.find(query);
      expect(await engine.find(query)).toEqual(expected);
      expect(await never.find(query)).toEqual(expected);
    }
    expect(await engine.embedder()).toMatchObject({ problem: expect.stringMatching(/could not be reached/) });
  });

  it('reports what is wrong without showing the key', async () => {
    using home = folder();
    await using service = await startEmbeddingService();
    service.behaviour = 500;
    const logger = memoryLog();
    await using engine = engineIn(home, config(service), { env, logger });
    const status = await engine.embedder(true);
    expect(status?.problem).toMatch(/HTTP 500: model "m" says no \*\*\*/);
    expect(logger.lines.join('\n')).toMatch(/search continues without the embedder/);
    expect(logger.lines.join('\n')).not.toContain('sk-secret');
    expect(JSON.stringify(await engine.getConfig())).toContain('${EMBED_KEY}');
  });

  it('says which variable is missing', async () => {
    using home = folder();
    await using service = await startEmbeddingService();
    await using engine = engineIn(home, config(service));
    expect(await engine.embedder(true)).toMatchObject({ problem: expect.stringMatching(/EMBED_KEY is not set/) });
    expect(service.requests).toHaveLength(0);
  });

  it('speaks Ollama where that is configured', async () => {
    using home = folder();
    await using service = await startEmbeddingService();
    const embedder = { type: 'ollama', url: service.url, model: 'nomic-embed-text', toolPrefix: 'search_document: ' };
    await using engine = engineIn(home, { servers: SERVERS, search: { embedder } });
    expect(await engine.embedder(true)).toMatchObject({ embedded: 4 });
    expect(service.requests).toMatchObject([{ path: '/api/embed', authorization: undefined }]);
    expect(service.texts()[1]).toMatch(/^search_document: tracker: create ticket/);
  });

  it('takes an embedder from the program', async () => {
    using home = folder();
    const asked: string[] = [];
    const embedder: Embedder = {
      id: 'own',
      embed: async (texts, { purpose } = {}) => {
        asked.push(`${purpose} ${texts.length}`);
        return texts.map((text) => Float32Array.of(1, text.length));
      },
    };
    await using engine = engineIn(home, { servers: SERVERS }, { embedder });
    expect(await engine.embedder(true)).toEqual({ id: 'own', tools: 4, embedded: 4 });
    await engine.searchTools('open a ticket');
    expect(asked).toEqual(['tool 20', 'query 1']);
  });

  it('embeds the tools of a real server, with the texts of the configuration', async () => {
    using home = folder();
    await using service = await startEmbeddingService();
    const units = entry('units', sample('units'), { tools: [{ name: 'convert_length', keywords: ['metres'] }] });
    await using engine = engineIn(home, { ...config(service), servers: [units] }, { env });
    await engine.readLists({ again: true });
    const status = await engine.embedder(true);
    expect(status).toMatchObject({ embedded: status?.tools });
    expect(service.texts().find((text) => text.startsWith('units: convert length'))).toMatch(
      /\nmetres\nParameters: value/,
    );
    await engine.close();
    service.requests.length = 0;
    // The list is on disk only now; another word in the configuration changes one text.
    const changed = { ...units, tools: [{ name: 'convert_length', keywords: ['miles'] }] };
    await using second = engineIn(home, { ...config(service), servers: [changed] }, { env, background: false });
    await second.embedder(true);
    expect(service.texts()).toEqual([expect.stringMatching(/^units: convert length.*\nmiles\n/s)]);
  });

  it('forgets vectors with the lists they belong to', async () => {
    using home = folder();
    await using service = await startEmbeddingService();
    await using engine = engineIn(home, config(service), { env, background: false });
    await engine.embedder(true);
    await engine.forget('post');
    expect(readdirSync(join(home.path, 'cache', 'vectors'))).toHaveLength(2);
    await engine.forget();
    expect(readdirSync(join(home.path, 'cache', 'vectors'))).toHaveLength(0);
  });

  it('keeps its vectors over a reload, unless the embedder changes', async () => {
    using home = folder();
    await using service = await startEmbeddingService();
    const written = { ...config(service), cache: { enabled: false } };
    await using engine = engineIn(home, written, { env });
    await engine.embedder(true);
    written.servers = SERVERS.slice(0, 1);
    await engine.reload();
    expect(await engine.embedder(true)).toMatchObject({ tools: 2 });
    expect(service.requests).toHaveLength(1);
    written.search.embedder.model = 'another';
    await engine.reload();
    expect(await engine.embedder(true)).toMatchObject({ tools: 2, embedded: 2 });
    expect(service.requests.map(({ model }) => model)).toEqual(['m', 'another']);
  });

  it('asks no service offline or without an embedder', async () => {
    using home = folder();
    await using service = await startEmbeddingService();
    await using offline = engineIn(home, config(service), { env, offline: true });
    await offline.searchTools('open a ticket');
    expect(await offline.embedder(true)).toBeUndefined();
    expect(service.requests).toHaveLength(0);
    await using plain = engineIn(home, { servers: SERVERS });
    expect(await plain.embedder(true)).toBeUndefined();
    await plain.forget();
  });

  it('is refused with an invalid setting', async () => {
    using home = folder();
    await using engine = engineIn(home, { servers: [], search: { embedder: { type: 'open-ai', modell: 'm' } } });
    await expect(engine.embedder()).rejects.toThrow(/search\.embedder/);
  });
});
