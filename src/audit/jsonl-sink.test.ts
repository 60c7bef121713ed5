import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AuditLog } from './audit-log.ts';
import { JsonlSink } from './jsonl-sink.ts';
import { loadSalt } from './salt-file.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-'));
  file = join(folder, 'state', 'audit.jsonl');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const line = (id: number | string): string => `{"id":"${id}"}\n`;
const idsIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((one) => one !== '')
    .map((one) => (JSON.parse(one) as { id: string }).id);
const rotatedFiles = async (): Promise<string[]> =>
  (await readdir(join(folder, 'state'))).filter((name) => name !== 'audit.jsonl').sort();

describe('the audit file', () => {
  test('is made at the first write, for its owner only', async () => {
    const sink = new JsonlSink({ file });
    await expect(stat(join(folder, 'state'))).rejects.toThrow('ENOENT');
    await sink.write(line(1) + line(2));
    await sink.write(line(3));
    await sink.close();
    expect(idsIn(await readFile(file, 'utf8'))).toEqual(['1', '2', '3']);
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('is rotated by size, and only so many old ones are kept', async () => {
    let now = Date.UTC(2026, 0, 1);
    const sink = new JsonlSink({ file, maxBytes: 120, files: 2, now: () => (now += 1_000) });
    for (let i = 10; i < 70; i++) await sink.write(line(i));
    await sink.close();
    const rotated = await rotatedFiles();
    expect(rotated).toHaveLength(2);
    const texts = await Promise.all(rotated.map((name) => readFile(join(folder, 'state', name), 'utf8')));
    const written = [...texts, await readFile(file, 'utf8')].flatMap((text) => text.trim().split('\n'));
    const lines = written.map((one) => JSON.parse(one) as { id?: string; event?: string; count?: number });
    const ids = lines.flatMap(({ id }) => id ?? []);
    expect(ids).toEqual(ids.map((_, index) => `${70 - ids.length + index}`));
    // Removed records are counted in the log itself.
    const dropped = lines.filter(({ event }) => event === 'dropped');
    expect(dropped.reduce((sum, { count = 0 }) => sum + count, 0)).toBe(60 - ids.length);
    for (const text of texts) expect(text.length).toBeLessThanOrEqual(120);
  });

  test('is found again within a moment after another process rotated or removed it', async () => {
    let now = 0;
    const sink = new JsonlSink({ file, now: () => now });
    await sink.write(line(1));
    await rename(file, `${file}.old`);
    await sink.write(line('1b'));
    now += 250;
    await sink.write(line(2));
    expect(idsIn(await readFile(`${file}.old`, 'utf8'))).toEqual(['1', '1b']);
    expect(idsIn(await readFile(file, 'utf8'))).toEqual(['2']);
    await rm(join(folder, 'state'), { recursive: true });
    now += 250;
    await sink.write(line(3));
    await sink.close();
    expect(idsIn(await readFile(file, 'utf8'))).toEqual(['3']);
  });

  test('has a line the moment it was written', async () => {
    const sink = new JsonlSink({ file });
    await sink.write(line(1));
    // Not awaited: a process killed now must have lost nothing.
    void sink.write(line(2));
    expect(idsIn(readFileSync(file, 'utf8'))).toEqual(['1', '2']);
    await sink.close();
  });

  test('that ends in half a line goes on with a new one', async () => {
    const first = new JsonlSink({ file });
    await first.write(line(1));
    await first.close();
    await appendFile(file, '{"id":"ha');
    const second = new JsonlSink({ file });
    await second.write(line(2));
    await second.close();
    expect(await readFile(file, 'utf8')).toBe('{"id":"1"}\n{"id":"ha\n{"id":"2"}\n');
  });

  test('grows on while another process is rotating, and a lock left behind is removed', async () => {
    const sink = new JsonlSink({ file, maxBytes: 20 });
    await sink.write(line(1));
    await writeFile(`${file}.lock`, '');
    await sink.write(line(2));
    expect(idsIn(await readFile(file, 'utf8'))).toEqual(['1', '2']);
    await utimes(`${file}.lock`, 0, 0);
    await sink.write(line(3));
    await sink.write(line(4));
    await sink.close();
    expect(idsIn(await readFile(file, 'utf8'))).toEqual(['4']);
    expect(await rotatedFiles()).toHaveLength(1);
  });

  test.skipIf(process.platform !== 'linux')('on a full device rejects, and does not rotate a device', async () => {
    const sink = new JsonlSink({ file: '/dev/full', maxBytes: 1 });
    await expect(sink.write(line(1))).rejects.toThrow('ENOSPC');
    await expect(sink.write(line(1))).rejects.toThrow('ENOSPC');
    await sink.close();
  });

  test.skipIf(process.platform !== 'linux')(
    'that is cut short by a limit goes on after the last whole line',
    async () => {
      // EFBIG at 4 KiB simulates a disk that fills up during a write.
      const script = `
      process.on('SIGXFSZ', () => {});
      const sink = new JsonlSink({ file: process.argv[2] });
      const lines = Array.from({ length: 400 }, (_, i) => JSON.stringify({ id: String(i) }) + '\\n').join('');
      for (let i = 0; i < 2; i++) await sink.write(lines).then(() => console.log('ok'), (e) => console.log(e.code));
      const { rename } = await import('node:fs/promises');
      await rename(process.argv[2], process.argv[2] + '.first');
      await sink.write(lines);
      await sink.close();`;
      const { out } = await runScript(script, [file], 'ulimit -f 4; ');
      expect(out).toBe('EFBIG\nEFBIG\n');
      const first = (await readFile(`${file}.first`, 'utf8')).split('\n');
      const whole = first.filter((text) => text.endsWith('}')).map((text) => (JSON.parse(text) as { id: string }).id);
      const rest = idsIn(await readFile(file, 'utf8'));
      expect([...whole, ...rest]).toEqual(Array.from({ length: 400 }, (_, i) => `${i}`));
    },
  );

  test('that could not be made is written by itself once it can be', async () => {
    await writeFile(join(folder, 'state'), 'in the way');
    const warnings: string[] = [];
    const logger = { warn: (_fields: object, message = '') => void warnings.push(message) };
    const salt = () => loadSalt(join(folder, 'salt'));
    const log = new AuditLog({ sink: new JsonlSink({ file }), salt, logger, retryMs: 5 });
    const entry = {
      time: new Date(0),
      traceId: 't',
      server: 's',
      tool: 'x',
      outcome: 'success',
      durationMs: 1,
    } as const;
    for (let i = 0; i < 5; i++) {
      log.record(entry);
      await log.flush();
    }
    expect(log.stats()).toMatchObject({ failing: true, written: 0, queued: 5 });
    expect(warnings).toHaveLength(1);
    await rm(join(folder, 'state'));
    while (log.stats().failing) await new Promise((resolve) => setTimeout(resolve, 2));
    await log.close();
    expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(6);
  });

  test('shared by several processes that all rotate loses no line and mixes none', async () => {
    const script = `
      const sink = new JsonlSink({ file: process.argv[2], maxBytes: 4000, files: 1000 });
      for (let i = 0; i < 150; i++) await sink.write(JSON.stringify({ id: process.argv[3] + '-' + i, pad: 'x'.repeat(50) }) + '\\n');
      await sink.close();`;
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => runScript(script, [file, name])));
    const texts = await Promise.all(
      [...(await rotatedFiles()), 'audit.jsonl'].map((name) => readFile(join(folder, 'state', name), 'utf8')),
    );
    const ids = texts.flatMap(idsIn);
    expect(ids).toHaveLength(600);
    expect(new Set(ids).size).toBe(600);
    expect(texts.length).toBeGreaterThan(5);
  });
});

