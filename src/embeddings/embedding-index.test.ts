import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Behaviour, startEmbeddingService } from '../../test/fixtures/embedding-service.ts';
import { memoryLog, until } from '../../test/fixtures/engine.ts';
import { FileStore } from '../cache/file-store.ts';
import type { Embedder, ToolMetadata } from '../core/types.ts';
import { BACKGROUND } from './background.ts';
import { EmbeddingIndex, type EmbeddingIndexOptions } from './embedding-index.ts';
import { openEmbedder } from './open-embedder.ts';
import type { ToolSource } from './tool-source.ts';

const tool = (server: string, name: string, description = ''): ToolMetadata => ({
  server,
  name,
  description,
  summary: description,
  enabled: true,
  tags: [],
});

/** A catalogue in memory: servers by name, tools with descriptions. */
class Shelf implements ToolSource {
  reads = 0;
  readonly lists: Record<string, Record<string, string>>;

  constructor(lists: Record<string, Record<string, string>>) {
    this.lists = lists;
  }

  servers() {
    return Object.entries(this.lists).map(([name, tools]) => ({
      name,
      fingerprint: 'f',
      stamp: JSON.stringify(tools),
      toolCount: Object.keys(tools).length,
    }));
  }

  async tools(server: string) {
    this.reads++;
    return Object.entries(this.lists[server] ?? {}).map(([name, description]) => tool(server, name, description));
  }
}

const LISTS = {
  github: { create_issue: 'Opens a bug report', list_pulls: 'Shows pull requests waiting for review' },
  mail: { send: 'Sends a letter to a person', search: 'Finds letters by sender' },
};

interface Kit extends AsyncDisposable {
  readonly index: EmbeddingIndex;
  readonly log: ReturnType<typeof memoryLog>;
}
const kit = (options: Omit<EmbeddingIndexOptions, 'logger'>): Kit => {
  const log = memoryLog();
  const index = new EmbeddingIndex({ random: () => 1, timeoutMs: 5_000, ...options, logger: log });
  return { index, log, [Symbol.asyncDispose]: () => index.close() };
};
const embedderOf = (service: { url: string }, more: { dimensions?: number } = {}): Embedder =>
  openEmbedder({ type: 'openai', url: `${service.url}/v1`, model: 'm', ...more }, {});
