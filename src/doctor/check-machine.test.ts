import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import type { ResolvedConfig, ResolvedSource } from '../config/resolved-config.ts';
import { ConfigurationError } from '../core/errors.ts';
import {
  checkBrokenConfiguration,
  checkConfiguration,
  checkProxies,
  checkSources,
  checkTrust,
} from './check-configuration.ts';
import { checkCache, checkNode, checkStateFolder } from './check-machine.ts';

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => folder[Symbol.dispose]());

describe('the machine', () => {
  it('needs Node 20', () => {
    expect(checkNode('20.1.0').status).toBe('ok');
    expect(checkNode('18.19.1')).toMatchObject({ status: 'fail', fix: expect.stringContaining('nodejs.org') });
  });

  it('has a state folder that is tried by writing, and left as it was', async () => {
    chmodSync(folder.path, 0o700);
    expect((await checkStateFolder(folder.path, 'linux')).status).toBe('ok');
    expect(readdirSync(folder.path)).toEqual([]);
    const later = join(folder.path, 'a', 'b');
    expect(await checkStateFolder(later, 'linux')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining('will be created'),
    });
    expect(existsSync(join(folder.path, 'a'))).toBe(false);
  });

  it('says when the state folder is a file, or open to everybody', async () => {
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    expect(await checkStateFolder(file, 'linux')).toMatchObject({
      status: 'fail',
      detail: 'not writable (ENOTDIR)',
    });
    expect(await checkStateFolder(join(file, 'below'), 'linux')).toMatchObject({ status: 'fail' });
    const open = join(folder.path, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    expect(await checkStateFolder(open, 'linux')).toMatchObject({ status: 'warn', fix: `chmod go-w ${open}` });
    expect((await checkStateFolder(open, 'win32')).status).toBe('ok');
  });

  it('counts what is cached, and what of it was damaged', async () => {
    const dir = join(folder.path, 'cache');
    expect((await checkCache({ enabled: true, dir })).detail).toBe('cache is empty');
    expect((await checkCache({ enabled: false, dir })).detail).toContain('disabled');
    mkdirSync(dir);
    writeFileSync(join(dir, 'list-x.entry'), 'x'.repeat(2_500_000));
    expect(await checkCache({ enabled: true, dir })).toMatchObject({
      status: 'ok',
      detail: 'cache has 1 file, 2.5 MB',
    });
    writeFileSync(join(dir, 'list-y.entry.corrupt-1'), '');
    expect(await checkCache({ enabled: true, dir })).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('1 damaged'),
    });
    expect(await checkCache({ enabled: true, dir: join(dir, 'list-x.entry') })).toMatchObject({ status: 'fail' });
  });

  it('names proxies and says who uses them', () => {
    expect(checkProxies({})).toEqual([]);
    expect(checkProxies({ HTTPS_PROXY: 'http://user:pw@p' })[0]?.detail).toMatch(/^HTTPS_PROXY set: passed to local/);
  });

  it('can or cannot read what was trusted', async () => {
    expect(await checkTrust({ file: '/t', list: async () => new Map([['a', 'b']]) })).toMatchObject({
      status: 'ok',
      detail: '1 trusted project file',
    });
    const list = () => Promise.reject(new ConfigurationError('broken'));
    expect(await checkTrust({ file: '/t', list })).toMatchObject({ status: 'fail', detail: 'broken' });
  });
});

describe('the configuration', () => {
  const config = (changes: object = {}) =>
    ({
      origin: '/c.json',
      enabled: true,
      servers: [],
      warnings: [],
      sources: [],
      ...changes,
    }) as unknown as ResolvedConfig;

  it('that cannot be loaded shows every problem, and the fix below the last', () => {
    const checks = checkBrokenConfiguration(new ConfigurationError('all', ['/a.json: x: one', 'two']));
    expect(checks.map(({ subject, detail, fix }) => [subject, detail, fix !== undefined])).toEqual([
      ['/a.json', 'x: one', false],
      ['configuration', 'two', true],
    ]);
    expect(checkBrokenConfiguration(new ConfigurationError('all'))[0]?.detail).toBe('all');
  });

  it('shows warnings with the command that helps, and rules', () => {
    const warnings = ['Not found. Run `anygpt mcp init` to set some up.', 'Source custom: gone', 'odd'];
    const sources = [{ type: 'custom', path: '', status: 'error', message: 'gone', serverCount: 0 }];
    const checks = checkConfiguration(config({ warnings, sources, enabled: false }), [{ message: 'rule 1' }]);
    expect(checks.map(({ check, fix }) => [check, fix])).toEqual([
      ['enabled', 'Set enabled: true in /c.json'],
      ['valid', undefined],
      ['warning', 'anygpt mcp init'],
      ['warning', undefined],
      ['rules', undefined],
    ]);
  });

  it('judges sources by whether somebody named their file', () => {
    const source = (changes: object) =>
      ({ type: 'cursor', path: '/x', status: 'ok', serverCount: 2, ...changes }) as ResolvedSource;
    const sources = [
      source({}),
      source({ status: 'missing', scope: 'user', message: '/x was not found.' }),
      source({ status: 'missing', message: '/x was not found.' }),
      source({ status: 'error', message: '/x:3: bad' }),
      source({ status: 'error', path: '', message: 'bad' }),
      source({ status: 'untrusted' }),
    ];
    expect(checkSources({ sources }).map(({ status, detail, fix }) => [status, detail, fix])).toEqual([
      ['ok', '2 servers', undefined],
      ['warn', 'was not found.', 'Install the client, or remove it from "sources"'],
      ['fail', 'was not found.', 'Correct its path in "sources"'],
      ['fail', '3: bad', 'Correct /x'],
      ['fail', 'bad', 'Correct it in "sources"'],
      ['warn', 'came with this project and is not trusted', 'anygpt mcp trust /x'],
    ]);
  });
});
