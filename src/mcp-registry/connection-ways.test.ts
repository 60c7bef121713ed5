import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandReferences } from '../config/references.ts';
import { type ConnectionWay, waysOf } from './connection-ways.ts';
import { readServer } from './read-server.ts';
import type { RegistryServer } from './registry-server.ts';
import { inputsOf, resolveWay } from './resolve-way.ts';

const serverOf = (raw: unknown): RegistryServer => {
  const server = readServer(raw);
  if (typeof server === 'string') throw new Error(server);
  return server;
};
const fixture = (name: string): RegistryServer =>
  serverOf(JSON.parse(readFileSync(new URL(`../../test/fixtures/mcp-registry/${name}.json`, import.meta.url), 'utf8')));
const everything = { hasCommand: () => true };
const minimal = { name: 'com.example/one', description: 'One', version: '1.0.0' };
const wayOf = (packed: object, from: object = {}): ConnectionWay => {
  const [way] = waysOf(serverOf({ ...minimal, ...from, packages: [packed] }), everything);
  if (way === undefined) throw new Error('no way');
  return way;
};
const commandOf = (way: ConnectionWay, answers = {}): string => resolveWay(way, 'one', answers).words.join(' ');

describe('the command line of a package', () => {
  it.each([
    ['npm', { registryType: 'npm', identifier: '@a/b', version: '1.2.3' }, 'npx -y @a/b@1.2.3'],
    [
      'npm from another place',
      { registryType: 'npm', identifier: 'b', version: '1.2.3', registryBaseUrl: 'https://packages.example.com' },
      'npx -y --registry https://packages.example.com b@1.2.3',
    ],
    [
      'pypi, whatever its hint',
      { registryType: 'pypi', identifier: 'b', version: '1.0', runtimeHint: 'python' },
      'uvx b==1.0',
    ],
    ['oci', { registryType: 'oci', identifier: 'docker.io/a/b:1' }, 'docker run -i --rm docker.io/a/b:1'],
    [
      'oci by digest',
      { registryType: 'oci', identifier: `a/b@sha256:${'0'.repeat(64)}` },
      `docker run -i --rm a/b@sha256:${'0'.repeat(64)}`,
    ],
    [
      'oci of 2025-09-29, with the tag beside it',
      { registryType: 'oci', registryBaseUrl: 'https://ghcr.io', identifier: 'a/b', version: '1' },
      'docker run -i --rm ghcr.io/a/b:1',
    ],
    [
      'oci with podman',
      { registryType: 'oci', identifier: 'a/b:1', runtimeHint: 'podman' },
      'podman run -i --rm a/b:1',
    ],
    ['nuget', { registryType: 'nuget', identifier: 'Time', version: '1.0.8' }, 'dnx Time@1.0.8 --yes'],
    [
      'nuget with arguments',
      {
        registryType: 'nuget',
        identifier: 'Time',
        version: '1.0.8',
        packageArguments: [{ type: 'positional', value: 'x' }],
      },
      'dnx Time@1.0.8 --yes -- x',
    ],
  ])('%s', (_what, packed, expected) => {
    expect(commandOf(wayOf(packed))).toBe(expected);
  });

  it('arguments: two words for a named one, one if it ends with "=", repeated ones repeat, a bare one is a switch', () => {
    const way = wayOf({
      registryType: 'npm',
      identifier: 'b',
      version: '1.0.0',
      runtimeArguments: [{ type: 'named', name: '-y' }],
      packageArguments: [
        { type: 'named', name: '--port', value: '80' },
        { type: 'named', name: '--mode=', default: 'fast' },
        { type: 'named', name: '--verbose' },
        { type: 'named', name: '--root', description: 'A folder', isRepeated: true },
        { type: 'named', name: '--unset', description: 'Optional' },
        { type: 'positional', valueHint: 'db', isRequired: true },
      ],
    });
    expect(commandOf(way, { '--root': ['/a', '/b c'], db: 'main' })).toBe(
      'npx -y b@1.0.0 --port 80 --mode=fast --verbose --root /a --root /b c main',
    );
    expect(resolveWay(way, 'one')).toMatchObject({ missing: ['db'], connection: undefined });
    expect(inputsOf(way).map(({ id }) => id)).toEqual(['--mode', '--root', '--unset', 'db']);
  });

  it('values of a container’s variables are in the environment, and only their names on the command line', () => {
    const [way] = waysOf(fixture('server.docker-complex'), everything);
    const answers = { DB_USERNAME: 'me', DB_PASSWORD: 's3cret', db_type: 'mysql', database_name: 'main' };
    const resolved = resolveWay(way as ConnectionWay, 'database-manager', answers);
    expect(resolved.words.join(' ')).toBe(
      'docker run -i --rm --network host -e DB_TYPE=mysql -e DB_USERNAME -e DB_PASSWORD -e SSL_MODE docker.io/example/database-manager-mcp:3.1.0 --host localhost main',
    );
    expect(resolved.connection).toMatchObject({
      env: { DB_USERNAME: 'me', DB_PASSWORD: '${DB_PASSWORD}', SSL_MODE: 'prefer' },
    });
    expect(JSON.stringify(resolved)).not.toContain('s3cret');
    expect(way?.warnings).toEqual(['the registry adds the option --network']);
    expect(resolveWay(way as ConnectionWay, 'x', { ...answers, db_type: 'oracle' })).toMatchObject({
      connection: undefined,
      wrong: ['db_type: it must be one of postgres, mysql, mongodb, redis'],
    });
  });

  it('several mounts are made of several answers', () => {
    const way = waysOf(fixture('server.filesystem'), everything).find(({ kind }) => kind === 'oci') as ConnectionWay;
    const words = commandOf(way, { source_path: ['/a', '/b'], target_path: ['/project/a', '/project/b'] });
    expect(words).toContain('--mount type=bind,src=/a,dst=/project/a --mount type=bind,src=/b,dst=/project/b');
  });
});

