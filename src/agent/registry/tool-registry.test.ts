import { McpServer } from '@modelcontextprotocol/server';
import { toJsonSchema, toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z3 from 'zod/v3';
import * as z from 'zod/v4';
import {
  DiscoveryError,
  ToolNotFoundError,
  ToolRegistry,
  type ToolRegistryOptions,
  ValidationError,
} from '../../registry.ts';
import type { AttachOptions } from './attach.ts';
import { Haystack, TIERS } from './haystack.ts';
import { LEVEL, matchLevel } from './match-level.ts';

const textOf = (result: unknown): string => (result as { content: [{ text: string }] }).content[0].text;
const errorOf = (result: unknown) => JSON.parse(textOf(result)).error;

const JSON_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
  required: ['city'],
};

describe('a schema', () => {
  const CASES: [string, object, ToolRegistryOptions][] = [
    ['zod 4', z.object({ city: z.string(), days: z.int().min(1).optional() }), {}],
    ['arktype', type({ city: 'string', 'days?': 'number.integer >= 1' }), {}],
    ['raw JSON Schema', JSON_SCHEMA, {}],
    [
      'valibot, with the converter handed in',
      v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))) }),
      { toJsonSchema },
    ],
    [
      'valibot, wrapped by its own converter',
      toStandardJsonSchema(
        v.object({ city: v.string(), days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))) }),
      ),
      {},
    ],
  ];

  it.each(CASES)('of %s becomes the input schema and checks the arguments', async (_, inputSchema, options) => {
    const registry = new ToolRegistry(options);
    const calls: unknown[] = [];
    registry.registerTool(
      { name: 'weather', description: 'Weather', inputSchema: inputSchema as typeof JSON_SCHEMA },
      (args) => {
        calls.push(args);
        return 'sunny';
      },
    );
    const [definition] = registry.listTools();
    expect(definition?.inputSchema).toMatchObject({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } },
      required: ['city'],
    });
    expect(definition?.inputSchema).not.toHaveProperty('$schema');
    expect(textOf(await registry.callTool('weather', { city: 'Oslo', days: 2 }))).toBe('sunny');
    for (const bad of [{}, { city: 7 }, { city: 'Oslo', days: 0 }, { city: 'Oslo', days: 'two' }]) {
      const result = await registry.callTool('weather', bad);
      expect(result.isError).toBe(true);
      expect(errorOf(result)).toMatchObject({ code: 'TOOL_VALIDATION_ERROR', tool: 'weather', outcome: 'not_sent' });
      expect(errorOf(result).message).toMatch(/city|days/);
    }
    const refused = await registry.callTool('weather', { city: 7 });
    expect(errorOf(refused).schema).toMatchObject({ city: { type: 'string' } });
    expect(calls).toEqual([{ city: 'Oslo', days: 2 }]);
    await registry.close();
  });

  it('fills in defaults and converts before the handler runs, also asynchronously', async () => {
    const registry = new ToolRegistry();
    const seen: unknown[] = [];
    registry.registerTool(
      {
        name: 'convert',
        description: '',
        inputSchema: z.object({
          n: z.string().transform(Number),
          unit: z.string().default('m'),
          id: z
            .string()
            .refine(async (id) => id !== 'taken', 'is taken')
            .optional(),
        }),
      },
      (args) => {
        seen.push(args);
        return '';
      },
    );
    await registry.callTool('convert', { n: '5' });
    expect(seen).toEqual([{ n: 5, unit: 'm' }]);
    expect(errorOf(await registry.callTool('convert', { n: '5', id: 'taken' })).message).toContain('"id" is taken');
    expect(registry.listTools()[0]?.inputSchema).toMatchObject({ required: ['n'] });
  });

  it('that cannot be written as JSON Schema is refused with a way to fix it', () => {
    const registry = new ToolRegistry();
    const register = (inputSchema: unknown) => () =>
      registry.registerTool({ name: 'x', description: '', inputSchema: inputSchema as never }, () => '');
    expect(register(v.object({}))).toThrow('@valibot/to-json-schema');
    expect(register(z3.object({}))).toThrow('zod 4');
    expect(register(z.object({ at: z.date() }))).toThrow('zod cannot write this schema as JSON Schema');
    const foreign = { '~standard': { version: 1, vendor: 'acme', validate: (value: unknown) => ({ value }) } };
    expect(register(foreign)).toThrow('acme schemas have no known JSON Schema export');
    expect(register({ to: z.string() })).toThrow('z.object');
    expect(register('string')).toThrow('must be a schema');
    expect(register(z.string())).toThrow('must describe an object');
    expect(register({ type: 'array' })).toThrow('must describe an object');
    expect(registry.listTools()).toEqual([]);
  });

  it('of objects in a union gets an object at its root', () => {
    const registry = new ToolRegistry();
    const inputSchema = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]);
    registry.registerTool({ name: 'either', description: '', inputSchema }, () => '');
    expect(registry.listTools()[0]?.inputSchema).toMatchObject({ type: 'object', anyOf: [{}, {}] });
  });

  it('for output is listed, and results that break it become errors', async () => {
    const registry = new ToolRegistry();
    const outputSchema = z.object({ sum: z.number() });
    registry.registerTool({ name: 'good', description: '', outputSchema }, () => ({ sum: 3 }));
    registry.registerTool({ name: 'bad', description: '', outputSchema }, () => ({ sum: 'three' }) as never);
    registry.registerTool({ name: 'none', description: '', outputSchema: JSON_SCHEMA }, () => 'just text');
    registry.registerTool({ name: 'failed', description: '', outputSchema }, () => ({ content: [], isError: true }));
    expect(registry.listTools().find(({ name }) => name === 'good')?.outputSchema).toMatchObject({ required: ['sum'] });
    expect(await registry.callTool('good')).toEqual({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    });
    expect(errorOf(await registry.callTool('bad'))).toMatchObject({ code: 'TOOL_VALIDATION_ERROR', outcome: 'failed' });
    expect(errorOf(await registry.callTool('none')).message).toContain('The tool did run');
    expect(await registry.callTool('failed')).toEqual({ content: [], isError: true });
  });

  it('for output is applied: what it does not know stays out, what it fills in is there', async () => {
    const registry = new ToolRegistry();
    const outputSchema = z.object({ id: z.number(), role: z.string().default('guest') });
    const user = { id: 1, passwordHash: 'secret' };
    const register = (name: string, value: unknown) =>
      registry.registerTool({ name, description: '', outputSchema }, () => value as never);
    register('data', user);
    register('structured', { structuredContent: user });
    register('copied', { content: [{ type: 'text', text: JSON.stringify(user) }], structuredContent: user });
    register('worded', { content: [{ type: 'text', text: 'Found them' }], structuredContent: user, _meta: { a: 1 } });
    const clean = { id: 1, role: 'guest' };
    for (const name of ['data', 'structured', 'copied']) {
      expect(await registry.callTool(name)).toEqual({
        content: [{ type: 'text', text: JSON.stringify(clean) }],
        structuredContent: clean,
      });
    }
    expect(await registry.callTool('worded')).toEqual({
      content: [{ type: 'text', text: 'Found them' }],
      structuredContent: clean,
      _meta: { a: 1 },
    });
  });

  it('of valibot with a transformation is written for the side that is asked for', async () => {
    const registry = new ToolRegistry({ toJsonSchema });
    const schema = v.object({ n: v.pipe(v.string(), v.transform(Number), v.number()) });
    registry.registerTool({ name: 'x', description: '', inputSchema: schema, outputSchema: schema }, ({ n }) => ({
      n: String(n + 1),
    }));
    const [definition] = registry.listTools();
    expect(definition?.inputSchema).toMatchObject({ properties: { n: { type: 'string' } } });
    expect(definition?.outputSchema).toMatchObject({ properties: { n: { type: 'number' } } });
    expect((await registry.callTool('x', { n: '4' })).structuredContent).toEqual({ n: 5 });
  });
});