const temporary = () => {
  const path = mkdtempSync(join(tmpdir(), 'vectors-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
};

describe('an embedding index', () => {
  it('finds the tools most alike to a query, once all tools have been read', async () => {
    await using service = await startEmbeddingService();
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS) });
    const { index } = kitted;
    expect(await index.similar('a bug report')).toBeUndefined();
    expect(await index.complete()).toMatchObject({ tools: 4, embedded: 4 });
    const found = await index.similar('opens a bug report');
    expect(found).toHaveLength(4);
    expect(found?.[0]).toMatchObject({ server: 'github', tool: 'create_issue' });
    expect(found?.[0]?.score).toBeGreaterThan(0.5);
    expect((await index.similar('opens a bug report', { server: 'mail' }))?.map(({ server }) => server)).toEqual([
      'mail',
      'mail',
    ]);
    expect(index.status().problem).toBeUndefined();
  });

  it('asks for many texts at once, and for a query once', async () => {
    await using service = await startEmbeddingService();
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`tool${at}`, `does number ${at}`]));
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf({ many, ...LISTS }) });
    await kitted.index.complete();
    expect(service.requests.map(({ input }) => input.length)).toEqual([64, 64, 26 + BACKGROUND.toolCount]);
    await Promise.all([kitted.index.similar('letter'), kitted.index.similar('letter')]);
    await kitted.index.similar(' letter ');
    expect(service.requests).toHaveLength(4);
  });

  it('reads behind an answer, and only texts that have changed', async () => {
    await using service = await startEmbeddingService();
    const source = new Shelf(structuredClone(LISTS));
    await using kitted = kit({ embedder: embedderOf(service), source });
    const { index } = kitted;
    expect(await index.similar('letter')).toBeUndefined();
    await until(() => index.status().embedded === 4);
    (source.lists.mail as Record<string, string>).delete = 'Throws letters away';
    source.lists.notes = { write: 'Keeps a thought' };
    index.catchUp();
    await until(() => index.status().embedded === 6);
    expect(service.texts().filter((text) => text.startsWith('mail: send'))).toHaveLength(1);
    delete source.lists.github;
    expect((await index.similar('letter'))?.map(({ server }) => server)).not.toContain('github');
    expect(index.status()).toMatchObject({ tools: 4, embedded: 4 });
  });

  it('does not compare where most tools have no vector yet', async () => {
    await using service = await startEmbeddingService();
    const source = new Shelf(structuredClone(LISTS));
    await using kitted = kit({ embedder: embedderOf(service), source, background: false });
    await kitted.index.complete();
    source.lists.late = { one: 'x', two: 'y' };
    expect(await kitted.index.similar('letter')).toBeUndefined();
    expect(await kitted.index.similar('letter', { server: 'mail' })).toHaveLength(2);
    expect(await kitted.index.similar('letter', { server: 'nobody' })).toBeUndefined();
  });

  it('has no answer to nothing, and none after its end', async () => {
    await using service = await startEmbeddingService();
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS) });
    await kitted.index.complete();
    expect(await kitted.index.similar(' \n ')).toBeUndefined();
    await kitted.index.close();
    expect(await kitted.index.similar('letter')).toBeUndefined();
    expect(await kitted.index.complete()).toMatchObject({ embedded: 4 });
  });

  it('leaves more tools alone than it may have', async () => {
    await using service = await startEmbeddingService();
    await using few = kit({ embedder: embedderOf(service), source: new Shelf(LISTS), maxTools: 3 });
    expect(await few.index.complete()).toMatchObject({ embedded: 0, problem: expect.stringMatching(/at most 3/) });
    expect(await few.index.similar('letter')).toBeUndefined();
    expect(service.requests).toHaveLength(0);
    await using small = kit({ embedder: embedderOf(service), source: new Shelf(LISTS), maxBytes: 100 });
    expect(await small.index.complete()).toMatchObject({ problem: expect.stringMatching(/more than 100 bytes/) });
  });

  it('asks for no more once the first vectors show how much all would take', async () => {
    await using service = await startEmbeddingService();
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`tool${at}`, `does number ${at}`]));
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf({ many }), maxBytes: 300 });
    expect(await kitted.index.complete()).toMatchObject({ problem: expect.stringMatching(/more than 300 bytes/) });
    expect(service.requests).toHaveLength(1);
  });
});

