import { describe, expect, it } from 'vitest';
import * as z from 'zod/v4';
import {
  DiscoveryError,
  ToolNotFoundError,
  type ToolProvider,
  ToolRegistry,
  type ToolSummary,
} from '../../registry.ts';

const textOf = (result: unknown): string => (result as { content: [{ text: string }] }).content[0].text;
const errorOf = (result: unknown) => JSON.parse(textOf(result)).error;

/** A provider of these tools that counts how often it is asked. */
function counting(
  list: () => readonly ToolSummary[] | Promise<readonly ToolSummary[]>,
  rest: Partial<ToolProvider> = {},
) {
  const asked = { lists: 0, definitions: 0 };
  const provider: ToolProvider = {
    name: 'crm',
    listToolMetadata: () => {
      asked.lists++;
      return list();
    },
    getTool: (name) => {
      asked.definitions++;
      return { name, inputSchema: { type: 'object' } };
    },
    callTool: (name) => ({ content: [{ type: 'text', text: name }] }),
    ...rest,
  };
  return { provider, asked };
}
const ONE = [{ name: 'find_customer', description: 'Find a customer' }];
const never = <T>(): Promise<T> => new Promise(() => {});

describe('the list of a provider', () => {
  it('is read on first use, once for all callers at the same time, and cached', async () => {
    const registry = new ToolRegistry();
    const { provider, asked } = counting(() => new Promise((resolve) => setImmediate(() => resolve(ONE))));
    registry.addProvider(provider);
    expect(asked.lists).toBe(0);
    const answers = await Promise.all(Array.from({ length: 20 }, () => registry.search('customer')));
    expect(answers.every(({ results }) => results[0]?.name === 'find_customer')).toBe(true);
    await registry.search('customer');
    expect(asked).toEqual({ lists: 1, definitions: 1 });
  });

  it('is refreshed in the background once it is five minutes old', async () => {
    let now = 0;
    let list = ONE;
    const registry = new ToolRegistry({ now: () => now });
    const { provider, asked } = counting(() => list);
    registry.addProvider(provider);
    await registry.search('customer');
    list = [{ name: 'find_order', description: 'Find an order' }];
    now = 299_999;
    await registry.search('find');
    expect(asked.lists).toBe(1);
    now = 300_000;
    expect((await registry.search('find')).results[0]?.name).toBe('find_customer');
    await new Promise((resolve) => setImmediate(resolve));
    expect((await registry.search('find')).results[0]?.name).toBe('find_order');
    expect(asked.lists).toBe(2);
  });

  it('is read again after invalidate, and when the revision changes', async () => {
    let list = ONE;
    let revision = 1;
    const { provider, asked } = counting(() => list);
    Object.defineProperty(provider, 'revision', { get: () => revision });
    const registry = new ToolRegistry();
    registry.addProvider(provider);
    const names = async () => (await registry.listToolMetadata()).map(({ name }) => name);
    expect(await names()).toEqual(['find_customer']);
    list = [...ONE, { name: 'b', description: '' }];
    expect(await names()).toHaveLength(1);
    registry.invalidate(provider);
    expect(await names()).toHaveLength(2);
    list = [...list, { name: 'c', description: '' }];
    revision = 2;
    expect(await names()).toHaveLength(3);
    registry.invalidate();
    await names();
    expect(asked.lists).toBe(4);
  });

  it('that was under way when it was invalidated does not count', async () => {
    const answers: ((tools: ToolSummary[]) => void)[] = [];
    const { provider } = counting(() => new Promise((resolve) => answers.push(resolve)));
    const registry = new ToolRegistry();
    registry.addProvider(provider);
    const before = registry.listToolMetadata();
    registry.invalidate();
    const after = registry.listToolMetadata();
    answers[1]?.([{ name: 'new', description: '' }]);
    expect(await after).toMatchObject([{ name: 'new' }]);
    answers[0]?.([{ name: 'old', description: '' }]);
    await before;
    expect(await registry.listToolMetadata()).toMatchObject([{ name: 'new' }]);
  });

  it('of another registry is always up to date', async () => {
    const inner = new ToolRegistry();
    const registry = new ToolRegistry();
    registry.addProvider(inner);
    expect(await registry.listToolMetadata()).toEqual([]);
    inner.registerTool({ name: 'late', description: 'Came late' }, () => 'here');
    expect((await registry.search('late')).results).toHaveLength(1);
    expect(textOf(await registry.callTool('late'))).toBe('here');
    inner.unregisterTool('late');
    expect((await registry.search('late')).results).toEqual([]);
  });
});

