import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEntry, readPage } from './read-page.ts';
import { readServer } from './read-server.ts';
import type { RegistryServer } from './registry-server.ts';

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../test/fixtures/mcp-registry/${name}.json`, import.meta.url), 'utf8'));
const serverOf = (raw: unknown): RegistryServer => {
  const server = readServer(raw);
  if (typeof server === 'string') throw new Error(server);
  return server;
};
const minimal = { name: 'com.example/one', description: 'One', version: '1.0.0' };

it('reads a document of 2025-12-11 with everything that a connection needs', () => {
  const server = serverOf(fixture('server.docker-complex'));
  expect(server).toMatchObject({ name: 'io.github.example/database-manager', version: '3.1.0', notes: [] });
  const [image] = server.packages;
  expect(image).toMatchObject({ registryType: 'oci', transport: { type: 'stdio' } });
  expect(image?.runtimeArguments[1]).toMatchObject({
    flag: '-e',
    value: 'DB_TYPE={db_type}',
    isRepeated: true,
    variables: [{ name: 'db_type', choices: ['postgres', 'mysql', 'mongodb', 'redis'], isRequired: true }],
  });
  expect(image?.environmentVariables[1]).toMatchObject({ name: 'DB_PASSWORD', isSecret: true, isRequired: true });
});

describe('earlier versions of the schema', () => {
  it('2025-07-09 has names with underscores', () => {
    const [one] = serverOf({
      ...minimal,
      website_url: 'https://example.com/docs',
      packages: [
        {
          registry_type: 'npm',
          registry_base_url: 'https://packages.example.com',
          identifier: 'one',
          version: '1.0.0',
          file_sha256: 'AB',
          runtime_hint: 'npx',
          runtime_arguments: [{ type: 'positional', value_hint: 'x', is_repeated: true }],
          package_arguments: [{ type: 'named', name: '--port', is_required: true }],
          environment_variables: [{ name: 'KEY', is_secret: true }],
        },
      ],
    }).packages;
    expect(one).toMatchObject({
      registryType: 'npm',
      registryBaseUrl: 'https://packages.example.com',
      fileSha256: 'ab',
      runtimeHint: 'npx',
      transport: { type: 'stdio' },
      runtimeArguments: [{ valueHint: 'x', isRepeated: true }],
      packageArguments: [{ flag: '--port', isRequired: true }],
      environmentVariables: [{ name: 'KEY', isSecret: true }],
    });
  });

  it('before that, packages and versions had other names', () => {
    const { description, name } = minimal;
    const server = serverOf({
      name,
      description,
      version_detail: { version: '0.9.0', is_latest: true },
      packages: [{ registry_name: 'docker', name: 'example/one', version: '0.9.0' }],
      remotes: [{ transport_type: 'streamable', url: 'https://example.com/mcp' }],
    });
    expect(server.version).toBe('0.9.0');
    expect(server.packages[0]).toMatchObject({ registryType: 'oci', identifier: 'example/one' });
    expect(server.remotes[0]).toMatchObject({ type: 'streamable-http' });
  });

  it('up to 2025-09-16 the status stood inside the document, and dates had underscores', () => {
    const entry = readEntry({
      ...minimal,
      status: 'deprecated',
      _meta: { 'io.modelcontextprotocol.registry/official': { is_latest: false, updated_at: '2025-09-01T00:00:00Z' } },
    });
    expect(entry).toMatchObject({ status: 'deprecated', isLatest: false, updatedAt: '2025-09-01T00:00:00.000Z' });
  });

  it('the draft after 2025-12-11 has instructions, and addresses that begin with a variable', () => {
    const server = serverOf({
      ...minimal,
      futureField: { kept: true },
      packages: [
        {
          registryType: 'pypi',
          identifier: 'one',
          version: '1',
          transport: { type: 'streamable-http', url: '{baseUrl}/mcp' },
          postInstallInstructions: [{ description: 'Pull the model', command: 'ollama pull x', optional: true }],
        },
      ],
    });
    expect(server.packages[0]).toMatchObject({
      transport: { url: '{baseUrl}/mcp' },
      postInstall: [{ description: 'Pull the model', command: 'ollama pull x', optional: true }],
    });
    expect(readEntry({ server: { ...minimal, futureField: 1 } })).toMatchObject({ raw: { futureField: 1 } });
  });
});

describe('untrusted texts', () => {
  it.each([
    ['no object', 7],
    ['no name', { ...minimal, name: undefined }],
    ['a name without a publisher', { ...minimal, name: 'one' }],
    ['a path as a name', { ...minimal, name: '../../etc/cron.d/x' }],
    ['a name with an escape sequence', { ...minimal, name: 'com.example/\u001b[2Jx' }],
    ['a huge name', { ...minimal, name: `com.example/${'x'.repeat(300)}` }],
    ['no version', { ...minimal, version: undefined }],
  ])('an entry with %s is left out with a reason that is safe to print', (_what, raw) => {
    const reason = readServer(raw);
    expect(reason).toEqual(expect.any(String));
    expect(String(reason)).toMatch(/^[\x20-\x7e…]{1,200}$/);
  });

  it('prose loses what is hidden in it, and is cut', () => {
    const server = serverOf({
      ...minimal,
      title: 'A\u202e\u200bB',
      description: `\u001b[31mred\u001b[0m ${'x'.repeat(5_000)}`,
    });
    expect(server.title).toBe('AB');
    expect(server.description).toMatch(/^red x+…$/);
    expect(server.description.length).toBeLessThanOrEqual(500);
  });

  it('a value with something hidden makes its package unusable and is never changed', () => {
    const bad = { registryType: 'npm', identifier: 'good\u200b', version: '1' };
    const server = serverOf({
      ...minimal,
      packages: [bad, { ...bad, identifier: 'good' }],
      remotes: [{ type: 'sse', url: 'javascript:x' }],
    });
    expect(server.packages.map(({ identifier }) => identifier)).toEqual(['good']);
    expect(server.remotes).toEqual([]);
    expect(server.notes).toEqual([
      'package 1 cannot be used: identifier has hidden characters',
      'remote 1 cannot be used: its url is not an http address',
    ]);
  });

  it('never throws, and every list is bounded', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.jsonValue(), (value, other) => {
        readEntry(value);
        readPage({ servers: [value], metadata: other });
        readServer({
          ...minimal,
          packages: [value, { registryType: 'npm', identifier: 'x', environmentVariables: other }],
          remotes: value,
        });
      }),
    );
    const many = Array.from({ length: 1_000 }, (_, at) => ({ type: 'sse', url: `https://example.com/${at}` }));
    expect(serverOf({ ...minimal, remotes: many }).remotes).toHaveLength(64);
  });
});

it('a page has its cursor in either spelling, and the last page has none', () => {
  expect(readPage(fixture('list.page1'))).toMatchObject({
    nextCursor: 'io.github.domdomegg/time-mcp-nuget:1.0.8',
    skipped: [],
  });
  expect(readPage({ servers: [], metadata: { next_cursor: 'x' } })?.nextCursor).toBe('x');
  for (const metadata of [undefined, {}, { nextCursor: '' }, { nextCursor: null }])
    expect(readPage({ servers: [], metadata })?.nextCursor).toBeUndefined();
  expect(readPage({ error: 'x' })).toBeUndefined();
});