describe('vectors on disk', () => {
  it('serve the next process without a request for any tool and without reading a list', async () => {
    using folder = temporary();
    await using service = await startEmbeddingService();
    const embedder = embedderOf(service);
    await using first = kit({ embedder, source: new Shelf(LISTS), store: new FileStore(folder.path) });
    await first.index.complete();
    const answer = await first.index.similar('bug report');
    await first.index.close();
    const asked = service.requests.length;
    const source = new Shelf(LISTS);
    await using second = kit({ embedder, source, store: new FileStore(folder.path), background: false });
    expect(await second.index.similar('bug report')).toEqual(answer);
    expect(service.texts().slice(-1)).toEqual(['bug report']);
    expect(service.requests).toHaveLength(asked + 1);
    expect(source.reads).toBe(0);
  });

  it('are used for texts that stayed the same', async () => {
    using folder = temporary();
    await using service = await startEmbeddingService();
    const embedder = embedderOf(service);
    await using first = kit({ embedder, source: new Shelf(LISTS), store: new FileStore(folder.path) });
    await first.index.complete();
    await first.index.close();
    service.requests.length = 0;
    const source = new Shelf({ ...LISTS, mail: { send: LISTS.mail.send, answer: 'Writes back' } });
    await using second = kit({ embedder, source, store: new FileStore(folder.path) });
    expect(await second.index.complete()).toMatchObject({ tools: 4, embedded: 4 });
    expect(service.texts()).toEqual([expect.stringContaining('mail: answer')]);
  });

  it('belong to one embedder and one server', async () => {
    using folder = temporary();
    await using service = await startEmbeddingService();
    const store = new FileStore(folder.path);
    await using first = kit({ embedder: embedderOf(service), source: new Shelf(LISTS), store });
    await first.index.complete();
    const other = { ...embedderOf(service), id: 'another model' };
    await using second = kit({ embedder: other, source: new Shelf(LISTS), store, background: false });
    expect(await second.index.similar('letter')).toBeUndefined();
    await second.index.complete();
    expect(readdirSync(folder.path)).toHaveLength(6);
    expect((await store.keys()).join()).not.toContain('127.0.0.1');
  });

  it('that are damaged are requested again', async () => {
    using folder = temporary();
    await using service = await startEmbeddingService();
    const embedder = embedderOf(service);
    const store = new FileStore(folder.path);
    await using first = kit({ embedder, source: new Shelf(LISTS), store });
    await first.index.complete();
    await first.index.close();
    for (const key of await store.keys()) {
      const bytes = Uint8Array.from((await store.read(key)) as Uint8Array);
      bytes[bytes.length - 3] = 99;
      await store.write(key, bytes);
    }
    service.requests.length = 0;
    await using second = kit({ embedder, source: new Shelf(LISTS), store });
    expect(await second.index.complete()).toMatchObject({ embedded: 4 });
    expect(service.texts()).toHaveLength(4 + BACKGROUND.toolCount);
  });

  it('are written again before they would be swept away', async () => {
    using folder = temporary();
    await using service = await startEmbeddingService();
    const embedder = embedderOf(service);
    let writes = 0;
    const files = new FileStore(folder.path);
    const store = {
      read: (key: string) => files.read(key),
      write: (key: string, bytes: Uint8Array) => {
        writes++;
        return files.write(key, bytes);
      },
      delete: (key: string) => files.delete(key),
    };
    let now = 0;
    const options = { embedder, source: new Shelf(LISTS), store, now: () => now };
    await using first = kit(options);
    await first.index.complete();
    await first.index.close();
    expect(writes).toBe(3);
    for (const [days, expected] of [
      [6, 3],
      [8, 6],
      [14, 6],
    ] as const) {
      now = days * 24 * 3600_000;
      await using later = kit(options);
      await later.index.similar('letter');
      await later.index.close();
      expect(writes).toBe(expected);
    }
  });

  it('can be forgotten, of one server or of all', async () => {
    using folder = temporary();
    await using service = await startEmbeddingService();
    const options = { embedder: embedderOf(service), source: new Shelf(LISTS), store: new FileStore(folder.path) };
    await using kitted = kit({ ...options, background: false });
    await kitted.index.complete();
    await kitted.index.forget('mail');
    expect(kitted.index.status()).toMatchObject({ embedded: 2 });
    expect(readdirSync(folder.path)).toHaveLength(2);
    await kitted.index.forget();
    expect(readdirSync(folder.path)).toHaveLength(0);
    await kitted.index.complete();
    expect(readdirSync(folder.path)).toHaveLength(3);
  });

  it('that cannot be kept are said once, and search goes on from memory', async () => {
    using folder = temporary();
    writeFileSync(join(folder.path, 'file'), '');
    await using service = await startEmbeddingService();
    const store = new FileStore(join(folder.path, 'file'));
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS), store });
    await kitted.index.complete();
    expect(await kitted.index.similar('letter')).toHaveLength(4);
    await kitted.index.close();
    expect(kitted.log.lines.filter((line) => line.includes('STORAGE_ERROR'))).toHaveLength(1);
  });
});

