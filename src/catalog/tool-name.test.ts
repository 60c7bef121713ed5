import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatToolName, readingsOf, resolveToolRef } from './tool-name.ts';

/** Names as they are: letters, and everything that could be taken for a separator. */
const name = fc
  .array(fc.constantFrom('a', 'b', '_', '__', ':', '-', '/', '__proto__', 'constructor'), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(''));
const pair = fc.record({ server: name, tool: name });

const resolver = (table: readonly { server: string; tool: string }[]) => {
  const key = (server: string, tool: string) => JSON.stringify([server, tool]);
  const tools = new Set(table.map(({ server, tool }) => key(server, tool)));
  const servers = new Set(table.map(({ server }) => server));
  return (server: string, tool: string) =>
    resolveToolRef(
      server,
      tool,
      (one) => servers.has(one),
      (ref) => tools.has(key(ref.server, ref.tool)),
    );
};

describe('a tool name', () => {
  it('that exists as written is never taken apart', () => {
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1, maxLength: 6 }), (table) => {
        const resolve = resolver(table);
        for (const ref of table) expect(resolve(ref.server, ref.tool)).toEqual(ref);
      }),
    );
  });

  it('written with a separator finds a tool of exactly that writing', () => {
    fc.assert(
      fc.property(fc.array(pair, { minLength: 1, maxLength: 6 }), (table) => {
        const resolve = resolver(table);
        const servers = new Set(table.map(({ server }) => server));
        for (const { server, tool } of table) {
          for (const written of [formatToolName({ server, tool }), `${server}:${tool}`]) {
            if (servers.has(written)) continue;
            const found = resolve(written, '');
            // Two pairs may be written alike; then it is one of them, and never one that is not there.
            expect(table).toContainEqual(found);
            expect([formatToolName(found), `${found.server}:${found.tool}`]).toContain(written);
          }
        }
      }),
    );
  });

  it('may stand in either field, and may repeat its server', () => {
    const resolve = resolver([
      { server: 'github', tool: 'create_issue' },
      { server: 'a', tool: 'b__c' },
      { server: 'a__b', tool: 'd' },
    ]);
    const github = { server: 'github', tool: 'create_issue' };
    expect(resolve('github', 'github:create_issue')).toEqual(github);
    expect(resolve('github', 'github__create_issue')).toEqual(github);
    expect(resolve('', 'github__create_issue')).toEqual(github);
    expect(resolve('github:create_issue', '')).toEqual(github);
    expect(resolve('something', 'github:create_issue')).toEqual(github);
    expect(resolve('a__b__c', '')).toEqual({ server: 'a', tool: 'b__c' });
    expect(resolve('a__b__d', '')).toEqual({ server: 'a__b', tool: 'd' });
    expect(resolve('github', 'nothing:here')).toEqual({ server: 'github', tool: 'nothing:here' });
    expect(resolve('unknown', 'tool')).toEqual({ server: 'unknown', tool: 'tool' });
  });

  it('made of separators costs nothing', () => {
    expect([...readingsOf(':'.repeat(1_000_000))]).toEqual([]);
    expect([...readingsOf('a:__')]).toEqual([{ server: 'a', tool: '__' }]);
  });
});
