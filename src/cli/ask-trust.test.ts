import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { type FilePreview, previewFile, trustableFileAt } from '../config/project-files.ts';
import { TrustStore } from '../config/trust-store.ts';
import { realWorld } from '../config/world.ts';
import { askTrust } from './ask-trust.ts';
import type { Io } from './io.ts';

const home = mkdtempSync(join(tmpdir(), 'anygpt-ask-'));
afterEach(() => rmSync(home, { recursive: true, force: true }));

const terminal = (isTTY: boolean) => {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const said: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      said.push(String(chunk));
      done();
    },
  });
  const stderr = Object.assign(sink, { isTTY });
  const io = { stdin, stdout: sink, stderr, env: { ANYGPT_HOME: home }, cwd: home } as unknown as Io;
  return { io, stdin, said };
};

const look: FilePreview = {
  path: '',
  hash: 'abc',
  files: [],
  readings: [],
  code: [],
  sends: [],
  notes: [],
  values: new Map(),
};

it('does not ask without a terminal', () => {
  expect(askTrust(terminal(false).io)).toBeUndefined();
});

it('asks once, names the file, and remembers a yes', async () => {
  const { io, stdin, said } = terminal(true);
  const isTrusted = askTrust(io);
  const answers = [isTrusted?.('/project/config.ts', 'abc', look), isTrusted?.('/project/config.ts', 'abc', look)];
  await expect.poll(() => said.join('')).toContain('Trust this file');
  stdin.write('yes\n');
  expect(await Promise.all(answers)).toEqual([true, true]);
  expect(said.join('').match(/\/project\/config\.ts/g)).toHaveLength(1);
  expect(await new TrustStore(home).isTrusted('/project/config.ts', 'abc')).toBe(true);
  expect(await new TrustStore(home).isTrusted('/project/config.ts', 'changed')).toBe(false);
});

it('obeys nothing in the name of a file', async () => {
  const { io, stdin, said } = terminal(true);
  const answer = askTrust(io)?.('/project/\u001b]0;owned\u0007\u001b[2Jconfig.ts', 'abc', look);
  await expect.poll(() => said.join('')).toContain('Trust this file');
  stdin.write('n\n');
  await answer;
  expect(said.join('')).toContain('/project/config.ts came with this folder');
  expect(said.join('')).not.toContain('\u001b]');
});

it('remembers nothing without an answer', async () => {
  const { io, stdin, said } = terminal(true);
  const answer = askTrust(io)?.('/project/config.ts', 'abc', look);
  await expect.poll(() => said.join('')).toContain('Trust this file');
  stdin.write('\n');
  expect(await answer).toBe(false);
  expect(await new TrustStore(home).isTrusted('/project/config.ts', 'abc')).toBe(false);
});

it('does not ask again about a file that was declined, until it changes', async () => {
  const { io, stdin, said } = terminal(true);
  const answer = askTrust(io)?.('/project/config.json', 'abc', look);
  await expect.poll(() => said.join('')).toContain('Trust this file');
  stdin.write('n\n');
  expect(await answer).toBe(false);
  expect(await askTrust(io)?.('/project/config.json', 'abc', look)).toBe(false);
  expect(said.join('').match(/Trust this file/g)).toHaveLength(1);
  const again = askTrust(io)?.('/project/config.json', 'changed', look);
  await expect.poll(() => said.join('').match(/Trust this file/g)).toHaveLength(2);
  stdin.write('y\n');
  expect(await again).toBe(true);
});

it('wraps the question and shortens the home folder', async () => {
  const { io, stdin, said } = terminal(true);
  Object.assign(io.stderr, { columns: 60 });
  Object.assign(io.env, { HOME: home });
  const answer = askTrust(io)?.(
    join(home, 'projects', 'a-long-name-of-a-project', '.anygpt', 'config.json'),
    'abc',
    look,
  );
  await expect.poll(() => said.join('')).toContain('Trust this file');
  stdin.write('\n');
  await answer;
  expect(said.join('')).toContain('~/projects/a-long-name-of-a-project/.anygpt/config.json came');
  for (const line of said.join('').split('Trust this file')[0]?.split('\n') ?? [])
    expect(line.length).toBeLessThanOrEqual(60);
});

it('shows what each file would run, one question after the other', async () => {
  mkdirSync(join(home, 'p', '.cursor'), { recursive: true });
  const { io, stdin, said } = terminal(true);
  const isTrusted = askTrust(io);
  const ask = async (name: string, text: string) => {
    const path = join(home, 'p', name);
    writeFileSync(path, text);
    const world = realWorld({ env: io.env, cwd: home });
    const shown = await previewFile(trustableFileAt(path, world), world);
    return isTrusted?.(path, shown.hash ?? '', shown);
  };
  const answers = Promise.all([
    ask('.mcp.json', '{"mcpServers": {"a": {"command": "run-a", "env": {"KEY": "hidden-value"}}}}'),
    ask('.cursor/mcp.json', '{"mcpServers": {"b": {"url": "https://b.test"}}}'),
  ]);
  const questions = () => said.join('').match(/Trust this file/g)?.length;
  await expect.poll(questions).toBe(1);
  stdin.write('y\n');
  await expect.poll(questions).toBe(2);
  stdin.write('n\n');
  expect((await answers).toSorted()).toEqual([false, true]);
  expect(said.join('')).toMatch(/ {2}a\n {4}run-a\n {4}in \S+\/p\n {4}environment: KEY\n/);
  expect(said.join('')).toContain('  b\n    https://b.test\n');
  expect(said.join('')).not.toContain('hidden-value');
});
