/** Checks that a call with odd names or an odd result is answered with a bounded error, and never rejects. */
import { afterAll, describe, expect, it } from 'vitest';
import { memoryServers } from '../../test/fixtures/memory-servers.ts';
import { ToolRegistry } from '../agent/registry/tool-registry.ts';
import { UnifiedToolRegistry } from '../agent/unified/unified-tool-registry.ts';
import type { DiscoveryError } from '../core/errors.ts';
import { plainJson } from '../json/json-fault.ts';
import { DiscoveryEngine } from './discovery-engine.ts';

const registry = new ToolRegistry();
const returning = (name: string, value: () => unknown) =>
  registry.registerTool(name, { description: name }, value as () => string);
returning('structure', () => ({ content: [], structuredContent: { id: 10n } }));
returning('nested', () => ({ content: [{ type: 'text', text: 'x' }], structuredContent: { ids: [{ id: 10n }] } }));
returning('meta', () => ({ content: [], _meta: { 'x/y': 10n } }));
returning('block', () => ({ content: [{ type: 'text', text: 'x', _meta: { id: 10n } }] }));
returning('throwing', () => ({
  content: [],
  structuredContent: {
    toJSON() {
      throw new Error('no JSON');
    },
  },
}));
returning('dated', () => ({ content: [], structuredContent: { at: new Date(0) } }));

/** Few objects that stand for many. */
const doubled = (levels: number) => {
  let value: object = {};
  for (let level = 0; level < levels; level++) value = { left: value, right: value };
  return value;
};
const endless = (): object => Object.assign(() => {}, { toJSON: () => ({ left: endless(), right: endless() }) });
returning('doubled', () => doubled(30));
returning('doubled_in_a_map', () => new Map([['value', doubled(30)]]));
returning('doubled_structure', () => ({ content: [], structuredContent: doubled(30) }));
returning('holes', () => ({ content: [], structuredContent: { list: new Array(2 ** 32 - 1) } }));
returning('endless', () => ({ content: [], structuredContent: { value: endless() } }));
returning('box', () => ({ id: Object(10n) }));

const engine = new DiscoveryEngine({ servers: [], providers: [registry] });
afterAll(() => engine.close());

const use = (name: string, input: unknown = {}) => engine.handle({ type: 'tool_use', id: '1', name, input });

describe('arguments that cannot be written as JSON', () => {
  class Endless {
    toJSON(): object {
      return { next: new Endless(), more: [new Endless(), new Endless()] };
    }
  }
  const itself = {
    toJSON(): object {
      return { itself };
    },
  };
  const ring: Record<string, unknown> = {};
  ring.ring = { ring };
  const thrown = () => {
    throw new Error('no value');
  };
  const odd: [string, () => Record<string, unknown>][] = [
    ['a BigInt', () => ({ id: 10n })],
    ['a BigInt in a list', () => ({ ids: [[1, 10n]] })],
    ['an endless toJSON', () => ({ value: new Endless() })],
    ['a toJSON of the whole', () => new Endless() as never],
    ['a toJSON that writes itself', () => ({ itself })],
    ['a toJSON that gives a BigInt', () => ({ id: { toJSON: () => 10n } })],
    ['a toJSON that throws', () => ({ id: { toJSON: thrown } })],
    [
      'a getter that throws',
      () => ({
        get id() {
          return thrown();
        },
      }),
    ],
    ['a proxy that throws', () => ({ id: new Proxy({}, { ownKeys: thrown }) })],
    ['a ring', () => ring],
    ['shared objects that stand for millions', () => ({ value: doubled(30) })],
    ['a list of holes', () => ({ value: new Array(2 ** 32 - 1) })],
    ['a proxy that claims to be long', () => ({ value: new Proxy([], { get: () => 2 ** 32 }) })],
    ['a BigInt in a box', () => ({ id: Object(10n) })],
    ['a text in a box that throws', () => ({ id: Object.assign(new String('x'), { toString: thrown }) })],
    ['a function with an endless toJSON', () => ({ value: endless() })],
  ];
  let calls = 0;
  const own = new ToolRegistry();
  own.registerTool('own', { description: 'own' }, () => {
    calls++;
    return 'called';
  });
  const unified = new UnifiedToolRegistry();
  unified.registerStaticTool(
    'static',
    () => {
      calls++;
      return 'called';
    },
    { description: 'static' },
  );
  const far = memoryServers({ far: [{ name: 'far', inputSchema: { type: 'object' } }] });
  const both = new DiscoveryEngine({ servers: [], providers: [own] });
  afterAll(() => Promise.all([both.close(), unified.close(), far.servers.close()]));

  it.each(odd)('are refused before anything runs: %s', async (_what, args) => {
    const answers = await Promise.all([
      both.executeTool('', 'own', args()),
      far.servers.executeTool('far', 'far', args()),
      unified.callTool('static', args()),
      both.handle({ type: 'tool_use', id: '1', name: 'own', input: args() }),
      both.handle({
        type: 'tool_use',
        id: '1',
        name: 'execute_tool',
        input: { server: '', tool: 'own', arguments: args() },
      }),
      own.callTool('own', args()).catch((error: DiscoveryError) => error.toInfo()),
    ]);
    for (const answer of answers) expect(JSON.stringify(answer)).toContain('VALIDATION_ERROR');
    expect(await both.executeTool('', '', args())).toMatchObject({ success: false });
    expect([calls, far.calls]).toEqual([0, []]);
  });
});

