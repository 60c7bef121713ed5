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
    expect(way?.warnings).toEqual([
      'its image is named by a tag, which can be moved to another image',
      'the registry adds the option --network',
      'it sets SSL_MODE',
    ]);
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
    ['a range of one number', { registryType: 'npm', identifier: 'x', version: '1' }],
    ['a tag of npm', { registryType: 'npm', identifier: 'x', version: 'nightly' }],
    ['a tag that looks like a version', { registryType: 'npm', identifier: 'x', version: '1.0.0.0' }],
    ['a range of NuGet', { registryType: 'nuget', identifier: 'x', version: '1.0' }],
    ['a range of PyPI', { registryType: 'pypi', identifier: 'x', version: '1.x' }],
    ['a moving tag', { registryType: 'oci', identifier: 'a/b:latest' }],
    ['no version', { registryType: 'pypi', identifier: 'x' }],
    ['a bundle without its digest', { registryType: 'mcpb', identifier: 'https://example.com/x.mcpb' }],
  ])('%s', (_what, packed) => {
    const way = wayOf(packed);
    expect(way).toMatchObject({ isAvailable: false, problem: expect.any(String) });
    expect(resolveWay(way, 'one').connection).toBeUndefined();
  });

  const positional = (value: string) => ({ type: 'positional', value });
  const named = (name: string, value?: string) => ({ type: 'named', name, value });
  const npm = { registryType: 'npm', identifier: '@good/pkg', version: '1.0.0' };
  const oci = { registryType: 'oci', identifier: 'good/image:1.0.0' };
  const pypi = { registryType: 'pypi', identifier: 'good', version: '1.0.0' };

  it.each([
    ['another package', npm, [positional('evil-pkg')], '"evil-pkg" before the package'],
    ['an option without dashes', npm, [named('evil-pkg')], '"evil-pkg" before the package'],
    ['a word that is asked for', npm, [{ type: 'positional', valueHint: 'what', isRequired: true }], '"what" before'],
    ['the end of options', npm, [positional('--'), positional('evil-pkg')], '"--" before the package'],
    ['a word after an option that takes none', npm, [named('--quiet', 'evil-pkg')], 'which takes none'],
    ['a word after one that is always there', npm, [named('-y', 'evil-pkg')], 'which takes none'],
    ['an option that takes the package', npm, [named('--cache')], 'does not say what its option --cache'],
    ['a shell command', npm, [named('-c', 'touch /tmp/x')], 'which is not allowed'],
    ['another package beside it', npm, [named('--package', 'evil-pkg')], 'which is not allowed'],
    ['code for the program', npm, [named('--node-options', '--import=data:,x')], 'which is not allowed'],
    ['a package of Python that brings the program', pypi, [named('--from', 'evil-pkg')], 'which is not allowed'],
    ['an option that npx does not know', npm, [named('--foo')], 'which is not allowed'],
    ['one with its value', npm, [positional('--https-proxy=http://evil.test:1')], 'which is not allowed'],
    ['one of a container with its value', oci, [positional('--use-api-socket=true')], 'which is not allowed'],
    ['another image', oci, [positional('evil/image')], '"evil/image" before the package'],
    ['an option that takes the image', oci, [positional('-iv')], 'does not say what its option -iv'],
    ['an option whose value may be missing', oci, [positional('-v'), { type: 'positional', valueHint: 'x' }], '-v'],
    ['an option whose value may be empty', oci, [positional('-v{x}')], 'which is not allowed'],
  ])('a package with words before it that could be taken for it: %s', (_what, packed, runtimeArguments, problem) => {
    const way = wayOf({ ...packed, runtimeArguments });
    expect(way).toMatchObject({ isAvailable: false, problem: expect.stringContaining(problem) });
    expect(resolveWay(way, 'one').connection).toBeUndefined();
  });

  it('but a word may be the value of the option before it', () => {
    const runtimeArguments = [positional('-e'), positional('A=1'), named('--network', 'none'), positional('-v/a:/b')];
    expect(commandOf(wayOf({ ...oci, runtimeArguments }))).toBe(
      'docker run -i --rm -e A=1 --network none -v/a:/b good/image:1.0.0',
    );
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

describe('what a person should look at', () => {
  const warningsOf = (packed: object) => wayOf({ version: '1.0.0', identifier: 'x', ...packed }).warnings;
  const digest = `a/b@sha256:${'0'.repeat(64)}`;

  it('options, however they are written', () => {
    const runtimeArguments = [
      { type: 'named', name: '--privileged=', value: 'true' },
      { type: 'positional', value: '-v/:/host' },
      { type: 'positional', value: '--mount=type=bind,src=/,dst=/host' },
    ];
    const adds = (option: string) => `the registry adds the option ${option}`;
    expect(warningsOf({ registryType: 'oci', identifier: digest, runtimeArguments })).toEqual(
      ['--privileged', '-v', '--mount'].map(adds),
    );
    const cluster = [{ type: 'named', name: '-iv', value: '/:/host' }];
    expect(warningsOf({ registryType: 'oci', identifier: digest, runtimeArguments: cluster })).toEqual([adds('-v')]);
    const more = ['-w', '--with-requirements'].map((name) => ({ type: 'named', name, value: 'evil' }));
    expect(warningsOf({ registryType: 'pypi', runtimeArguments: more })).toEqual(
      ['-w', '--with-requirements'].map(adds),
    );
  });

  it('variables that lead a program elsewhere', () => {
    const names = ['DOCKER_HOST', 'HOME', 'SHELL', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'https_proxy', 'MODE'];
    const environmentVariables = names.map((name) => ({ name, value: 'x' }));
    expect(warningsOf({ registryType: 'npm', environmentVariables })).toEqual(
      names.slice(0, -1).map((name) => `it sets ${name}`),
    );
  });

  it('an image that is named by a tag', () => {
    expect(warningsOf({ registryType: 'oci', identifier: 'a/b:1.0.0' })).toEqual([expect.stringContaining('a tag')]);
    expect(warningsOf({ registryType: 'oci', identifier: digest })).toEqual([]);
  });

  it.each([
    ['http://localhost:3000/mcp', 0],
    ['http://127.0.0.1/mcp', 0],
    ['http://[::1]:80/mcp', 0],
    ['https://example.com/mcp', 0],
    ['http://localhost.evil.example/mcp', 1],
    ['http://localhost@evil.example/mcp', 2],
    ['http://127.evil.example/mcp', 1],
    ['http://evil.example:{port}/mcp', 1],
    ['http://127.0.0.1:{port}/mcp', 0],
    ['{base}/mcp', 1],
    ['http://169.254.169.254/latest', 2],
    ['https://{host}/mcp', 1],
    ['https://router.lan/mcp', 1],
    ['https://{unknown}/mcp', 0],
  ])('the address %s has %d warnings', (url, count) => {
    const remotes = [
      {
        type: 'streamable-http',
        url,
        variables: { base: { default: 'http://evil.example' }, host: { default: '10.0.0.1' } },
      },
    ];
    expect(waysOf(serverOf({ ...minimal, remotes }), everything)[0]?.warnings).toHaveLength(count);
  });
});

describe('a secret answer never stands in an entry', () => {
  const npm = { registryType: 'npm', identifier: 'x', version: '1.0.0' };
  const TOKEN = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';

  it('if it is secret in one place and not in another; it has one variable', () => {
    const way = wayOf({
      ...npm,
      environmentVariables: [{ name: 'API_KEY', isSecret: true, isRequired: true }],
      packageArguments: [
        { type: 'named', name: '--key', value: '{API_KEY}', variables: { API_KEY: { isRequired: true } } },
      ],
    });
    expect(resolveWay(way, 'one', { API_KEY: 'plain' })).toMatchObject({
      connection: { args: ['-y', 'x@1.0.0', '--key', '${API_KEY}'], env: { API_KEY: '${API_KEY}' } },
      secrets: { API_KEY: 'API_KEY' },
    });
  });

  it('if it is one of several variables of a secret text', () => {
    const variables = { tok: { isRequired: true }, region: { isRequired: true } };
    const value = 'Authorization: Bearer {tok}-{region}';
    const packageArguments = [{ type: 'named', name: '--header', value, isSecret: true, variables }];
    const resolved = resolveWay(wayOf({ ...npm, packageArguments }), 'one', { tok: 'plain', region: 'eu' });
    expect(resolved.connection).toMatchObject({
      args: ['-y', 'x@1.0.0', '--header', 'Authorization: Bearer ${ONE_TOK}-${ONE_REGION}'],
    });
  });

  it.each([
    ['by its looks', { environmentVariables: [{ name: 'A', isRequired: true }] }, { A: TOKEN }],
    [
      'by its name',
      { packageArguments: [{ type: 'named', name: '--api-key', isRequired: true }] },
      { '--api-key': 'hunter2-hunter2' },
    ],
    [
      'by its place',
      {
        packageArguments: [
          { type: 'positional', value: 'Authorization: Bearer {a}', variables: { a: { isRequired: true } } },
        ],
      },
      { a: 'hunter-two' },
    ],
  ])('if nothing says that it is secret: %s', (_what, more, answers) => {
    const { connection, secrets } = resolveWay(wayOf({ ...npm, ...more }), 'one', answers);
    expect(connection).toBeDefined();
    expect(Object.keys(secrets)).toEqual(Object.keys(answers));
    for (const answer of Object.values(answers)) expect(JSON.stringify(connection)).not.toContain(answer);
  });

  it('in an address', () => {
    const variables = { key: { isRequired: true } };
    const remotes = [{ type: 'sse', url: 'https://example.com/mcp?api_key={key}', variables }];
    const [way] = waysOf(serverOf({ ...minimal, remotes }), everything);
    expect(resolveWay(way as ConnectionWay, 'one', { key: 'hunter-two' }).connection).toMatchObject({
      url: 'https://example.com/mcp?api_key=${ONE_KEY}',
    });
  });

  it('and different answers have different variables', () => {
    const packageArguments = ['--api-key', '--api.key'].map((name) => ({ type: 'named', name, isSecret: true }));
    const answers = { '--api-key': 'a', '--api.key': 'b' };
    const way = wayOf({ ...npm, packageArguments: packageArguments.map((one) => ({ ...one, isRequired: true })) });
    expect(resolveWay(way, 'one', answers).secrets).toEqual({
      '--api-key': 'ONE_API_KEY',
      '--api.key': 'ONE_API_KEY_2',
    });
  });
});

it('a variable may be written as ${NAME}; other text like that stays text', () => {
  const headers = [
    { name: 'Authorization', value: 'Bearer ${TOKEN}', variables: { TOKEN: { isRequired: true, isSecret: true } } },
    { name: 'X-Home', value: '${HOME}' },
  ];
  const remotes = [{ type: 'streamable-http', url: 'https://example.com/mcp', headers }];
  const [way] = waysOf(serverOf({ ...minimal, remotes }), everything);
  expect(resolveWay(way as ConnectionWay, 'one').connection).toMatchObject({
    headers: { Authorization: 'Bearer ${ONE_TOKEN}', 'X-Home': '$${HOME}' },
  });
});