describe('a handler', () => {
  const returning = async (value: unknown) => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'x', description: '' }, async () => value as never);
    return registry.callTool('x');
  };

  it.each([
    ['a text', 'hi', { content: [{ type: 'text', text: 'hi' }] }],
    ['an object', { a: 1 }, { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }],
    ['a list', [1, 2], { content: [{ type: 'text', text: '[1,2]' }] }],
    ['nothing', undefined, { content: [] }],
    ['null', null, { content: [] }],
    ['a number', 5, { content: [{ type: 'text', text: '5' }] }],
    ['an empty object', {}, { content: [{ type: 'text', text: '{}' }], structuredContent: {} }],
    ['a result', { content: [], isError: true }, { content: [], isError: true }],
    [
      'a result with structure only',
      { structuredContent: { a: 1 } },
      { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } },
    ],
    [
      'data that looks like a result',
      { content: 'x' },
      { content: [{ type: 'text', text: '{"content":"x"}' }], structuredContent: { content: 'x' } },
    ],
    [
      'data with a list called content',
      { content: [{ type: 'text', text: 'x' }], page: 2 },
      {
        content: [{ type: 'text', text: '{"content":[{"type":"text","text":"x"}],"page":2}' }],
        structuredContent: { content: [{ type: 'text', text: 'x' }], page: 2 },
      },
    ],
    [
      'data with a field called isError',
      { isError: 'yes' },
      { content: [{ type: 'text', text: '{"isError":"yes"}' }], structuredContent: { isError: 'yes' } },
    ],
    [
      'content that clients refuse',
      { content: [{ type: 'text' }] },
      {
        content: [{ type: 'text', text: '{"content":[{"type":"text"}]}' }],
        structuredContent: { content: [{ type: 'text' }] },
      },
    ],
    ['a date', new Date(0), { content: [{ type: 'text', text: '1970-01-01T00:00:00.000Z' }] }],
    ['a map', new Map([['a', 1]]), { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } }],
    ['a set', new Set([1, 2]), { content: [{ type: 'text', text: '[1,2]' }] }],
    ['an error', new Error('no luck'), { content: [{ type: 'text', text: 'no luck' }], isError: true }],
    [
      'a date inside',
      { d: new Date(0) },
      { content: [expect.anything()], structuredContent: { d: '1970-01-01T00:00:00.000Z' } },
    ],
    [
      'an object that is its own JSON',
      {
        x: 1,
        toJSON() {
          return this;
        },
      },
      { content: [{ type: 'text', text: '{"x":1}' }], structuredContent: { x: 1 } },
    ],
    ['an object that is a text as JSON', { toJSON: () => 'x' }, { content: [{ type: 'text', text: '"x"' }] }],
    [
      'a question to the user',
      { resultType: 'input_required', requestState: 's' },
      { resultType: 'input_required', requestState: 's', content: [] },
    ],
  ])('may return %s', async (_, value, result) => {
    expect(await returning(value)).toEqual(result);
  });

  it('may return content that the protocol does not know, which becomes text', async () => {
    const { content } = await returning({ content: [{ type: 'hologram', data: 'x' }] });
    expect(content).toMatchObject([{ type: 'text', text: expect.stringContaining('hologram') }]);
  });

  it('that throws, rejects or returns what has no JSON gives an error result', async () => {
    const registry = new ToolRegistry();
    const throwing = (name: string, thrown: unknown) =>
      registry.registerTool({ name, description: '' }, () => {
        throw thrown;
      });
    throwing('error', new Error('boom'));
    throwing('text', 'boom');
    throwing('silent', new Error(''));
    registry.registerTool({ name: 'late', description: '' }, async () => {
      await Promise.resolve();
      throw new Error('later');
    });
    registry.registerTool({ name: 'circle', description: '' }, () => {
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      return circle;
    });
    const error = (text: string) => ({ content: [{ type: 'text', text }], isError: true });
    expect(await registry.callTool('error')).toEqual(error('boom'));
    expect(await registry.callTool('text')).toEqual(error('boom'));
    expect(await registry.callTool('late')).toEqual(error('later'));
    expect(await registry.callTool('silent')).toEqual(error('The tool failed and did not say why.'));
    expect(await registry.callTool('circle')).toMatchObject({ isError: true });
  });

  it('may throw anything at all', async () => {
    const registry = new ToolRegistry();
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const thrown = [
      Object.create(null),
      { message: 'quota' },
      undefined,
      new DiscoveryError('RATE_LIMITED', 'Too fast', { schema: circle }),
    ];
    for (const [at, value] of thrown.entries()) {
      registry.registerTool({ name: `t${at}`, description: '' }, () => {
        throw value;
      });
    }
    const texts = await Promise.all(thrown.map(async (_, at) => textOf(await registry.callTool(`t${at}`))));
    const silent = 'The tool failed and did not say why.';
    expect(texts.slice(0, 3)).toEqual([silent, 'quota', silent]);
    expect(JSON.parse(texts[3] ?? '').error).toMatchObject({ code: 'RATE_LIMITED', message: 'Too fast' });
  });

  it('that throws credentials keeps them from the model, but not what it has to know', async () => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'x', description: '' }, () => {
      throw new Error('duplicate key: 550e8400-e29b-41d4-a716-446655440000 at pg://u:geheim@db?password=geheim');
    });
    expect(textOf(await registry.callTool('x'))).toBe(
      'duplicate key: 550e8400-e29b-41d4-a716-446655440000 at pg://***@db?password=***',
    );
  });

  it('is not run for a caller that has given up, and not waited for by one that gives up', async () => {
    const registry = new ToolRegistry();
    let runs = 0;
    let checked = () => {};
    registry.registerTool({ name: 'endless', description: '' }, () => {
      runs++;
      return new Promise(() => {});
    });
    const inputSchema = z.object({}).refine(() => new Promise<boolean>((resolve) => (checked = () => resolve(true))));
    registry.registerTool({ name: 'thorough', description: '', inputSchema }, () => String(runs++));
    const before = await registry.callTool('endless', {}, { signal: AbortSignal.abort() });
    expect(errorOf(before)).toMatchObject({ code: 'CANCELLED', outcome: 'not_sent' });
    expect(runs).toBe(0);

    const controller = new AbortController();
    const running = registry.callTool('endless', {}, { signal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new DiscoveryError('SHUTTING_DOWN', 'We are closing.'));
    expect(errorOf(await running)).toMatchObject({ code: 'SHUTTING_DOWN', tool: 'endless', outcome: 'unknown' });

    const other = new AbortController();
    const checking = registry.callTool('thorough', {}, { signal: other.signal });
    other.abort();
    expect(errorOf(await checking)).toMatchObject({ code: 'CANCELLED', outcome: 'not_sent' });
    checked();
    await new Promise((resolve) => setImmediate(resolve));
    expect(runs).toBe(1);
  });

  it('gets the signal and everything else of the context', async () => {
    const registry = new ToolRegistry();
    let seen: unknown;
    registry.registerTool({ name: 'x', description: '' }, (_, context) => {
      seen = context;
      return '';
    });
    const { signal } = new AbortController();
    const onProgress = () => {};
    await registry.callTool('x', {}, { signal, onProgress });
    expect(seen).toEqual({ signal, onProgress });
    await registry.callTool('x');
    expect(seen).toMatchObject({ signal: { aborted: false } });
  });

  it('gets arguments that were wrapped once too often as they were meant', async () => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'x', description: '', inputSchema: JSON_SCHEMA }, ({ city }) => String(city));
    expect(textOf(await registry.callTool('x', { arguments: { city: 'Rome' } }))).toBe('Rome');
  });

  it('is spared arguments that are nested too deep', async () => {
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 300; level++) deep = { deep };
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'x', description: '' }, () => 'ran');
    expect(errorOf(await registry.callTool('x', deep)).message).toContain('200 levels');
  });
});