describe('a provider that misbehaves affects no other', () => {
  const withGood = (provider: ToolProvider, limits = {}, now?: () => number) => {
    const registry = new ToolRegistry({ providers: { waitMs: 30, ...limits }, now });
    registry.registerTool({ name: 'find_invoice', description: 'Find an invoice' }, () => 'found');
    registry.addProvider(provider);
    return registry;
  };

  it('by failing: the others are searched, and a note says so', async () => {
    let now = 0;
    const { provider, asked } = counting(() => Promise.reject(new Error('database is down')));
    const registry = withGood(provider, {}, () => now);
    const { results, notes } = await registry.search('find');
    expect(results.map(({ name }) => name)).toEqual(['find_invoice']);
    expect(notes).toEqual(['crm could not be asked (database is down)']);
    // It is left alone for a while, longer each time.
    await registry.search('find');
    expect(asked.lists).toBe(1);
    now = 1_000;
    await registry.search('find');
    expect(asked.lists).toBe(2);
    now = 2_500;
    await registry.search('find');
    expect(asked.lists).toBe(2);
  });

  it('by failing later: its last list is used, and a note says so', async () => {
    let now = 0;
    let list = () => ONE;
    const { provider } = counting(() => list());
    const registry = withGood(provider, {}, () => now);
    await registry.search('customer');
    list = () => {
      throw new Error('gone');
    };
    now = 400_000;
    await registry.search('customer');
    await new Promise((resolve) => setImmediate(resolve));
    const { results, notes } = await registry.search('customer');
    expect(results[0]?.name).toBe('find_customer');
    expect(notes).toEqual(['crm could not be asked (gone); its last list was used']);
  });

  it('by being slow: a search waits a moment, answers without it, and has it later', async () => {
    let answer: (tools: ToolSummary[]) => void = () => {};
    const { provider } = counting(() => new Promise((resolve) => (answer = resolve)));
    const registry = withGood(provider);
    const { results, notes } = await registry.search('find');
    expect(results.map(({ name }) => name)).toEqual(['find_invoice']);
    expect(notes).toEqual(['crm has not listed its tools yet']);
    answer(ONE);
    await new Promise((resolve) => setImmediate(resolve));
    expect((await registry.search('customer')).results[0]?.name).toBe('find_customer');
  });

  it('by never answering: listing, describing and calling all come to an end', async () => {
    const signals: AbortSignal[] = [];
    const { provider } = counting(() => ONE, {
      getTool: (_, { signal }) => {
        signals.push(signal);
        return never();
      },
      callTool: (_name, _args, { signal }) => {
        signals.push(signal);
        return never();
      },
    });
    const registry = withGood(provider, { callMs: 30 });
    const { results, notes } = await registry.search('customer');
    expect(results[0]).toEqual({ name: 'find_customer', description: 'Find a customer', score: expect.any(Number) });
    expect(notes[0]).toContain('The schema of "find_customer" is missing');
    expect(errorOf(await registry.callTool('find_customer'))).toMatchObject({
      code: 'TOOL_EXECUTION_TIMEOUT',
      tool: 'find_customer',
      outcome: 'unknown',
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    const slow = withGood(counting(never<ToolSummary[]>).provider, { listMs: 10 });
    expect((await slow.search('find')).notes).toEqual(['crm could not be asked (gave no list within 10 ms)']);
  });

  it.each([
    ['nothing', undefined],
    ['a text', 'tools'],
    ['an object', { tools: [] }],
  ])('by listing %s', async (_, list) => {
    const registry = withGood(counting(() => list as never).provider);
    const { results, notes } = await registry.search('find');
    expect(results).toHaveLength(1);
    expect(notes[0]).toContain('listToolMetadata did not return a list');
  });

  it('by listing entries that are no tools', async () => {
    const bad = [null, 7, {}, { name: '' }, { name: 'a\nb' }, { name: 'x'.repeat(300) }, { name: 5 }, ONE[0], ONE[0]];
    const odd = { name: 'odd', title: 1, description: 2, keywords: 'x', inputSchema: [], visible: 'yes' };
    const registry = withGood(counting(() => [...bad, odd] as never).provider);
    const { notes } = await registry.search('find');
    expect(notes).toEqual(['crm lists 8 unusable or duplicate entries']);
    expect(await registry.listToolMetadata()).toEqual([
      ONE[0],
      expect.objectContaining({ name: 'find_invoice' }),
      { name: 'odd' },
    ]);
  });

  it('by listing too many tools or too much text', async () => {
    const many = Array.from({ length: 50 }, (_, n) => ({ name: `tool_${n}`, description: 'x'.repeat(100) }));
    const counted = withGood(counting(() => many).provider, { maxTools: 20 });
    expect((await counted.search('tool', { maxResults: 100 })).notes[0]).toContain('more than 20 tools');
    expect(await counted.listToolMetadata()).toHaveLength(21);
    const weighed = withGood(counting(() => many).provider, { maxListBytes: 1_000 });
    expect((await weighed.search('tool')).notes[0]).toContain('more than 1000 bytes');
  });

  it('by giving schemas that are too large or too deep', async () => {
    let deep: Record<string, unknown> = { type: 'object' };
    for (let level = 0; level < 300; level++) deep = { type: 'object', properties: { deep } };
    const large = { type: 'object', description: 'x'.repeat(10_000) };
    for (const inputSchema of [deep, large]) {
      const { provider } = counting(() => ONE, { getTool: (name) => ({ name, inputSchema }) });
      const registry = withGood(provider, { maxToolBytes: 5_000 });
      const { results, notes } = await registry.search('customer');
      expect(results[0]).not.toHaveProperty('input_schema');
      expect(notes[0]).toContain('none of a usable size');
    }
  });

  it('by listing what it then does not have', async () => {
    const { provider } = counting(() => ONE, { getTool: () => null });
    expect((await withGood(provider).search('customer')).notes[0]).toContain('its provider has none');
  });

  it('with thousands of tools: they are searched like any others', async () => {
    const many = Array.from({ length: 3_000 }, (_, n) => ({
      name: `tool_${n}`,
      description: `Does thing number ${n}`,
    }));
    const registry = withGood(counting(() => many).provider, { waitMs: 10_000 });
    expect((await registry.search('tool_2345')).results[0]).toMatchObject({ name: 'tool_2345', score: 1 });
  });

  it('by throwing what is no error', async () => {
    const nothing = Object.create(null);
    const { provider } = counting(() => ONE, {
      getTool: () => Promise.reject(nothing),
      callTool: () => {
        throw nothing;
      },
    });
    const registry = withGood(provider);
    expect((await registry.search('customer')).notes[0]).toContain(
      'The schema of "find_customer" is missing: no reason was given',
    );
    expect(await registry.callTool('find_customer')).toEqual({
      content: [{ type: 'text', text: 'The tool failed and did not say why.' }],
      isError: true,
    });
    const listless = withGood(counting(() => Promise.reject(nothing)).provider);
    expect((await listless.search('find')).notes).toEqual(['crm could not be asked (no reason was given)']);
  });

  it('by a revision or a name that cannot be read', async () => {
    const { provider, asked } = counting(() => ONE);
    for (const field of ['revision', 'name']) {
      Object.defineProperty(provider, field, {
        get: () => {
          throw new Error('db');
        },
      });
    }
    const registry = withGood(provider);
    expect((await registry.search('customer')).results[0]?.name).toBe('find_customer');
    await registry.search('customer');
    expect(asked.lists).toBe(1);
    expect(registry.revision).toContain('1');
  });

  it('by an entry that cannot be read', async () => {
    const hostile = {
      get name(): string {
        throw new Error('boo');
      },
    };
    const { results, notes } = await withGood(counting(() => [...ONE, hostile]).provider).search('customer');
    expect(results[0]?.name).toBe('find_customer');
    expect(notes).toEqual(['crm lists 1 unusable or duplicate entry']);
  });

  it('by secrets in its error messages', async () => {
    const failing = new Error('connect pg://user:geheim@db: Bearer abc123def456 refused');
    const { provider } = counting(() => ONE, { getTool: () => Promise.reject(failing) });
    const { notes } = await withGood(provider).search('customer');
    expect(notes).toEqual([expect.stringContaining('connect pg://***@db: Bearer *** refused')]);
    const other = await withGood(counting(() => Promise.reject(failing)).provider).search('customer');
    expect(other.notes).toEqual(['crm could not be asked (connect pg://***@db: Bearer *** refused)']);
  });
});

describe('a call', () => {
  it('goes to the first provider that lists or describes the tool', async () => {
    const calls: string[] = [];
    const provider = (label: string, own: string): ToolProvider => ({
      listToolMetadata: () => [{ name: own }],
      getTool: (name) => (name === 'unlisted' ? { name, inputSchema: {} } : undefined),
      callTool: (name) => {
        calls.push(label);
        if (name !== own && name !== 'unlisted') throw new ToolNotFoundError(name);
        return { content: [{ type: 'text', text: label }] };
      },
    });
    const registry = new ToolRegistry();
    registry.addProvider(provider('a', 'one'));
    registry.addProvider(provider('b', 'two'));
    expect(textOf(await registry.callTool('two'))).toBe('b');
    expect(calls).toEqual(['b']);
    await registry.search('two');
    expect(textOf(await registry.callTool('two'))).toBe('b');
    expect(textOf(await registry.callTool('unlisted'))).toBe('a');
    expect(calls).toEqual(['b', 'b', 'a']);
    await expect(registry.callTool('three')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND', tool: 'three' });
  });

  it('that fails is a result, and so is one that wants a tool which is not there', async () => {
    const registry = new ToolRegistry();
    registry.addProvider({
      listToolMetadata: () => ['plain', 'ours', 'outer'].map((name) => ({ name })),
      getTool: () => undefined,
      callTool: (name) => {
        if (name === 'plain') throw new Error('disk full');
        if (name === 'ours') throw new DiscoveryError('RATE_LIMITED', 'Too fast');
        if (name === 'outer') throw new ToolNotFoundError('inner');
        throw new ToolNotFoundError(name);
      },
    });
    expect(await registry.callTool('plain')).toEqual({ content: [{ type: 'text', text: 'disk full' }], isError: true });
    expect(errorOf(await registry.callTool('ours'))).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    expect(errorOf(await registry.callTool('outer'))).toMatchObject({ code: 'TOOL_NOT_FOUND', tool: 'inner' });
  });

  it.each([
    ['the tool', { callTool: never }, 'unknown'],
    ['a definition', { getTool: never }, 'not_sent'],
  ])(
    'that waits for %s ends when the caller gives up, whether the provider listens or not',
    async (_, rest, outcome) => {
      const { provider } = counting(() => ONE, rest);
      const registry = new ToolRegistry();
      registry.addProvider(provider);
      const controller = new AbortController();
      const running = registry.callTool('find_customer', {}, { signal: controller.signal });
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect(errorOf(await running)).toMatchObject({ code: 'CANCELLED', outcome });
      expect(errorOf(await registry.callTool('find_customer', {}, { signal: AbortSignal.abort() }))).toMatchObject({
        code: 'CANCELLED',
        outcome: 'not_sent',
      });
    },
  );

  it('with arguments that are nested too deep is refused', async () => {
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 300; level++) deep = { deep };
    const registry = new ToolRegistry();
    registry.addProvider(counting(() => ONE).provider);
    expect(errorOf(await registry.callTool('find_customer', deep))).toMatchObject({ code: 'TOOL_VALIDATION_ERROR' });
  });
});

describe('a provider that is broken or slow', () => {
  const broken = (): ToolProvider => ({
    name: 'broken db',
    listToolMetadata: () => {
      throw new Error('list failed');
    },
    getTool: () => {
      throw new Error('getTool failed');
    },
    callTool: () => {
      throw new Error('callTool failed');
    },
  });
  const hanging = (): ToolProvider => ({ name: 'hang', listToolMetadata: never, getTool: never, callTool: never });
  const good = (): ToolRegistry => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'good', description: 'Do good' }, () => 'done');
    return registry;
  };
  const registryOf = (...providers: ToolProvider[]): ToolRegistry => {
    const registry = new ToolRegistry({ providers: { waitMs: 40 } });
    for (const provider of providers) registry.addProvider(provider);
    return registry;
  };

  it.each([
    ['broken, before it', () => registryOf(broken(), good())],
    ['broken, after it', () => registryOf(good(), broken())],
    ['slow, before it', () => registryOf(hanging(), good())],
    ['both', () => registryOf(hanging(), broken(), good())],
  ])('does not hide a tool of another that is called or described first: %s', async (_, create) => {
    expect(textOf(await create().callTool('good'))).toBe('done');
    expect(await create().getTool('good')).toMatchObject({ name: 'good' });
  });

  it('is waited for once, not at every call', async () => {
    const registry = new ToolRegistry({ providers: { waitMs: 100 } });
    registry.addProvider(hanging());
    registry.addProvider(good());
    await registry.callTool('good');
    const start = performance.now();
    for (let n = 0; n < 50; n++) await registry.callTool('good');
    // Waiting at every call would take five seconds.
    expect(performance.now() - start).toBeLessThan(3_000);
  });

  it('is named in the error for an unknown tool, beside suggestions', async () => {
    const registry = registryOf(broken(), good());
    const unknown = await registry.callTool('goood').catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(ToolNotFoundError);
    expect(unknown).toMatchObject({
      message:
        'No tool "goood". Did you mean good? But not all tools are known: broken db could not be asked (list failed).',
      details: { suggestions: ['good'], retryable: true },
    });
    await expect(registryOf(hanging(), good()).callTool('goood')).rejects.toThrow('hang has not listed its tools yet');
    expect(await registry.getTool('goood')).toBeUndefined();
    await expect(registryOf(good()).callTool('goood')).rejects.toThrow(/^No tool "goood". Did you mean good\?$/);
  });

  it('does not own what it neither lists nor describes, whatever it would answer', async () => {
    const anything = { ...broken(), listToolMetadata: () => [], getTool: () => undefined, callTool: () => said };
    const said = { content: [{ type: 'text', text: 'anything' }] };
    await expect(registryOf(anything).callTool('x')).rejects.toThrow(ToolNotFoundError);
  });

  it('does not keep a caller waiting that gives up', async () => {
    const registry = new ToolRegistry({ providers: { waitMs: 60_000 } });
    registry.addProvider(hanging());
    const controller = new AbortController();
    const running = registry.callTool('x', {}, { signal: controller.signal });
    controller.abort();
    expect(errorOf(await running)).toMatchObject({ code: 'CANCELLED', outcome: 'not_sent' });
  });

  it('has a tool that is newer than its list found by the definition, also if it was missed before', async () => {
    const names = new Set<string>();
    const registry = registryOf({
      listToolMetadata: () => ONE,
      getTool: (name) => (names.has(name) ? { name, inputSchema: {} } : undefined),
      callTool: (name) => ({ content: [{ type: 'text', text: name }] }),
    });
    await expect(registry.callTool('new')).rejects.toThrow('No tool "new"');
    names.add('new');
    expect(textOf(await registry.callTool('new'))).toBe('new');
  });
});