describe('values that say something else each time', () => {
  /** Says each of these, then the last one for ever. */
  const saying = (...said: (() => unknown)[]) => {
    let times = 0;
    return () => said[Math.min(times++, said.length - 1)]?.();
  };
  const later: [string, () => unknown][] = [
    ['a BigInt', () => 10n],
    ['an error', () => JSON.parse('{')],
    ['a ring', () => endless()],
    ['another text', () => 'second'],
  ];
  const shapes: [string, (say: () => unknown) => Record<string, unknown>][] = [
    ['a toJSON', (say) => ({ value: { toJSON: say } })],
    ['a getter', (say) => Object.defineProperty({}, 'value', { get: say, enumerable: true })],
    [
      'a getter beside others',
      (say) => ({ a: 1, ...{ b: [] }, inner: Object.defineProperty({ z: 1 }, 'y', { get: say, enumerable: true }) }),
    ],
    ['a getter of a list', (say) => ({ list: Object.defineProperty([1, 2], '1', { get: say, enumerable: true }) })],
    [
      'a proxy',
      (say) => ({ value: new Proxy({ a: 1 }, { get: (_target, key) => (key === 'toJSON' ? undefined : say()) }) }),
    ],
  ];
  const far = memoryServers({ far: [{ name: 'far', inputSchema: { type: 'object' } }] });
  afterAll(() => far.servers.close());

  it.each(shapes.flatMap(([shape, make]) => later.map(([what, say]) => [shape, what, make, say] as const)))(
    'are read once and sent as they were then: %s that becomes %s',
    async (_shape, _what, make, say) => {
      const first = JSON.stringify(make(() => 'first'));
      expect(await far.servers.executeTool('far', 'far', make(saying(() => 'first', say)))).toMatchObject({
        success: true,
      });
      expect(JSON.stringify(far.calls.at(-1)?.arguments)).toBe(first);
      const returned = () => make(saying(() => 'first', say));
      using _tool = { [Symbol.dispose]: () => void registry.unregisterTool('changing') };
      returning('changing', returned);
      expect(await engine.executeTool('', 'changing', {})).toMatchObject({
        success: true,
        result: { structuredContent: JSON.parse(first), content: [{ text: first }] },
      });
    },
  );

  it('are the same objects where nothing can change', () => {
    const plain = { a: [1, { b: 'x' }], c: null, d: undefined, __proto__: null };
    expect(plainJson(plain).value).toBe(plain);
  });
});

describe('a result that cannot be written as JSON', () => {
  it.each(['structure', 'nested', 'meta', 'block', 'throwing'])('is an error of the tool: %s', async (name) => {
    const called = await engine.executeTool('', name, {});
    expect(called).toMatchObject({ success: true, result: { isError: true } });
    expect(JSON.stringify(called)).toMatch(/BigInt|no JSON/);
    expect(await use(name)).toMatchObject({ is_error: true });
  });

  it.each(['doubled', 'doubled_in_a_map', 'doubled_structure', 'holes', 'endless', 'box'])(
    'is an error of the tool, however few objects it has: %s',
    async (name) => {
      const called = await engine.executeTool('', name, {});
      expect(called).toMatchObject({ success: true, result: { isError: true } });
      expect(JSON.stringify(called)).toMatch(/The values that the tool returned (hold|have|are)/);
    },
  );

  it('is told from one that can', async () => {
    expect(await engine.executeTool('', 'dated', {})).toMatchObject({ result: { content: [] } });
  });
});

describe('a name', () => {
  const long = 'x'.repeat(1_000_000);
  it.each([
    ['that is empty', ''],
    ['of a megabyte', long],
    ['of two', `${long}:${long}`],
  ])('%s is answered with a short error', async (_what, name) => {
    const streamed = async (server: string) => {
      let last: unknown;
      for await (const event of engine.executeStream(server, name, {})) last = event;
      return last;
    };
    // The answers of two formats carry the name of the call, however long it is.
    const errors = await Promise.all([
      use(name),
      engine.handle({ type: 'function', id: '1', function: { name, arguments: '{' } }),
      engine.handle({ type: 'tool-call', toolCallId: '1', toolName: name.slice(0, 100), input: {} }),
      engine.handle({ name: name.slice(0, 100), args: {} }),
      engine.executeTool('', name, {}),
      engine.executeTool(name, name, '{'),
      engine.executeTool('anygpt', name, {}),
      streamed(''),
      streamed(name),
      use('execute_tool', { server: name, tool: name, arguments: {} }),
      use('execute_tool', { name, arguments: '[' }),
      use('get_tool_details', { server: name, tool: name }),
      use('get_tool_details', { server: 'own', tool: name }),
      use('list_tools', { server: name }),
    ]);
    for (const error of errors) {
      const text = JSON.stringify(error);
      expect(text).toMatch(/NOT_FOUND|VALIDATION_ERROR/);
      expect(text.length).toBeLessThan(2_000);
    }
    const thrown = await engine.callTool(name, {}).catch((error: Error) => error);
    expect(thrown).toMatchObject({ name: 'ToolNotFoundError' });
    expect((thrown as Error).message.length).toBeLessThan(1_000);
  });

  it.each([undefined, null, 5, {}])('that is no text is refused as an event too: %j', async (name) => {
    for await (const event of engine.executeStream(name as string, name as string))
      expect(event).toMatchObject({ result: { error: { code: 'VALIDATION_ERROR' } } });
  });
});
