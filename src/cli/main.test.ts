import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentOf } from '../../test/fixtures/cli.ts';
import { fakeIo } from '../../test/fixtures/gateway/fake-io.ts';
import { ALIASES, HINTS } from './habits.ts';
import { COMMANDS, main } from './main.ts';

const run = async (...argv: string[]) => {
  const io = fakeIo({ cwd: '/', env: { ANYGPT_HOME: '/nonexistent' } });
  return { code: await main(argv, io), out: io.out(), err: io.err() };
};
const VERSION = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

describe('the command line', () => {
  it('prints help when asked, and without a command', async () => {
    for (const argv of [[], ['--help'], ['-h'], ['help'], ['mcp'], ['mcp', '--help'], ['mcp', '-h']]) {
      const { code, out, err } = await run(...argv);
      expect([code, err], argv.join(' ')).toEqual([0, '']);
      expect(out).toContain('Usage: anygpt mcp <command>');
    }
  });

  it('prints the version of package.json', async () => {
    for (const flag of ['--version', '-v']) expect(await run(flag)).toEqual({ code: 0, out: `${VERSION}\n`, err: '' });
  });

  it('prints the help of a command, with or without mcp in front', async () => {
    for (const argv of [
      ['mcp', 'serve', '--help'],
      ['serve', '-h'],
      ['mcp', 'trust', '--help'],
    ]) {
      const { code, out } = await run(...argv);
      expect(code).toBe(0);
      expect(out).toMatch(/^Usage: anygpt mcp (serve|trust)/);
    }
  });

  it('ends with 1 for an unknown command, also one with a treacherous name', async () => {
    for (const name of ['frobnicate', '__proto__', 'toString']) {
      const { code, out, err } = await run('mcp', name);
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain(`There is no command "${name}"`);
    }
  });

  it('ends with 1 for bad options, and shows the usage', async () => {
    const bad = [
      ['serve', '--frobnicate'],
      ['serve', 'surplus'],
      ['serve', '--log-level', 'loud'],
      ['serve', '--http', 'eighty'],
      ['serve', '--http', '70000'],
      ['serve', '--config'],
      ['trust', '--force'],
    ];
    for (const argv of bad) {
      const { code, out, err } = await run('mcp', ...argv);
      expect([code, out], argv.join(' ')).toEqual([1, '']);
      expect(err).toMatch(/^anygpt: /);
    }
  });

  it('has help with examples for every command', async () => {
    const { out } = await run('--help');
    const names = [...out.matchAll(/^ {2}(\w+) {2,}/gm)].map(([, name]) => String(name));
    expect(names).toEqual(expect.arrayContaining(['list', 'search', 'tools', 'inspect', 'execute', 'config', 'serve']));
    for (const name of names) {
      const { code, out: own, err } = await run('mcp', name, '--help');
      expect([code, err], name).toEqual([0, '']);
      expect(own).toMatch(new RegExp(`^Usage: anygpt mcp ${name}\\b[\\s\\S]*Examples:\\n {2}anygpt mcp ${name}`));
      expect(await run('help', name)).toEqual({ code, out: own, err });
    }
  });

  it('fits every help into 80 columns', async () => {
    for (const name of ['', ...Object.keys(COMMANDS)]) {
      const { out } = await run('mcp', name, '--help');
      for (const line of (name === '' ? await run() : { out }).out.split('\n'))
        expect([line, line.length <= 80]).toEqual([line, true]);
    }
  });

  it('understands names that people know from other tools, or says what to type', async () => {
    for (const [alias, [name]] of ALIASES)
      expect(await run('mcp', alias, '--help')).toEqual(await run('mcp', String(name), '--help'));
    expect(await run('version')).toEqual(await run('--version'));
    for (const [name, lines] of HINTS) {
      const { code, err } = await run('mcp', name, 'x');
      expect([code, err]).toEqual([
        1,
        `anygpt: There is no command "${name}". Use one of these:\n${lines.map((line) => `  anygpt mcp ${line}\n`).join('')}`,
      ]);
      for (const line of err.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
      for (const line of lines) expect(COMMANDS).toHaveProperty(String(line.split(' ')[0]));
    }
  });

  it('suggests the command or the option that was meant', async () => {
    expect((await run('mcp', 'serch')).err).toContain('Did you mean "search"');
    expect((await run('mcp', 'list', '--stats')).err).toContain('There is no option --stats. Did you mean --status?');
    for (const option of ['--from', '-i'])
      expect((await run('mcp', 'add', 'x', 'uvx', option, 'y')).err).toContain(
        `There is no option ${option}. To add a command with options, put -- before it`,
      );
    expect((await run('mcp', 'list', '--zzzzzz')).err).not.toContain('Did you mean');
  });

  it('says what is wrong as JSON where JSON was asked for', async () => {
    for (const argv of [
      ['nonsense', '--json'],
      ['list', '--stats', '--json'],
      ['search', '--json'],
      ['execute', '--json', 'x'],
    ]) {
      const { code, out, err } = await run(...argv);
      expect([code, err], argv.join(' ')).toEqual([1, '']);
      expect((await documentOf('failure', out)).error.code).toBe('VALIDATION_ERROR');
    }
  });
});