describe('the arguments of a call', () => {
  const SCHEMA = { properties: { id: { type: 'string' }, limit: { type: 'integer' } }, required: ['id'] };
  const recording = (rest: Partial<ToolProvider> & { list?: () => ToolSummary[] } = {}) => {
    const { list = () => ONE, ...methods } = rest;
    const seen: unknown[] = [];
    const { provider, asked } = counting(list, {
      getTool: (name) => {
        asked.definitions++;
        return { name, inputSchema: SCHEMA };
      },
      callTool: (_, args) => {
        seen.push(args);
        return { content: [] };
      },
      ...methods,
    });
    return { provider, asked, seen };
  };

  it.each([
    ['from getTool', {}],
    ['from the list', { list: () => [{ name: 'find_customer', inputSchema: SCHEMA }], getTool: () => undefined }],
  ])('are checked against the definition, %s', async (_, rest) => {
    const { provider, seen } = recording(rest);
    await using registry = new ToolRegistry();
    registry.addProvider(provider);
    await registry.search('customer');
    const refused = await registry.callTool('find_customer', { limit: 'ten' });
    expect(refused.isError).toBe(true);
    expect(errorOf(refused)).toMatchObject({
      code: 'TOOL_VALIDATION_ERROR',
      tool: 'find_customer',
      outcome: 'not_sent',
      // As an engine refuses them, without the name of a server: there is none to call.
      message: expect.stringMatching(/^Arguments of find_customer do not fit its schema: .*"limit"/),
    });
    expect(errorOf(refused).schema).toBeDefined();
    expect(errorOf(refused).server).toBeUndefined();
    expect(seen).toEqual([]);
    await registry.callTool('find_customer', { arguments: { id: 'a' } });
    expect(seen).toEqual([{ id: 'a' }]);
  });

  it('are checked before the first search, with one request for the definition', async () => {
    const { provider, asked, seen } = recording();
    await using registry = new ToolRegistry();
    registry.addProvider(provider);
    await registry.callTool('find_customer', { id: 'a' });
    await registry.callTool('find_customer', { id: 'b' });
    expect(asked).toEqual({ lists: 1, definitions: 1 });
    expect(errorOf(await registry.callTool('find_customer', {}))).toMatchObject({ code: 'TOOL_VALIDATION_ERROR' });
    expect(seen).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  it('are not refused for what an old definition says', async () => {
    let inputSchema: object = SCHEMA;
    const { provider, seen } = recording({ getTool: (name) => ({ name, inputSchema: inputSchema as typeof SCHEMA }) });
    await using registry = new ToolRegistry();
    registry.addProvider(provider);
    await registry.search('customer');
    inputSchema = { properties: { name: { type: 'string' } }, required: ['name'] };
    await registry.callTool('find_customer', { name: 'Ada' });
    expect(seen).toEqual([{ name: 'Ada' }]);
  });

  it('are not checked where there is no definition, or none that can be had, and that is found out once', async () => {
    let asked = 0;
    const { provider, seen } = recording({
      getTool: () => {
        asked++;
        return asked === 1 ? undefined : Promise.reject(new Error('down'));
      },
    });
    let now = 0;
    await using registry = new ToolRegistry({ now: () => now });
    registry.addProvider(provider);
    await registry.callTool('find_customer', { limit: 'ten' });
    await registry.callTool('find_customer', { limit: 'ten' });
    expect(asked).toBe(1);
    now = 30_000;
    await registry.callTool('find_customer', { limit: 'ten' });
    await registry.callTool('find_customer', { limit: 'ten' });
    expect(asked).toBe(2);
    expect(seen).toHaveLength(4);
  });

  it('are left to the provider where a program says so', async () => {
    const { provider, asked, seen } = recording();
    const registry = new ToolRegistry({ providers: { checkArguments: false } });
    registry.addProvider(provider);
    await registry.listToolMetadata();
    await registry.callTool('find_customer', { limit: 'ten' });
    expect(seen).toEqual([{ limit: 'ten' }]);
    expect(asked.definitions).toBe(0);
  });

  it('are left to another registry, which knows more than JSON Schema says', async () => {
    const inner = new ToolRegistry();
    inner.registerTool({ name: 'add', description: '', inputSchema: z.object({ n: z.coerce.number() }) }, ({ n }) =>
      String(n + 1),
    );
    const outer = new ToolRegistry();
    outer.addProvider(inner);
    await outer.search('add');
    expect(textOf(await outer.callTool('add', { n: '4' }))).toBe('5');
    expect(errorOf(await outer.callTool('add', { n: 'four' }))).toMatchObject({ code: 'TOOL_VALIDATION_ERROR' });
  });
});

describe('getTool', () => {
  it('gives what the list holds, else asks; the failure of one provider hides no other', async () => {
    const listed = { name: 'a', inputSchema: { properties: {} }, annotations: { readOnlyHint: true }, title: 'A' };
    const { provider, asked } = counting(() => [listed, ...ONE]);
    const registry = new ToolRegistry();
    registry.addProvider(counting(() => [], { getTool: () => Promise.reject(new Error('down')) }).provider);
    registry.addProvider(provider);
    await registry.listToolMetadata();
    expect(await registry.getTool('a')).toEqual({ ...listed, inputSchema: { type: 'object', properties: {} } });
    expect(asked.definitions).toBe(0);
    expect(await registry.getTool('find_customer')).toEqual({ name: 'find_customer', inputSchema: { type: 'object' } });
    registry.removeProvider(provider);
    expect(await registry.getTool('a')).toBeUndefined();
    expect(await new ToolRegistry().getTool('a')).toBeUndefined();
  });

  it('names the provider that has a tool but cannot describe it, without secrets', async () => {
    const failing = new Error('pg://u:geheim@db is down');
    const registry = new ToolRegistry();
    registry.addProvider(counting(() => ONE, { getTool: () => Promise.reject(failing) }).provider);
    await registry.listToolMetadata();
    const thrown = await registry.getTool('find_customer').catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(DiscoveryError);
    expect(thrown).toMatchObject({
      code: 'SERVER_UNAVAILABLE',
      message: 'crm could not describe "find_customer": pg://***@db is down',
    });
  });
});

describe('adding and removing', () => {
  it('refuses what is no provider, one that is there already, and itself', () => {
    const registry = new ToolRegistry();
    const { provider } = counting(() => ONE);
    registry.addProvider(provider);
    expect(() => registry.addProvider(provider)).toThrow('already added');
    expect(() => registry.addProvider({ getTool: () => undefined } as never)).toThrow(
      'lacks listToolMetadata, callTool',
    );
    const other = new ToolRegistry();
    other.addProvider(registry);
    expect(() => registry.addProvider(registry)).toThrow('provider of itself');
    expect(() => registry.addProvider(other)).toThrow('provider of itself');
  });

  it('takes the tools along', async () => {
    const registry = new ToolRegistry();
    const { provider } = counting(() => ONE);
    registry.addProvider(provider);
    expect((await registry.search('customer')).results).toHaveLength(1);
    expect(registry.removeProvider(provider)).toBe(true);
    expect(registry.removeProvider(provider)).toBe(false);
    expect((await registry.search('customer')).results).toEqual([]);
    await expect(registry.callTool('find_customer')).rejects.toBeInstanceOf(ToolNotFoundError);
  });

  it('while its list is being asked for leaves nothing of it behind', async () => {
    let answer: (tools: ToolSummary[]) => void = () => {};
    const { provider } = counting(() => new Promise((resolve) => (answer = resolve)));
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'post_letter', description: 'Send a mail by post' }, () => '');
    registry.addProvider(provider);
    const changes: string[] = [];
    registry.onToolsChanged((change) => changes.push(change));
    const running = registry.search('mail');
    registry.removeProvider(provider);
    answer(Array.from({ length: 40 }, (_, n) => ({ name: `mail_${n}`, description: 'mail mail', visible: true })));
    const names = ({ results }: { results: readonly { name: string }[] }) => results.map(({ name }) => name);
    expect(names(await running)).toEqual(['post_letter']);
    for (let turn = 0; turn < 3; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(names(await registry.search('mail'))).toEqual(['post_letter']);
    }
    expect(changes).not.toContain('visible');
  });

  it('while a search indexes its tools takes them out of the answer', async () => {
    const many = Array.from({ length: 2_000 }, (_, n) => ({ name: `mail_${n}`, description: `Mail number ${n}` }));
    const { provider } = counting(() => many);
    const registry = new ToolRegistry();
    registry.addProvider(provider);
    registry.addProvider(counting(() => [{ name: 'mail_7', description: 'The other one' }]).provider);
    const running = registry.search('mail_7');
    await new Promise((resolve) => setImmediate(resolve));
    registry.removeProvider(provider);
    expect((await running).results).toMatchObject([{ name: 'mail_7', description: 'The other one' }]);
  });
});