describe('registering', () => {
  it('refuses names that are taken, reserved or no names', () => {
    const registry = new ToolRegistry();
    const register = (name: string) => () => registry.registerTool({ name, description: '' }, () => '');
    register('a')();
    expect(register('a')).toThrow('already registered');
    expect(register('tool_search')).toThrow('attach() adds');
    expect(register('execute_tool')).toThrow('attach() adds');
    for (const name of ['', 'a b', 'ä', 'x'.repeat(129), 5 as never]) expect(register(name)).toThrow(ValidationError);
    expect(() => registry.registerTool({ name: 'b', description: '' }, 'handler' as never)).toThrow(
      'must be a function',
    );
    expect(() => registry.registerTool({ name: 'b' } as never, () => '')).toThrow('description');
    expect(() => registry.registerTool({ name: 'b', description: '' }, () => '', ['x'] as never)).toThrow(
      'b: keywords must be a list of strings',
    );
  });

  it('takes names that are trouble elsewhere', async () => {
    const registry = new ToolRegistry();
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'then', '../x'];
    for (const name of names) registry.registerTool({ name, description: `Called ${name}` }, () => name, name);
    for (const name of names) {
      expect(textOf(await registry.callTool(name))).toBe(name);
      expect((await registry.search(name)).results[0]).toMatchObject({ name, score: 1 });
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('and unregistering show in the next search', async () => {
    const registry = new ToolRegistry();
    const names = async () =>
      (await registry.search('mail', { maxResults: 100 })).results.map(({ name }) => name).sort();
    for (let n = 0; n < 70; n++) registry.registerTool({ name: `mail_${n}`, description: '' }, () => '');
    expect(await names()).toHaveLength(70);
    for (let n = 0; n < 70; n += 2) expect(registry.unregisterTool(`mail_${n}`)).toBe(true);
    expect(registry.unregisterTool('mail_0')).toBe(false);
    expect(await names()).toHaveLength(35);
    for (let n = 0; n < 40; n++) registry.registerTool({ name: `late_mail_${n}`, description: '' }, () => '');
    for (let n = 1; n < 70; n += 2) registry.unregisterTool(`mail_${n}`);
    expect(await names()).toEqual(Array.from({ length: 40 }, (_, n) => `late_mail_${n}`).sort());
    for (let n = 0; n < 40; n++) registry.unregisterTool(`late_mail_${n}`);
    expect(await names()).toEqual([]);
    expect(registry.listTools()).toEqual([]);
  });

  it('during indexing is seen by the next search', async () => {
    const registry = new ToolRegistry();
    for (let n = 0; n < 500; n++) registry.registerTool({ name: `tool_${n}`, description: 'x' }, () => '');
    const running = registry.search('tool_1');
    await new Promise((resolve) => setImmediate(resolve));
    registry.unregisterTool('tool_499');
    registry.registerTool({ name: 'newcomer', description: 'x' }, () => '');
    expect((await registry.search('newcomer')).results[0]?.name).toBe('newcomer');
    expect((await registry.search('tool_499')).results.map(({ name }) => name)).not.toContain('tool_499');
    expect((await running).results[0]?.name).toBe('tool_1');
  });

  it('notifies listeners once per burst', async () => {
    const registry = new ToolRegistry();
    const told: string[] = [];
    const end = registry.onToolsChanged((change) => told.push(change));
    registry.registerTool({ name: 'a', description: '' }, () => '');
    registry.registerTool({ name: 'b', description: '', visible: true }, () => '');
    registry.registerTool({ name: 'c', description: '' }, () => '');
    await Promise.resolve();
    registry.unregisterTool('a');
    await Promise.resolve();
    end();
    registry.unregisterTool('b');
    await Promise.resolve();
    expect(told).toEqual(['visible', 'hidden']);
  });

  it('notifies all listeners, even if one fails', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => void warnings.push(message);
    process.on('warning', onWarning);
    const registry = new ToolRegistry();
    const told: string[] = [];
    registry.onToolsChanged(() => {
      throw new Error('at once');
    });
    registry.onToolsChanged(async () => Promise.reject(Object.create(null)));
    registry.onToolsChanged((change) => told.push(change));
    registry.registerTool({ name: 'a', description: '' }, () => '');
    await new Promise((resolve) => setTimeout(resolve, 10));
    process.off('warning', onWarning);
    expect(told).toEqual(['hidden']);
    expect(warnings.sort()).toEqual([
      'A listener for changed tools failed: at once',
      'A listener for changed tools failed: no reason was given',
    ]);
  });
});

describe('options', () => {
  it('that do not exist or are of the wrong kind are refused', () => {
    const create = (options: unknown) => () => new ToolRegistry(options as ToolRegistryOptions);
    expect(create({ nmae: 'x' })).toThrow('There is no option nmae; did you mean name?');
    expect(create({ providers: { waitMS: 5 } })).toThrow('did you mean providers.waitMs?');
    expect(create({ providers: { completely: 5 } })).toThrow('use one of: ttlMs');
    expect(create({ providers: { maxTools: -1 } })).toThrow('providers.maxTools must be a number that is not negative');
    expect(create({ providers: { ttlMs: Number.NaN } })).toThrow('not NaN');
    expect(create({ providers: { callMs: '5' } })).toThrow('not "5"');
    expect(create({ providers: { checkArguments: 0 } })).toThrow('must be true or false');
    expect(create({ providers: [] })).toThrow('providers must be an object');
    expect(create('name')).toThrow('The options must be an object');
    expect(create({ providers: { ttlMs: Number.POSITIVE_INFINITY, waitMs: 0 } })).not.toThrow();
  });

  it('that are undefined mean the default', async () => {
    const registry = new ToolRegistry({
      name: undefined,
      providers: { waitMs: undefined, ttlMs: undefined, callMs: undefined } as never,
    });
    let lists = 0;
    registry.addProvider({
      listToolMetadata: async () => {
        lists++;
        await new Promise((resolve) => setTimeout(resolve, 50));
        return [{ name: 'slow', description: 'Slow' }];
      },
      getTool: () => undefined,
      callTool: () => ({ content: [] }),
    });
    expect((await registry.search('slow')).results).toHaveLength(1);
    await registry.search('slow');
    expect(lists).toBe(1);
  });
});

describe('what is misspelt in a program without types', () => {
  const register = (fields: object) => () => {
    const registry = new ToolRegistry();
    (registry.registerTool as (definition: object, handler: () => string) => void).call(
      registry,
      { name: 'a', description: 'b', ...fields },
      () => '',
    );
  };

  it('is refused in the definition of a tool', () => {
    expect(register({ visble: true })).toThrow('a: a tool has no field "visble"; did you mean visible?');
    expect(register({ input_schema: { type: 'object' } })).toThrow('did you mean inputSchema?');
    expect(register({ parameters: {} })).toThrow('use one of: title, description, inputSchema');
    expect(register({ keywords: 'x' })).toThrow('a: keywords must be a list of strings');
    expect(register({ keywords: ['x'] })).not.toThrow();
    expect(register({ visible: 'yes' })).toThrow('visible must be true or false, not "yes"');
    expect(register({ title: 5 })).toThrow('title must be a string, not 5');
    expect(register({ annotations: ['readOnly'] })).toThrow('annotations must be an object, not a list');
    expect(register({ title: undefined, visible: undefined })).not.toThrow();
    expect(() => new ToolRegistry().registerTool(undefined as never, () => '')).toThrow(
      'registerTool takes a name, options and a handler',
    );
  });

  it('null counts as absent, and other MCP fields are passed on', async () => {
    const registry = new ToolRegistry();
    const icons = [{ src: 'data:image/png;base64,' }];
    const loose = { name: 'a', description: 'A', title: null, annotations: null, icons, _meta: { own: 1 } };
    registry.registerTool(loose as never, () => 'done');
    expect(await registry.getTool('a')).toEqual({
      name: 'a',
      description: 'A',
      inputSchema: { type: 'object' },
      icons,
      _meta: { own: 1 },
    });
    expect((await registry.search('a', { maxResults: null, compact: undefined } as never)).results).toHaveLength(1);
    expect((await registry.callTool('a', null as never)).content).toEqual([{ type: 'text', text: 'done' }]);
  });

  it('is refused in options and arguments of other methods', async () => {
    const registry = new ToolRegistry() as unknown as Record<string, (...args: unknown[]) => unknown>;
    const search = (...args: unknown[]) => registry.search?.(...args);
    await expect(search('mail', { limit: 1 })).rejects.toThrow(
      'There is no option limit; use one of: maxResults, compact',
    );
    await expect(search('mail', { max_results: 1 })).rejects.toThrow('did you mean maxResults?');
    await expect(search('mail', { maxResults: '1' })).rejects.toThrow('maxResults must be a number, not "1"');
    await expect(search('mail', 5)).rejects.toThrow('The options must be an object');
    await expect(search(undefined)).rejects.toThrow('search: the query must be a string, not undefined');
    await expect(search({ query: 'x' })).rejects.toThrow(ValidationError);
    await expect(registry.callTool?.(undefined)).rejects.toThrow('callTool: the name must be a string');
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    await expect(registry.callTool?.(proxy)).rejects.toThrow('the name must be a string, not an object that cannot be');
    await expect(registry.callTool?.('x', proxy)).rejects.toThrow(ValidationError);
    await expect(registry.callTool?.('x', 'y')).rejects.toThrow('callTool: the arguments must be an object, not "y"');
    const attach = (options: unknown) => () =>
      new ToolRegistry().attach(new McpServer({ name: 's', version: '1.0.0' }), options as AttachOptions);
    expect(attach({ provdersFor: () => [] })).toThrow('did you mean providersFor?');
    expect(attach({ mode: 'showall' })).toThrow("mode must be 'hidden', 'show-all' or a function, not \"showall\"");
    expect(attach({ compact: 'yes' })).toThrow('compact must be true or false');
    expect(() => new ToolRegistry({ toJsonSchema: {} as never })).toThrow('toJsonSchema must be a function');
  });
});

describe('an unknown name', () => {
  it('is refused with the nearest ones', async () => {
    const registry = new ToolRegistry();
    for (const name of ['send_email', 'send_fax', 'read_email']) {
      registry.registerTool({ name, description: '' }, () => '');
    }
    const failed = await registry.callTool('sendemail').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ToolNotFoundError);
    expect(failed).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      tool: 'sendemail',
      message: expect.stringContaining('Did you mean send_email'),
    });
    expect((failed as ToolNotFoundError).details.suggestions?.[0]).toBe('send_email');
    await expect(registry.callTool('zzz')).rejects.toThrow('No tool "zzz".');
  });
});

