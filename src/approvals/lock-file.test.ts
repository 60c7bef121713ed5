import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import type { ToolDefinition } from '../core/types.ts';
import { buildLock, compareLocks, type LockableServer, parseLock, printLock } from './lock-file.ts';
import { pinOf } from './pin.ts';

const tool = (name: string, description = 'A tool.'): ToolDefinition => ({
  name,
  description,
  inputSchema: { type: 'object' },
});
const SERVERS: readonly LockableServer[] = [
  {
    server: 'mail',
    version: '1.2.0',
    tools: [tool('send'), tool('draft')],
    domains: new Map([['send', ['mail.send']]]),
  },
  { server: 'box', tools: [] },
];

describe('the lock file', () => {
  it('is sorted, with one line per tool', () => {
    expect(printLock(buildLock(SERVERS))).toBe(`{
 "lockVersion": 1,
 "servers": {
  "box": {
   "tools": {}
  },
  "mail": {
   "version": "1.2.0",
   "tools": {
    "draft": {"pin":"sha256-${pinOf(tool('draft'))}"},
    "send": {"pin":"sha256-${pinOf(tool('send'))}","domains":["mail.send"]}
   }
  }
 }
}
`);
    expect(printLock(buildLock([]))).toBe('{\n "lockVersion": 1,\n "servers": {}\n}\n');
  });

  it('reads back what it printed, whatever the names are, and does not depend on any order', () => {
    const servers = fc.uniqueArray(
      fc.record({
        server: fc.oneof(fc.constantFrom('__proto__', 'a'), fc.string({ unit: 'binary' })),
        version: fc.option(fc.string(), { nil: undefined }),
        tools: fc.uniqueArray(fc.oneof(fc.constantFrom('__proto__', '1'), fc.string({ unit: 'binary' })), {
          maxLength: 4,
        }),
      }),
      { selector: ({ server }) => server, maxLength: 4 },
    );
    fc.assert(
      fc.property(servers, (some) => {
        const list = some.map(({ tools, ...about }) => ({ ...about, tools: tools.map((name) => tool(name)) }));
        const lock = buildLock(list);
        const turned = buildLock(list.toReversed().map((one) => ({ ...one, tools: one.tools.toReversed() })));
        expect(compareLocks(parseLock(printLock(lock)), lock)).toEqual([]);
        expect(printLock(turned)).toBe(printLock(lock));
        expect(printLock(parseLock(printLock(lock)))).toBe(printLock(lock));
      }),
    );
  });

  it('names every difference', () => {
    const now = buildLock([
      { server: 'mail', version: '1.3.0', tools: [tool('send', 'Changed.'), tool('new')] },
      { server: 'cal', tools: [] },
    ]);
    expect(compareLocks(buildLock(SERVERS), now)).toEqual([
      { kind: 'server-removed', server: 'box' },
      { kind: 'server-added', server: 'cal' },
      { kind: 'version-changed', server: 'mail', was: '1.2.0', now: '1.3.0' },
      { kind: 'tool-removed', server: 'mail', tool: 'draft' },
      { kind: 'tool-added', server: 'mail', tool: 'new' },
      {
        kind: 'tool-changed',
        server: 'mail',
        tool: 'send',
        was: pinOf(tool('send')),
        now: pinOf(tool('send', 'Changed.')),
      },
    ]);
    const domains = (one: string) => buildLock([{ server: 'a', tools: [tool('t')], domains: new Map([['t', [one]]]) }]);
    expect(compareLocks(domains('x'), domains('y'))).toEqual([
      { kind: 'domains-changed', server: 'a', tool: 't', was: 'x', now: 'y' },
    ]);
  });

  it('never treats a tool without a pin as unchanged', () => {
    const lock = buildLock([{ server: 'a', tools: [tool('huge', 'x'.repeat(5_000_000))] }]);
    expect(compareLocks(parseLock(printLock(lock)), lock)).toMatchObject([{ kind: 'tool-changed', tool: 'huge' }]);
  });

  it.each([
    ['', 'JSON'],
    ['null', 'format'],
    ['{"lockVersion":2,"servers":{}}', 'format'],
    ['{"lockVersion":1,"servers":[]}', 'format'],
    ['{"lockVersion":1,"servers":{"a":{}}}', 'the server "a" has no tools'],
    ['{"lockVersion":1,"servers":{"a":{"version":1,"tools":{}}}}', 'version'],
    ['{"lockVersion":1,"servers":{"a":{"tools":{"t":{"pin":"sha256-x"}}}}}', 'the tool "t" of "a" has no pin'],
    ['{"lockVersion":1,"servers":{"a":{"tools":{"t":{"pin":null,"domains":[1]}}}}}', 'no pin'],
    ['{\n<<<<<<< HEAD\n"a": 1\n=======\n', 'merge conflict'],
  ])('refuses %s', (text, why) => {
    expect(() => parseLock(text)).toThrow(ConfigurationError);
    expect(() => parseLock(text)).toThrow(why);
    expect(() => parseLock(text, 'ci/x.lock')).toThrow('ci/x.lock');
  });
});