it('a remote has its variables replaced, and its secrets are references', () => {
  const [remote, sse, program] = waysOf(fixture('server.remote-and-package'), everything);
  const answers = { tenant_id: 'emea', token: 'abc', 'X-API-Key': 'key' };
  expect(resolveWay(remote as ConnectionWay, 'acme', answers)).toMatchObject({
    connection: {
      type: 'http',
      url: 'https://emea.analytics.example.com/us-east-1/mcp',
      headers: { Authorization: 'Bearer ${ACME_TOKEN}', 'X-API-Key': '${ACME_X_API_KEY}', 'X-Client': 'anygpt' },
    },
    secrets: { token: 'ACME_TOKEN', 'X-API-Key': 'ACME_X_API_KEY' },
    missing: [],
  });
  expect(resolveWay(sse as ConnectionWay, 'acme').connection).toEqual({
    type: 'sse',
    url: 'https://analytics.example.com/sse',
  });
  // A program that speaks HTTP is started by a person, and reached at the port it was given.
  expect(resolveWay(program as ConnectionWay, 'acme', { '--port': '9000' })).toMatchObject({
    connection: { type: 'http', url: 'http://127.0.0.1:9000/mcp' },
    startsApart: true,
    words: ['uvx', 'acme-analytics-mcp==2.0.0', '--port', '9000', '--mode', 'local'],
  });
});

it('ways that this machine can use come first: remotes unless local code is preferred, then npm, pypi, oci, nuget, mcpb', () => {
  const server = fixture('server.remote-and-package');
  const only = (...present: string[]) => ({ hasCommand: (command: string) => present.includes(command) });
  expect(waysOf(server, only()).map(({ id }) => id)).toEqual(['remote', 'remote-2', 'pypi']);
  expect(waysOf(server, { ...only('uvx'), prefer: 'local' }).map(({ id }) => id)).toEqual([
    'pypi',
    'remote',
    'remote-2',
  ]);
  const files = fixture('server.filesystem');
  expect(waysOf(files, only('docker')).map(({ id, isAvailable }) => [id, isAvailable])).toEqual([
    ['oci', true],
    ['npm', false],
  ]);
});

describe('what is never started', () => {
  it.each([
    ['an identifier that is an option', { registryType: 'npm', identifier: '--call=rm', version: '1.0.0' }],
    [
      'an identifier that is an address',
      { registryType: 'npm', identifier: 'git+https://example.com/x', version: '1.0.0' },
    ],
    ['an image that is an option', { registryType: 'oci', identifier: '--privileged', version: '1' }],
    ['a version that moves', { registryType: 'npm', identifier: 'x', version: 'latest' }],
    ['a range', { registryType: 'npm', identifier: 'x', version: '^1.0.0' }],
    ['a moving tag', { registryType: 'oci', identifier: 'a/b:latest' }],
    ['no version', { registryType: 'pypi', identifier: 'x' }],
    ['a bundle without its digest', { registryType: 'mcpb', identifier: 'https://example.com/x.mcpb' }],
  ])('%s', (_what, packed) => {
    const way = wayOf(packed);
    expect(way).toMatchObject({ isAvailable: false, problem: expect.any(String) });
    expect(resolveWay(way, 'one').connection).toBeUndefined();
  });

  it('a kind of package that is not known; its website is shown', () => {
    expect(
      wayOf({ registryType: 'cargo', identifier: 'x', version: '1' }, { websiteUrl: 'https://example.com/' }),
    ).toMatchObject({
      kind: 'other',
      problem: 'packages of the kind "cargo" cannot be started from here; see https://example.com/',
    });
  });

  it('a program that the registry names', () => {
    expect(commandOf(wayOf({ registryType: 'npm', identifier: 'x', version: '1.0.0', runtimeHint: 'bash' }))).toBe(
      'npx -y x@1.0.0',
    );
  });
});

it('a bundle comes with its address and digest', () => {
  const sha256 = 'ab'.repeat(32);
  expect(wayOf({ registryType: 'mcpb', identifier: 'https://example.com/x.mcpb', fileSha256: sha256 })).toMatchObject({
    kind: 'mcpb',
    bundle: { url: 'https://example.com/x.mcpb', sha256 },
  });
});

it('nothing that a registry writes is ever a reference of ours, however it is put together', () => {
  const piece = fc.constantFrom(
    '$',
    '{',
    '}',
    '${',
    '$$',
    '{a}',
    '{b}',
    'GITHUB_TOKEN',
    '${GITHUB_TOKEN}',
    '{GITHUB_TOKEN}',
    'file:',
    'x',
  );
  const text = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, text, (value, a, b) => {
      const variables = { a: { default: a }, b: { default: b } };
      const way = wayOf({
        registryType: 'npm',
        identifier: 'x',
        version: '1.0.0',
        packageArguments: [{ type: 'positional', value, variables }],
        environmentVariables: [{ name: 'A', value, variables }],
      });
      const { connection, words } = resolveWay(way, 'one');
      for (const written of [...words, JSON.stringify(connection?.type === 'stdio' ? connection.env?.A : '')])
        expect(expandReferences(written, { GITHUB_TOKEN: 'stolen' })).not.toContain('stolen');
    }),
  );
});