describe('the salt', () => {
  test('is created once and shared, even by processes that start at the same moment', async () => {
    const path = join(folder, 'deep', 'salt');
    const salts = await Promise.all(Array.from({ length: 8 }, () => loadSalt(path)));
    salts.push(await loadSalt(path));
    expect(new Set(salts.map((salt) => Buffer.from(salt).toString('hex'))).size).toBe(1);
    expect(salts[0]).toHaveLength(32);
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(folder, 'deep'))).toEqual(['salt']);
  });

  test('that was cut short is replaced, and one that cannot be read is an error', async () => {
    const path = join(folder, 'salt');
    await writeFile(path, 'short');
    expect(await loadSalt(path)).toHaveLength(32);
    expect(await loadSalt(path)).toEqual(await loadSalt(path));
    await expect(loadSalt(folder)).rejects.toThrow('EISDIR');
  });
});

/** Runs a script with `JsonlSink` in a separate process; its arguments start at argv[2]. */
async function runScript(script: string, args: string[], before = ''): Promise<{ out: string }> {
  const load = `const { createJiti } = await import('jiti');
    const { JsonlSink } = await createJiti(process.argv[1], { fsCache: false }).import(process.argv[1]);`;
  const source = join(import.meta.dirname, 'jsonl-sink.ts');
  const command = [process.execPath, '--input-type=module', '-e', load + script, source, ...args];
  const [program = '', ...rest] = before === '' ? command : ['bash', '-c', `${before}exec "$@"`, 'bash', ...command];
  const child = spawn(program, rest, { cwd: import.meta.dirname, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (data: Buffer) => {
    out += data.toString();
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  return { out };
}