describe('a search', () => {
  const registry = new ToolRegistry();
  registry.registerTool(
    {
      name: 'create_invoice',
      description: 'Create an invoice',
      inputSchema: z.object({ customer: z.string(), lines: z.array(z.string()).optional() }),
    },
    () => '',
    'billing',
  );
  registry.registerTool({ name: 'delete_file', description: 'Remove a file from the disk' }, () => '');

  it('understands other words than the tools use', async () => {
    expect((await registry.search('make a bill for a client')).results[0]?.name).toBe('create_invoice');
    expect((await registry.search('erase a document')).results[0]?.name).toBe('delete_file');
  });

  it('gives one line of parameters when a compact answer is asked for', async () => {
    const { results } = await registry.search('billing', { compact: true });
    expect(results).toEqual([
      {
        name: 'create_invoice',
        description: 'Create an invoice',
        score: expect.any(Number),
        args: 'customer, lines?: string[]',
      },
    ]);
  });

  it('shows no hit without relevance, however many are asked for', async () => {
    const many = new ToolRegistry();
    many.registerTool({ name: 'send_email', description: 'Send an email to a recipient' }, () => '');
    many.registerTool({ name: 'water_plants', description: 'Water the plants on the balcony' }, () => '');
    many.registerTool({ name: 'tune_piano', description: 'Tune the piano in the hall' }, () => '');
    for (const query of ['send_email', 'send a message to a recipient by email', 'email']) {
      const { results } = await many.search(query, { maxResults: 100 });
      expect(results[0]?.name).toBe('send_email');
      expect(results.filter(({ score }) => score <= 0)).toEqual([]);
    }
  });

  describe('with few tools', () => {
    const few = new ToolRegistry();
    few.registerTool({ name: 'create_vacation', description: 'Create a vacation request' }, () => '');
    few.registerTool({ name: 'get_shipment', description: 'Show a parcel shipment' }, () => '');
    few.registerTool({ name: 'list_employee', description: 'List every employee' }, () => '');
    few.registerTool({ name: 'ping', description: 'Answer at once', visible: true }, () => '');

    it.each([
      ['paid leave', 'create_vacation'],
      ['track my package', 'get_shipment'],
      ['where is my order', 'get_shipment'],
      ['all coworkers', 'list_employee'],
    ])('shows the nearest tools, and says so: %s', async (query, name) => {
      const { results, notes, hint } = await few.search(query);
      expect(results[0]?.name).toBe(name);
      expect(notes).toEqual([]);
      expect(hint).toContain('No tool fits well');
    });

    it.each(['weather in Oslo', 'asdf qwer', 'translate to french', 'bake bread'])(
      'shows no noise, and says how to go on: %s',
      async (query) => {
        const { results, hint } = await few.search(query);
        expect(results).toEqual([]);
        expect(hint).toContain('Describe in other words');
      },
    );

    it('says nothing more where something fits', async () => {
      expect(await few.search('vacation')).not.toHaveProperty('hint');
      expect(await few.search('')).not.toHaveProperty('hint');
    });

    it('does not fill an answer with tools that clients list anyway', async () => {
      for (const query of ['vacation', 'book time off', 'parcel', 'smtp', 'hello there', 'quick']) {
        const { results } = await few.search(query, { maxResults: 100 });
        expect(results.filter(({ name, score }) => name === 'ping' && score < 0.1)).toEqual([]);
        expect(results.filter(({ score }) => score === 0)).toEqual([]);
      }
      expect((await few.search('ping', { maxResults: 3 })).results[0]?.name).toBe('ping');
    });
  });

  it('with an empty query lists all tools', async () => {
    expect((await registry.search('  ')).results.map(({ name }) => name)).toEqual(['create_invoice', 'delete_file']);
  });

  it('keeps its answer small where schemas are large', async () => {
    const large = new ToolRegistry();
    const properties = Object.fromEntries(
      Array.from({ length: 1_200 }, (_, n) => [`p${n}`, { description: 'x'.repeat(150) }]),
    );
    for (let n = 0; n < 4; n++) {
      large.registerTool(
        { name: `large_${n}`, description: '', inputSchema: { type: 'object', properties } },
        () => '',
      );
    }
    const { results } = await large.search('large');
    expect(results.map((hit) => 'input_schema' in hit)).toEqual([true, true, false, false]);
    expect(results[3]?.args).toContain('more');
    expect(JSON.stringify(results).length).toBeLessThan(600_000);
  });

  it('takes any text, and any number of results', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.double(), async (query, maxResults) => {
        const { results } = await registry.search(query, { maxResults });
        for (const { score } of results) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('literal matches', () => {
  it('of several words have levels too', async () => {
    const registry = new ToolRegistry();
    for (let n = 0; n < 200; n++) {
      registry.registerTool({ name: `pull_request_${n}`, description: `pull request ${n}` }, () => '');
    }
    registry.registerTool({ name: 'merge_it', description: 'Joins branches' }, () => '', 'pull request');
    registry.registerTool({ name: 'odd', description: 'Ampull requests are counted' }, () => '');
    const { results } = await registry.search('pull request');
    expect(results[0]).toMatchObject({ name: 'merge_it', score: LEVEL.keyword });
    expect(results).toHaveLength(10);
    const [part] = (await registry.search('mpull requ')).results;
    expect(part?.name).toBe('odd');
    expect(part?.score).toBeGreaterThanOrEqual(LEVEL.descriptionContains);
  });

  const word = fc.string({ unit: fc.constantFrom('a', 'b', '_', ' ', 'ß'), maxLength: 6 });
  const texts = fc.record({
    name: word,
    keywords: fc.array(
      word.filter((text) => text !== ''),
      { maxLength: 3 },
    ),
    description: word,
  });

  it('are found in texts laid end to end just as one by one', () => {
    fc.assert(
      fc.property(
        fc.array(texts, { maxLength: 8 }),
        word.filter((text) => text.trim() === text && text !== ''),
        (tools, needle) => {
          const haystack = new Haystack(tools);
          const levels = tools.map((tool) => matchLevel(tool, needle));
          const found = new Set(TIERS.flatMap((tier) => [...haystack.find(tier, needle)]));
          for (const [place, level] of levels.entries()) {
            // Likeness is below all of these, but for one place where it is as good as the least.
            const { name, keywords, description } = tools[place] as (typeof tools)[number];
            const isLiteral = [name, description, ...keywords].some((text) => text.includes(needle));
            expect(found.has(place)).toBe(isLiteral);
            if (isLiteral) expect(level).toBeGreaterThanOrEqual(LEVEL.descriptionContains);
            else expect(level).toBeLessThanOrEqual(LEVEL.fuzzy);
          }
        },
      ),
    );
  });
});

describe('a handle', () => {
  const setUp = () => {
    const registry = new ToolRegistry();
    const changes: string[] = [];
    registry.onToolsChanged((change) => changes.push(change));
    const options = {
      title: 'Weather',
      description: 'Tell the forecast',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      keywords: ['zebra'],
    } as const;
    const tool = registry.registerTool('weather', options, ({ city }) => `Sunny in ${city}`);
    const found = async (query: string) => (await registry.search(query)).results.map(({ name }) => name);
    return { registry, changes, tool, found };
  };

  it('replaces the given fields of a tool, and nothing else', async () => {
    const { registry, changes, tool, found } = setUp();
    expect(await found('zebra')).toEqual(['weather']);
    tool.update({ description: 'Tell how warm it gets', keywords: ['temperature'], title: undefined });
    expect(await found('temperature')).toEqual(['weather']);
    expect(await found('zebra')).toEqual([]);
    expect(registry.listTools()).toMatchObject([
      { name: 'weather', title: 'Weather', description: 'Tell how warm it gets' },
    ]);
    expect(await registry.callTool('weather', { city: 'Rome' })).toMatchObject({
      content: [{ text: 'Sunny in Rome' }],
    });
    tool.update({ visible: true });
    await Promise.resolve();
    expect(changes).toEqual(['hidden', 'hidden', 'visible']);
  });

  it('replaces name, schema and handler in one step', async () => {
    const { registry, tool, found } = setUp();
    tool.update({
      name: 'tides',
      inputSchema: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
      handler: ({ port }) => `High in ${port.toUpperCase()}`,
    });
    expect([tool.name, await found('zebra')]).toEqual(['tides', ['tides']]);
    expect(await registry.callTool('tides', { port: 'Brest' })).toMatchObject({ content: [{ text: 'High in BREST' }] });
    expect(await registry.callTool('tides', { city: 'Rome' })).toMatchObject({ isError: true });
    await expect(registry.callTool('weather')).rejects.toBeInstanceOf(ToolNotFoundError);
  });

  it('hides a tool while it is disabled, and keeps its name', async () => {
    const { registry, tool, found } = setUp();
    tool.disable();
    expect([tool.enabled, registry.listTools(), await found('zebra')]).toEqual([false, [], []]);
    await expect(registry.callTool('weather', { city: 'Rome' })).rejects.toBeInstanceOf(ToolNotFoundError);
    expect(() => registry.registerTool('weather', { description: '' }, () => '')).toThrow('already registered');
    tool.update({ description: 'Tell the climate' });
    expect(registry.listTools()).toEqual([]);
    tool.enable();
    expect([tool.enabled, await found('climate')]).toEqual([true, ['weather']]);
  });

  it('removes a tool for good, and another tool of that name is not its own', async () => {
    const { registry, tool } = setUp();
    tool.remove();
    tool.remove();
    expect([tool.enabled, registry.listTools(), registry.unregisterTool('weather')]).toEqual([false, [], false]);
    const other = registry.registerTool('weather', { description: 'Another' }, () => '');
    expect(() => tool.update({ title: 'Mine' })).toThrow('weather: the tool was removed; register it again');
    tool.remove();
    expect(other.enabled).toBe(true);
    expect(registry.unregisterTool('weather')).toBe(true);
    expect(() => other.enable()).toThrow('was removed');
  });

  it('changes nothing where the change is refused', () => {
    const { registry, tool } = setUp();
    registry.registerTool({ name: 'taken', description: '', keywords: ['a'] }, () => '', 'b');
    const before = registry.listTools();
    expect(() => tool.update({ name: 'taken' })).toThrow('already registered');
    expect(() => tool.update({ name: 'tool_search' })).toThrow('choose another');
    expect(() => tool.update({ descripton: 'x' } as never)).toThrow('did you mean description?');
    expect(() => tool.update({ inputSchema: 5 as never })).toThrow('weather');
    expect([tool.name, tool.enabled, registry.listTools()]).toEqual(['weather', true, before]);
  });
});
