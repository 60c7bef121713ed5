import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { documentOf } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { isIdentity } from '../../auth/identity.ts';
import { StaticTokens } from '../../auth/static-tokens.ts';
import { main } from '../main.ts';

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => folder[Symbol.dispose]());

const run = (...argv: string[]) => runOn({}, ...argv);
const runOn = async (terminal: object, ...argv: string[]) => {
  const io = fakeIo({ cwd: folder.path, env: { ANYGPT_HOME: folder.path } });
  Object.assign(io.stdout, terminal);
  const code = await main(['mcp', 'token', ...argv], io);
  return { code, out: io.out(), err: io.err() };
};

it('prints a new token once, and keeps only its hash, for its owner alone', async () => {
  const { code, out, err } = await run('create', '--name', 'ci', '--expires', '12h', '--profile', 'team');
  const token = out.trim();
  expect([code, /^anygpt_[0-9a-f]{8}_[\w-]{43}$/.test(token)]).toEqual([0, true]);
  expect(err).toMatch(/not shown again[\s\S]*From now on/);
  const answer = await new StaticTokens(folder.path).check(token);
  expect(isIdentity(answer) && answer).toMatchObject({ principal: token.slice(7, 15), profile: 'team' });
  const file = join(folder.path, 'tokens.json');
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
  const listed = await run('list');
  expect(listed.out).toMatch(/^[0-9a-f]{8} {2}ci {2}team {2}\d{4}-[\d-]+ [\d:]+\n$/);
  expect(listed.out).not.toContain(token.slice(16));
  expect((await run('create')).err).not.toContain('From now on');
});

it('has documents of the published shapes', async () => {
  const created = await documentOf('token-create', (await run('create', '--name', 'a', '--json')).out);
  const { tokens } = await documentOf('token-list', (await run('list', '--json')).out);
  expect(tokens).toEqual([{ ...created, token: undefined }]);
  const { revoked } = await documentOf('token-revoke', (await run('revoke', created.id, '--json')).out);
  expect(revoked).toHaveLength(1);
});

it('lists tokens below the names of their columns on a terminal', async () => {
  await run('create', '--name', 'nightly-build');
  await run('create', '--profile', 'team');
  const { out } = await runOn({ isTTY: true, columns: 80 }, 'list');
  expect(out.replace(/\b[0-9a-f]{8}\b/g, '01234567').replace(/\d{4}-[\d-]+ [\d:]+/g, '2030-01-01 12:00')).toBe(
    [
      'ID        NAME           PROFILE  EXPIRES (UTC)',
      '01234567  nightly-build  -        2030-01-01 12:00',
      '01234567  -              team     2030-01-01 12:00',
      '',
    ].join('\n'),
  );
});

it('revokes by id, or all of one name', async () => {
  for (const name of ['a', 'a', 'b']) await run('create', '--name', name);
  expect((await run('revoke', 'a')).out.split('\n')).toHaveLength(3);
  expect((await run('list')).out.trim().split('\n')).toHaveLength(1);
  const missing = await run('revoke', 'a');
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('There is no token "a"')]);
});

it.each([
  [['create', '--expires', 'never'], 'a time from now'],
  [['create', '--expires', '20y'], 'at most ten years'],
  [['create', '--expires', '2020-01-01'], 'a time from now'],
  [['create', '--profile', '../x'], '--profile may hold'],
  [['list', '--name', 'x'], '--name needs token create'],
  [['create', 'ci'], 'a name is given as --name ci'],
  [['revoke'], '<id or name>'],
  [['make'], 'Unknown subcommand'],
])('refuses %j', async (argv, said) => {
  const { code, err } = await run(...argv);
  expect([code, err]).toEqual([1, expect.stringContaining(said)]);
});

it('says that a profile does not exist, and creates the token all the same', async () => {
  writeFileSync(join(folder.path, 'mcp-discovery.config.json'), '{ "discovery": { "profiles": { "team": {} } } }');
  const missing = await run('create', '--profile', 'tema', '--json');
  expect([missing.code, missing.err]).toEqual([0, expect.stringContaining('There is no profile "tema"')]);
  await documentOf('token-create', missing.out);
  expect((await run('create', '--profile', 'team')).err).not.toContain('There is no profile');
});

it('asks to repair a damaged file rather than forgetting its tokens', async () => {
  await run('create');
  writeFileSync(join(folder.path, 'tokens.json'), '{ nope');
  for (const argv of [['list'], ['create']]) expect((await run(...argv)).code).toBe(2);
  const tokens = new StaticTokens(folder.path);
  expect(tokens.exist).toBe(true);
});

it('changes no token if the file of --config cannot be read, because other replicas would not be told', async () => {
  const { out } = await run('create', '--name', 'ci');
  const file = join(folder.path, 'broken.json');
  writeFileSync(file, '{ "clusterr": {} }');
  for (const path of [file, join(folder.path, 'missing.json')])
    for (const argv of [['revoke', 'ci'], ['create'], ['list']])
      expect(await run(...argv, '--config', path)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining(path),
      });
  expect((await run('list')).out.split('\n')[0]).toContain(out.slice(7, 15));
});

it('says that replicas may not be told if the configuration that was found cannot be read', async () => {
  expect((await run('create', '--name', 'ci')).err).not.toContain('replicas');
  writeFileSync(join(folder.path, 'mcp-discovery.config.json'), '{ "clusterr": {} }');
  const { code, out, err } = await run('revoke', 'ci');
  expect([code, err]).toEqual([0, expect.stringContaining('If it has "cluster", other replicas are not told')]);
  expect(out).toContain('Revoked');
});