describe('an embedder that misbehaves', () => {
  const BAD: readonly Behaviour[] = [
    500,
    401,
    429,
    404,
    'few',
    'null-vectors',
    'null-numbers',
    'zeros',
    'nan',
    'infinite',
    'no-list',
    'cut',
    'html',
    'same-index',
    'ragged',
  ];

  it.each(BAD)('gives no vectors: %s; that is said once, and it is left alone', async (behaviour) => {
    await using service = await startEmbeddingService();
    service.behaviour = behaviour;
    let now = 0;
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS), now: () => now });
    const { index, log } = kitted;
    expect(await index.complete()).toMatchObject({ embedded: 0, problem: expect.any(String) });
    const asked = service.requests.length;
    for (let count = 0; count < 3; count++) {
      expect(await index.similar('letter')).toBeUndefined();
      await index.complete();
    }
    expect(service.requests).toHaveLength(asked);
    expect(log.lines.filter((line) => line.startsWith('warn'))).toHaveLength(1);
    service.behaviour = 'good';
    now += 301_000;
    expect(await index.complete()).toEqual({ id: expect.any(String), tools: 4, embedded: 4 });
    expect(await index.similar('letter')).toHaveLength(4);
    expect(log.lines.filter((line) => line.startsWith('info the embedder works again'))).toHaveLength(1);
  });

  it('is asked less and less often, and not before it said', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 500;
    let now = 0;
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS), now: () => now });
    const waits: number[] = [];
    for (let before = 0; waits.length < 4; now += 100) {
      await kitted.index.complete();
      if (service.requests.length === waits.length) continue;
      waits.push(now - before);
      before = now;
    }
    expect(waits).toEqual([0, 1000, 2000, 4000]);
    service.behaviour = 429;
    now += 8000;
    await kitted.index.complete();
    now += 299_000;
    await kitted.index.complete();
    expect(service.requests).toHaveLength(6);
  });

  it('goes on by itself when it is well again', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 503;
    let now = 0;
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS), now: () => now });
    await kitted.index.complete();
    now += 2000;
    service.behaviour = 'good';
    await until(() => {
      kitted.index.catchUp();
      return kitted.index.status().embedded === 4;
    });
  });

  it('keeps what is known usable while it is down, for queries that came before', async () => {
    await using service = await startEmbeddingService();
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS) });
    await kitted.index.complete();
    const before = await kitted.index.similar('letter');
    service.behaviour = 500;
    expect(await kitted.index.similar('something new')).toBeUndefined();
    expect(await kitted.index.similar('letter')).toEqual(before);
    expect(kitted.index.status().problem).toMatch(/HTTP 500/);
  });

  it.each<Behaviour>(['hang', 'stall'])(
    'and answers nothing (%s) is waited for a moment, and not by every search',
    async (behaviour) => {
      await using service = await startEmbeddingService();
      await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS), timeoutMs: 50 });
      const { index, log } = kitted;
      await index.complete();
      service.behaviour = behaviour;
      const began = performance.now();
      expect(await index.similar('one')).toBeUndefined();
      expect(performance.now() - began).toBeGreaterThan(45);
      const later = new Promise((resolve) => setImmediate(resolve, 'waited'));
      expect(await Promise.race([index.similar('two'), later])).toBeUndefined();
      expect(index.status().problem).toMatch(/did not answer within 50 ms \(search\.embedder\.timeoutMs\)/);
      expect(log.lines.filter((line) => line.startsWith('warn'))).toHaveLength(1);
    },
  );

  it('and answers late is used once it has answered', async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const slow: Embedder = {
      id: 'slow',
      embed: async (texts, { purpose } = {}) => {
        if (purpose === 'query') await answered;
        return texts.map((text) => Float32Array.of(1, text.length));
      },
    };
    await using kitted = kit({ embedder: slow, source: new Shelf(LISTS), timeoutMs: 40 });
    await kitted.index.complete();
    expect(await kitted.index.similar('letter')).toBeUndefined();
    answer();
    expect(await kitted.index.similar('letter')).toHaveLength(4);
    expect(kitted.index.status().problem).toBeUndefined();
  });

  it('loses a bad vector or two and keeps the rest', async () => {
    using folder = temporary();
    await using service = await startEmbeddingService();
    service.behaviour = 'one-zero';
    const store = new FileStore(folder.path);
    const embedder = embedderOf(service);
    await using first = kit({ embedder, source: new Shelf(LISTS), store });
    expect(await first.index.complete()).toEqual({ id: embedder.id, tools: 4, embedded: 3 });
    expect(await first.index.similar('letter')).toHaveLength(3);
    await first.index.complete();
    expect(service.requests).toHaveLength(2);
    await first.index.close();
    service.behaviour = 'good';
    await using second = kit({ embedder, source: new Shelf(LISTS), store });
    expect(await second.index.complete()).toMatchObject({ embedded: 4 });
  });

  it('refuses one text and gets the others', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 'refuse-poison';
    const tools = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`t${at}`, at === 17 ? 'poison' : 'fine']));
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf({ tools }) });
    expect(await kitted.index.complete()).toEqual({ id: expect.any(String), tools: 60, embedded: 59 });
    expect(service.requests.length).toBeLessThan(16);
    expect(await kitted.index.similar('fine')).toHaveLength(59);
  });

  it('refuses every text and is left alone', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 400;
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS) });
    expect(await kitted.index.complete()).toMatchObject({ embedded: 0, problem: expect.stringMatching(/HTTP 400/) });
    expect(service.requests).toHaveLength(2);
  });

  it('gives vectors of another length: once is a mistake, twice is another model, and all tools are embedded again', async () => {
    await using service = await startEmbeddingService();
    let now = 0;
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS), now: () => now });
    const { index } = kitted;
    await index.complete();
    service.behaviour = 'longer';
    expect(await index.similar('one')).toBeUndefined();
    expect(index.status()).toMatchObject({ embedded: 4, problem: expect.stringMatching(/64 numbers instead of 32/) });
    service.behaviour = 'good';
    now += 10_000;
    expect(await index.similar('two')).toHaveLength(4);
    service.behaviour = 'longer';
    for (const query of ['three', 'four']) {
      expect(await index.similar(query)).toBeUndefined();
      now += 20_000;
    }
    expect(await index.complete()).toEqual({ id: expect.any(String), tools: 4, embedded: 4 });
    expect(await index.similar('letter')).toHaveLength(4);
  });

  it('gives vectors of another length than was asked for', async () => {
    await using service = await startEmbeddingService();
    const source = new Shelf(LISTS);
    await using kitted = kit({ embedder: embedderOf(service, { dimensions: 16 }), source, dimensions: 16 });
    expect(await kitted.index.complete()).toMatchObject({
      embedded: 0,
      problem: expect.stringMatching(/32 numbers, but search\.embedder\.dimensions is 16/),
    });
  });

  it('and throws, or returns garbage, does no harm', async () => {
    const answers: unknown[] = [undefined, 'x', [[1, 2]], [Float32Array.of(1)]];
    for (const answer of answers) {
      const embedder = { id: 'own', embed: async () => answer } as unknown as Embedder;
      await using kitted = kit({ embedder, source: new Shelf(LISTS) });
      expect(await kitted.index.complete()).toMatchObject({ embedded: 0, problem: expect.any(String) });
    }
    const thrower: Embedder = { id: 'own', embed: () => Promise.reject('just text') };
    await using kitted = kit({ embedder: thrower, source: new Shelf(LISTS) });
    expect(await kitted.index.complete()).toMatchObject({ problem: 'just text' });
  });
});

