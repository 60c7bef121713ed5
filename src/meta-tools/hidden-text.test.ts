import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeIo } from '../../test/fixtures/gateway/fake-io.ts';
import { main } from '../cli/main.ts';
import { EngineCore } from '../engine/engine-core.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import { isPlain, plainText, visible } from '../text/plain-text.ts';
import { createMetaToolRunner } from './meta-tool-runner.ts';

/** Every kind of character that hides something: tags, bidi, zero-width, C0, C1, terminal sequences, stray joiners. */
const HIDING = [
  '\u{e0068}\u{e0069}',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u200d',
  '\u2060',
  '\ufeff',
  '\u0007',
  '\u001b[31m',
  '\u001b]0;t\u0007',
  '\u009b31m',
  '\u0085',
  '\u2028',
  '\u00ad',
  '\u061c',
  '\ufe0f',
  '\u{e0101}',
  '\u3164',
];
const MARK = HIDING.join('');
const hide = (word: string): string => `${word}${MARK}${word}`;
const KEY = hide('key');
const INNER = hide('inner');
const VALUE = hide('value');

let server: TestServer;
let engine: EngineCore;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hidden-'));
  server = await startTestServer({
    title: hide('Title'),
    instructions: hide('Instructions.'),
    tools: {
      planted: {
        description: hide('Plants a marker.'),
        inputSchema: {
          type: 'object',
          title: hide('title'),
          description: hide('about'),
          properties: {
            [KEY]: { type: 'string', enum: [VALUE, 'other'], description: hide('says'), default: VALUE },
            nested: {
              type: 'object',
              properties: { [INNER]: { type: 'string', title: hide('t'), format: hide('f') } },
              required: [INNER],
            },
            choice: { anyOf: [{ const: VALUE }, { type: 'string', title: hide('branch') }] },
          },
          required: [KEY],
          examples: [{ [KEY]: VALUE }],
          $defs: { [hide('def')]: { $comment: hide('comment') } },
        },
        call: (args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
      },
      failing: {
        description: 'Fails.',
        call: () => {
          throw new Error(hide('It broke.'));
        },
      },
      raw: { description: 'Says what it likes.', call: () => MARK },
    },
  });
  const config = {
    servers: [
      { name: 'evil', connection: server.connection },
      {
        name: 'dead',
        connection: {
          type: 'stdio',
          command: process.execPath,
          args: ['-e', `console.error(${JSON.stringify(hide('last words'))}); process.exit(3)`],
        },
      },
    ],
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  engine = new EngineCore({ ...config, cache: { enabled: false } } as never, {
    env: { ANYGPT_HOME: join(folder, 'library') },
  });
});
afterAll(async () => {
  await engine.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = async (name: string, args: object): Promise<string> => {
  const { content = [] } = await createMetaToolRunner(engine)(name, args, {
    caller: {},
    signal: new AbortController().signal,
  });
  return content.map(({ text }) => text).join('\n');
};

/** Returns the hidden parts of a text, in the text and in its JSON value. */
function hidden(text: string): string[] {
  const found: string[] = isPlain(text) ? [] : [text];
  const look = (value: unknown): void => {
    if (typeof value === 'string' && !isPlain(value)) found.push(value);
    if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) {
        look(key);
        look(one);
      }
  };
  try {
    look(JSON.parse(text));
  } catch {
    // Not every text is one document.
  }
  return found;
}

describe('what a server writes into its definitions', () => {
  it.each<[string, object]>([
    ['search_tools', { query: 'plants a marker' }],
    ['search_tools', { query: KEY, limit: 50 }],
    ['get_tool_details', { server: 'evil', tool: 'planted' }],
    ['get_tool_details', { server: 'evil', tool: hide('planted') }],
    ['get_tool_details', { server: hide('evil'), tool: 'planted' }],
    ['list_tools', { server: 'evil', includeDisabled: true }],
    ['list_tools', { server: 'dead' }],
    ['list_mcp_servers', {}],
    ['execute_tool', { server: 'anygpt', tool: 'read_schema', arguments: { server: 'evil', tool: 'planted' } }],
    [
      'execute_tool',
      { server: 'anygpt', tool: 'read_schema', arguments: { server: 'evil', tool: 'planted', path: 'nested' } },
    ],
    [
      'execute_tool',
      { server: 'anygpt', tool: 'read_schema', arguments: { server: 'evil', tool: 'planted', path: hide('x') } },
    ],
    ['execute_tool', { server: 'evil', tool: 'planted', arguments: { [KEY]: 7 } }],
    ['execute_tool', { server: 'evil', tool: 'planted', arguments: { nested: {} } }],
    ['execute_tool', { server: 'evil', tool: hide('nothing'), arguments: {} }],
    ['execute_tool', { server: 'dead', tool: 'x', arguments: {} }],
    [hide('search_tools'), {}],
  ])('is all to be seen in the answer of %s %j', async (name, args) => {
    await engine.listTools('evil');
    expect(hidden(await run(name, args))).toEqual([]);
  });

  it('can be called by what was shown, and by what is meant', async () => {
    const { parameters } = JSON.parse(await run('get_tool_details', { server: 'evil', tool: 'planted' }));
    const shown = parameters.find(({ name }: { name: string }) => name.startsWith('key')).name;
    expect(shown).toBe(visible(KEY));
    const meant = { [KEY]: VALUE, nested: { [INNER]: 'x' } };
    for (const args of [meant, { [shown]: visible(VALUE), nested: { [visible(INNER)]: 'x' } }]) {
      const said = await run('execute_tool', { server: 'evil', tool: 'planted', arguments: args });
      expect(JSON.parse(said)).toEqual(meant);
    }
  });

  it('comes through untouched where it is a result', async () => {
    expect(await run('execute_tool', { server: 'evil', tool: 'raw', arguments: {} })).toBe(MARK);
  });

  it.each([
    ['list'],
    ['list', '--status', '--tools'],
    ['list', '--json'],
    ['search', 'plants a marker'],
    ['search', 'plants a marker', '--json'],
    ['search', 'plants a marker', '--explain'],
    ['tools', 'evil', '--all'],
    ['tools', 'evil', '--json'],
    ['tools', 'dead'],
    ['inspect', 'evil', 'planted', '--examples'],
    ['inspect', 'evil', 'planted', '--json'],
    ['execute', 'evil', 'failing'],
    ['execute', 'evil', 'failing', '--json'],
    ['execute', 'evil', 'planted', 'nested={}'],
    ['execute', 'evil', 'planted', '--args', '{}', '--json'],
    ['execute', 'dead', 'x', '--json'],
    ['execute', 'evil', 'raw'],
    ['logs', 'dead'],
    ['logs', 'dead', '--json'],
    ['doctor', '--timeout', '5'],
    ['doctor', '--json', '--timeout', '5'],
    ['lint', 'evil'],
    ['lint', 'evil', '--json'],
    ['stats'],
    ['tools', 'dead', '--log-level', 'debug'],
    ['eval', '--json'],
    ['search', 'plants a marker', '--explain', '--json'],
    ['cache', 'clear', 'evil'],
    ['config', 'show'],
  ])('is all to be seen on the command line: %s %s %s %s', async (...argv) => {
    const env = { ANYGPT_HOME: join(folder, 'home'), ANYGPT_CONFIG: join(folder, 'config.json'), HOME: folder };
    const io = fakeIo({ cwd: folder, env });
    await main(['mcp', ...argv.filter(Boolean)], io);
    for (const text of [io.out(), io.err()]) expect(hidden(text)).toEqual([]);
  });
});

describe('plain and visible text', () => {
  const pieces = fc.array(
    fc.oneof(fc.constantFrom(...HIDING), fc.constantFrom('a', ' ', '👩‍👩‍👧', '❤️', '1️⃣', 'שלום', 'می', 'क्‍ष')),
    {
      maxLength: 12,
    },
  );

  it('hide nothing, whatever they were made of, and change nothing the second time', () => {
    fc.assert(
      fc.property(pieces, (parts) => {
        for (const clean of [plainText, visible]) {
          const once = clean(parts.join(''));
          expect(isPlain(once)).toBe(true);
          expect(clean(once)).toBe(once);
        }
      }),
    );
  });

  it('leave emoji and right-to-left languages as they are', () => {
    for (const text of ['👩‍👩‍👧 family', '❤️', '1️⃣', '🏳️‍🌈', '👍🏽', 'שלום עולם', 'مرحبا', 'क्‍ष', '日本語'])
      expect([plainText(text), visible(text)]).toEqual([text, text]);
  });

  it('take variation selectors and joiners out that carry bits in plain words', () => {
    expect(plainText('a\ufe0f\ufe0eb\u200dc\ufe0f')).toBe('abc');
    expect(plainText('❤\ufe0f\ufe0e\ufe0f\ufe0e')).toBe('❤\ufe0f');
    expect(visible('\u{e0101}\u200dم')).toBe('\\u{e0101}\\u{200d}م');
  });
});