describe('tools of one name', () => {
  it('take no places from others in an answer', async () => {
    const list = Array.from({ length: 20 }, (_, n) => ({ name: `mail_${n}`, description: `Mail thing ${n}` }));
    const registry = new ToolRegistry();
    registry.addProvider(counting(() => list).provider);
    registry.addProvider(counting(() => list).provider);
    for (const [query, maxResults, wanted] of [
      ['mail', 10, 10],
      ['mail thing', 15, 15],
      ['send the mail thing', 20, 20],
    ] as const) {
      const names = (await registry.search(query, { maxResults })).results.map(({ name }) => name);
      expect(new Set(names).size).toBe(wanted);
      expect(names).toHaveLength(wanted);
    }
    expect((await registry.search('mail thing')).results).toHaveLength(10);
    expect((await registry.search('')).results).toHaveLength(10);
  });

  it('that a registered one shadows take no places either', async () => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'pay', description: 'Unrelated words' }, () => '');
    registry.registerTool({ name: 'other_transfer', description: 'Money transfer' }, () => '');
    const shadowed = { name: 'pay', description: 'Money transfer', keywords: ['transfer'] };
    registry.addProvider(counting(() => [shadowed]).provider);
    const { results } = await registry.search('transfer', { maxResults: 1 });
    expect(results).toMatchObject([{ name: 'other_transfer' }]);
  });
});