describe('the end of an index', () => {
  it('does not wait for an embedder that hangs, and keeps what came before', async () => {
    using folder = temporary();
    await using service = await startEmbeddingService();
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`tool${at}`, `does number ${at}`]));
    const store = new FileStore(folder.path);
    const embedder = embedderOf(service);
    let batches = 0;
    const hanging: Embedder = {
      ...embedder,
      embed: (texts, options) => (++batches > 1 ? new Promise(() => {}) : embedder.embed(texts, options)),
    };
    await using first = kit({ embedder: hanging, source: new Shelf({ many }), store });
    first.index.catchUp();
    await until(() => batches === 2);
    await first.index.close();
    await using second = kit({ embedder, source: new Shelf({ many }), store });
    await second.index.complete();
    expect(service.requests.map(({ input }) => input.length)).toEqual([64, 36 + BACKGROUND.toolCount]);
  });

  it('is also the end of waiting for it', async () => {
    await using service = await startEmbeddingService();
    service.behaviour = 'hang';
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS) });
    const ending = new AbortController();
    const completing = kitted.index.complete(ending.signal);
    ending.abort();
    expect(await completing).toMatchObject({ embedded: 0 });
  });

  it('may be the beginning of another catalogue', async () => {
    await using service = await startEmbeddingService();
    await using kitted = kit({ embedder: embedderOf(service), source: new Shelf(LISTS) });
    await kitted.index.complete();
    kitted.index.replaceSource(new Shelf({ mail: LISTS.mail }));
    expect(await kitted.index.complete()).toMatchObject({ tools: 2 });
    expect(await kitted.index.similar('letter')).toHaveLength(2);
    expect(service.texts()).toHaveLength(5 + BACKGROUND.toolCount);
  });
});
