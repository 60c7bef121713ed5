import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressWords,
  isLocal,
  mapTexts,
  namedTextsOf,
  textsOf,
  transportParts,
  type WrittenConnection,
} from './transport-parts.ts';

const text = fc.string({ maxLength: 8 });
const texts = fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true });
const local: fc.Arbitrary<WrittenConnection> = fc.record(
  { type: fc.constant('stdio'), command: text, args: fc.array(text, { maxLength: 4 }), env: texts, cwd: text },
  { requiredKeys: ['type', 'command'] },
);
const remote: fc.Arbitrary<WrittenConnection> = fc.record(
  { type: fc.constantFrom('http', 'sse'), url: text, headers: texts, auth: fc.constant('env') },
  { requiredKeys: ['type', 'url'] },
);
const anyConnection = fc.oneof(local, remote);
const folderOf = (connection: WrittenConnection) => transportParts(connection.type).folder(connection);

describe('mapTexts', () => {
  it('changes every text, and nothing else', () => {
    fc.assert(
      fc.property(anyConnection, (connection) => {
        const changed = mapTexts(connection, (old) => `<${old}>`);
        expect(textsOf(changed)).toEqual(textsOf(connection).map((old) => `<${old}>`));
        expect(Object.keys(namedTextsOf(changed))).toEqual(Object.keys(namedTextsOf(connection)));
        expect(mapTexts(changed, (old) => old.slice(1, -1))).toEqual(connection);
      }),
    );
  });

  it('changes the working folder in its own way, where there is one', () => {
    fc.assert(
      fc.property(anyConnection, (connection) => {
        const changed = mapTexts(
          connection,
          (old) => old,
          (path) => `/${path}`,
        );
        const folder = folderOf(connection);
        expect(folderOf(changed)).toBe(folder === undefined ? undefined : `/${folder}`);
        expect(textsOf(changed)).toEqual(textsOf(connection));
      }),
    );
  });
});

describe('a row', () => {
  const server: WrittenConnection = {
    type: 'stdio',
    command: 'npx',
    args: ['-y', 'x'],
    env: { A: '1' },
    inheritEnv: ['B'],
  };
  const http: WrittenConnection = { type: 'http', url: 'https://example.com/mcp', headers: { A: '1' }, auth: 'env' };

  it('tells programs from addresses', () => {
    expect([server, http, { ...http, type: 'sse' as const }].map(isLocal)).toEqual([true, false, false]);
    expect([server, http].map(addressWords)).toEqual([['npx', '-y', 'x'], ['https://example.com/mcp']]);
  });

  it('names the variables that a server gets without a text in its entry', () => {
    const passedOn = (connection: WrittenConnection) =>
      transportParts(connection.type).passedOn(connection, 'my-server');
    expect(passedOn(server)).toEqual([{ name: 'B', from: ['B'] }]);
    expect(passedOn(http)).toEqual([{ name: 'Authorization', from: ['MY_SERVER_MCP_TOKEN', 'MCP_AUTH_TOKEN'] }]);
    expect(passedOn({ ...http, auth: undefined })).toEqual([]);
  });

  it('keeps values of variables and headers out of what a fingerprint depends on', () => {
    fc.assert(
      fc.property(anyConnection, (connection) => {
        const { traits } = transportParts(connection.type);
        const secret = 'a-secret-value-that-is-long';
        const named = Object.fromEntries(Object.keys(namedTextsOf(connection)).map((name) => [name, secret]));
        const other = { ...connection, ...(isLocal(connection) ? { env: named } : { headers: named }) };
        expect(traits(other)).toEqual(traits(connection));
        expect(JSON.stringify(traits(other))).not.toContain(secret);
      }),
    );
  });
});
