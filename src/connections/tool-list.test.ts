import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../test/fixtures/connections/harness.ts';
import { checkTool, readToolList } from './tool-list.ts';

const tool = (name: unknown, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

/** Pages by number; `next` decides what the cursor after page n is. */
async function list(page: (n: number) => readonly unknown[], next: (n: number) => unknown, limits = LIMITS) {
  const asked: (string | undefined)[] = [];
  const read = await readToolList(async (cursor) => {
    asked.push(cursor);
    return { tools: page(asked.length), nextCursor: next(asked.length) };
  }, limits);
  return { ...read, asked };
}

describe('pages', () => {
  it('are read to the end', async () => {
    const { tools, incomplete, asked } = await list(
      (n) => [tool(`t${n}`)],
      (n) => (n < 3 ? `c${n}` : undefined),
    );
    expect(tools.map(({ name }) => name)).toEqual(['t1', 't2', 't3']);
    expect(incomplete).toBeUndefined();
    expect(asked).toEqual([undefined, 'c1', 'c2']);
  });

  it('end at the first cursor that comes again', async () => {
    const { asked, incomplete, isCut } = await list(
      (n) => [tool(`t${n}`)],
      () => 'same',
    );
    expect(asked).toHaveLength(2);
    expect(incomplete).toMatch(/repeated/);
    expect(isCut).toBeUndefined();
  });

  it('end at the cap when the cursor is always fresh', async () => {
    const { tools, incomplete, isCut } = await list(
      (n) => [tool(`t${n}`)],
      (n) => `c${n}`,
      { ...LIMITS, pages: 5 },
    );
    expect(tools).toHaveLength(5);
    expect([incomplete, isCut]).toEqual(['more than 5 pages', true]);
  });

  it('follow an empty cursor, which is a valid one, and end with null', async () => {
    const { asked, incomplete } = await list(
      (n) => [tool(`t${n}`)],
      (n) => (n === 1 ? '' : null),
    );
    expect(asked).toEqual([undefined, '']);
    expect(incomplete).toBeUndefined();
  });

  it('end at the cap of tools', async () => {
    const { tools, incomplete } = await list(
      () => [1, 2, 3].map((n) => tool(`t${n}`)),
      () => undefined,
      {
        ...LIMITS,
        tools: 2,
      },
    );
    expect(tools).toHaveLength(2);
    expect(incomplete).toBe('more than 2 tools');
  });

  it('end at a cursor that is absurdly long, which is not sent back', async () => {
    const { tools, incomplete, asked } = await list(
      (n) => [tool(`t${n}`)],
      (n) => (n === 1 ? 'c'.repeat(8192) : 'c'.repeat(8193)),
    );
    expect(tools).toHaveLength(2);
    expect(incomplete).toBe('a page cursor of 8193 characters');
    expect(asked).toHaveLength(2);
  });

  it('end when all definitions together are too large to be kept', async () => {
    const limits = { ...LIMITS, definitionBytes: 1000 };
    const large = { description: 'x'.repeat(900) };
    const { tools, incomplete } = await list(
      (n) => [tool(`a${n}`, large), tool(`b${n}`, large)],
      (n) => `c${n}`,
      limits,
    );
    expect(incomplete).toBe('more than 128000 bytes of definitions');
    expect(tools.length).toBeGreaterThan(100);
    expect(JSON.stringify(tools).length).toBeLessThan(128_000 + 2 * tools.length);
  });

  it('without a list do not make a complete list', async () => {
    expect(await readToolList(async () => ({}), LIMITS)).toMatchObject({
      tools: [],
      incomplete: 'the server sent no list',
    });
  });

  it('of thousands of tools do not block other work', async () => {
    let turns = 0;
    let running = true;
    const others = () => {
      turns++;
      if (running) setImmediate(others);
    };
    setImmediate(others);
    const { tools } = await list(
      () => Array.from({ length: 5000 }, (_, n) => tool(`t${n}`)),
      () => undefined,
    );
    running = false;
    expect(tools).toHaveLength(5000);
    expect(turns).toBeGreaterThan(10);
  });
});

describe('bad entries among good ones', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
  const header = (schema: object) => ({ inputSchema: { type: 'object', properties: { a: schema } } });
  const bad: [string, unknown, RegExp][] = [
    ['null', null, /not an object/],
    ['a text', 'x', /not an object/],
    ['no name', { inputSchema: {} }, /name is missing/],
    ['an empty name', tool(''), /name is missing/],
    ['a name that is no text', tool({ toString: 1 }), /name is missing/],
    ['a name of 10 KiB', tool('x'.repeat(10_240)), /longer than 256/],
    ['a name with control characters', tool('a\u0000b'), /control characters/],
    ['a name that is turned around', tool('read_\u202eelif'), /invisible characters/],
    ['a name with a text in tag characters', tool('read\u{e0068}\u{e0069}'), /invisible characters/],
    ['no schema', { name: 'a' }, /inputSchema/],
    ['schema null', { name: 'a', inputSchema: null }, /inputSchema/],
    ['schema true', { name: 'a', inputSchema: true }, /inputSchema/],
    ['schema array', { name: 'a', inputSchema: [] }, /inputSchema/],
    ['a schema of another type', { name: 'a', inputSchema: { type: 'array' } }, /inputSchema\.type/],
    ['properties that are a number', tool('a', { inputSchema: { properties: 5 } }), /inputSchema\.properties/],
    ['a schema too deep to write', { name: 'a', inputSchema: deep }, /nested too deeply|bytes/],
    ['a definition too large', tool('a', { description: 'x'.repeat(300_000) }), /more than 262144/],
    ['a bad x-mcp-header', tool('a', header({ type: 'string', 'x-mcp-header': 'no good' })), /x-mcp-header/],
    ['x-mcp-header on an odd type', tool('a', header({ type: { toString: 1 }, 'x-mcp-header': 'A' })), /x-mcp-header/],
  ];

  it.each(bad)('%s is left out with the reason', async (_, entry, reason) => {
    const { tools, skipped, incomplete } = await list(
      () => [tool('good'), entry, tool('fine')],
      () => undefined,
    );
    expect(tools.map(({ name }) => name)).toEqual(['good', 'fine']);
    expect(skipped).toEqual([{ name: expect.any(String), reason: expect.stringMatching(reason) }]);
    expect(incomplete).toBeUndefined();
  });

  it('keeps odd names and names that mean something to JavaScript', async () => {
    const names = ['a/b', 'a b', '__proto__', 'constructor', 'then', '../x', 'ä😀'];
    const { tools } = await list(
      () => names.map((name) => tool(name)),
      () => undefined,
    );
    expect(tools.map(({ name }) => name)).toEqual(names);
  });

  it('keeps the first of two tools with one name', async () => {
    const { tools, skipped } = await list(
      () => [tool('a', { title: '1' }), tool('a', { title: '2' })],
      () => undefined,
    );
    expect(tools).toEqual([tool('a', { title: '1' })]);
    expect(skipped).toEqual([{ name: 'a', reason: expect.stringMatching(/listed before/) }]);
  });

  it('drops only the fields that are of no use, and cuts a long description', async () => {
    const entry = tool('a', { description: null, title: 5, annotations: [], outputSchema: [], icons: [1], _meta: {} });
    expect(checkTool(entry, LIMITS)).toEqual({
      tool: { ...tool('a'), _meta: {} },
      bytes: JSON.stringify(entry).length,
    });
    const long = checkTool(tool('a', { description: 'x'.repeat(20_000) }), LIMITS);
    expect(long).toMatchObject({ tool: { description: 'x'.repeat(16_384) } });
  });

  it('counts no more than a hundred of them', async () => {
    const { skipped } = await list(
      () => Array.from({ length: 500 }, () => null),
      () => undefined,
    );
    expect(skipped).toHaveLength(100);
  });

  it('survives whatever JSON there is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue()), async (entries) => {
        const { tools } = await list(
          () => [...entries, tool('good')],
          () => undefined,
        );
        expect(tools.map(({ name }) => name)).toContain('good');
      }),
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('names that look like those of this gateway', () => {
  it.each(['search\uff3ftools', '\u0455earch_tools', 'execute_tool ', '\uff45xecute_tool', 'List_tool\u0455'])(
    'are left out: %j',
    (name) => {
      expect(checkTool(tool(name), LIMITS)).toMatchObject({
        reason: expect.stringContaining('a tool of this gateway'),
      });
    },
  );

  it('stay where they are plain or another word', () => {
    for (const name of ['search_tools', 'search tools', 'поиск', 'outils de recherche'])
      expect(checkTool(tool(name), LIMITS)).toMatchObject({ tool: { name } });
  });
});
