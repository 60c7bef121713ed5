import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { createRedactor } from '../secrets/redactor.ts';
import { quoteLog, readServerLog, ServerLogs, serverLogFile, shownLog } from './server-logs.ts';

let folder: ReturnType<typeof tempFolder>;
beforeEach(() => {
  folder = tempFolder();
});
afterEach(() => folder[Symbol.dispose]());

const errors: string[] = [];
const logsIn = (home: string, maxBytes = 1000, redact = createRedactor(['s3cr3t-value-4711-abcdef'])) =>
  new ServerLogs({ home, maxBytes, redact, onError: (error) => errors.push(error.message) });
const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const kept = (server = 'a') => readServerLog(folder.path, server);

describe('what servers write to stderr', () => {
  it('is saved for the last run, readable by the user alone', async () => {
    const logs = logsIn(folder.path);
    logs.begin('a', 0).write(Buffer.from('first run\n'));
    const run = logs.begin('a', START);
    run.write(Buffer.from('one\ntw'));
    run.write(Buffer.from('o\nthree'));
    await logs.flush();
    expect(await kept()).toMatchObject({ text: 'one\ntwo\nthree\n', startedAt: '2026-01-02T03:04:05.000Z' });
    expect(statSync(serverLogFile(folder.path, 'a')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder.path, 'logs')).mode & 0o777).toBe(0o700);
    expect((await kept())?.end).toBe(statSync(serverLogFile(folder.path, 'a')).size);
  });

  it('says how a run ended', async () => {
    const logs = logsIn(folder.path);
    const run = logs.begin('a', START);
    run.write(Buffer.from('no line break'));
    run.end('it exited\nwith code 1');
    await logs.flush();
    expect((await kept())?.text).toBe('no line break\n=== ended: it exited with code 1\n');
  });

  it('holds no secret, in however many pieces it comes', async () => {
    const logs = logsIn(folder.path, 100_000);
    const run = logs.begin('a', START);
    for (const piece of [
      'token s3cr',
      '3t-value-47',
      '11-abcdef!\n',
      'x'.repeat(9000),
      's3cr3t-value',
      '-4711-abcdef',
      'y'.repeat(9000),
      '\n',
    ])
      run.write(Buffer.from(piece));
    await logs.flush();
    const text = readFileSync(serverLogFile(folder.path, 'a'), 'utf8');
    expect(text).toContain('token ***!');
    expect(text).not.toContain('s3cr3t');
    expect(text).toContain('***');
  });

  it('stays small, however much a server writes', async () => {
    const logs = logsIn(folder.path, 1000);
    const run = logs.begin('a', START);
    for (let line = 0; line < 500; line++) {
      run.write(Buffer.from(`line ${line} of very many\n`));
      if (line % 10 === 0) await logs.flush();
    }
    await logs.flush();
    const files = readdirSync(join(folder.path, 'logs'));
    expect(files).toHaveLength(2);
    for (const file of files) expect(statSync(join(folder.path, 'logs', file)).size).toBeLessThanOrEqual(1000);
    const log = await kept();
    expect(log?.text.endsWith('line 499 of very many\n')).toBe(true);
    expect(log?.startedAt).toBeUndefined();
  });

  it('is saved per server, whatever its name', async () => {
    const names = ['a/b', '../../a', 'a-b', '__proto__', 'A-B', 'x'.repeat(200), 'é'];
    const logs = logsIn(folder.path);
    for (const name of names) logs.begin(name, START).write(Buffer.from(`${name}\n`));
    await logs.flush();
    for (const name of names) expect((await kept(name))?.text).toBe(`${name}\n`);
    expect(readdirSync(folder.path)).toEqual(['logs']);
  });

  it('keeps characters that are split between chunks', async () => {
    const logs = logsIn(folder.path);
    const run = logs.begin('a', START);
    const bytes = Buffer.from('grün\n');
    run.write(bytes.subarray(0, 3));
    run.write(bytes.subarray(3));
    await logs.flush();
    expect((await kept())?.text).toBe('grün\n');
  });

  it('is not saved if saving is disabled, and reads as nothing', async () => {
    const logs = logsIn(folder.path, 0);
    logs.begin('a', START).write(Buffer.from('x\n'));
    await logs.flush();
    expect(await kept()).toBeUndefined();
    expect(existsSync(join(folder.path, 'logs'))).toBe(false);
  });

  it('affects no server when the disk fails, and is reported once', async () => {
    errors.length = 0;
    const home = join(folder.path, 'file');
    writeFileSync(home, '');
    const logs = logsIn(home);
    const run = logs.begin('a', START);
    run.write(Buffer.from('x\n'));
    await logs.flush();
    run.write(Buffer.from('y\n'));
    await logs.flush();
    expect(errors).toHaveLength(1);
  });

  it('is saved once the disk works again, with what came meanwhile', async () => {
    errors.length = 0;
    const logs = logsIn(folder.path);
    const run = logs.begin('a', START);
    run.write(Buffer.from('before\n'));
    await logs.flush();
    const file = serverLogFile(folder.path, 'a');
    renameSync(join(folder.path, 'logs'), join(folder.path, 'away'));
    writeFileSync(join(folder.path, 'logs'), '');
    run.write(Buffer.from('lost?\n'));
    await logs.flush();
    expect(errors).toHaveLength(1);
    rmSync(join(folder.path, 'logs'));
    run.write(Buffer.from('after\n'));
    await logs.flush();
    expect(readFileSync(file, 'utf8')).toBe('lost?\nafter\n');
    rmSync(join(folder.path, 'logs'), { recursive: true });
    writeFileSync(join(folder.path, 'logs'), '');
    run.write(Buffer.from('x\n'));
    await logs.flush();
    expect(errors).toHaveLength(2);
  });

  it('is deleted for the servers that were not started for longest', async () => {
    const logs = join(folder.path, 'logs');
    mkdirSync(logs);
    for (let at = 0; at < 260; at++) {
      const file = join(logs, `s${at}-0.log`);
      writeFileSync(file, '');
      utimesSync(file, at, at);
    }
    writeFileSync(join(logs, 'notes.txt'), '');
    const all = logsIn(folder.path);
    all.begin('a', START);
    await all.flush();
    const left = readdirSync(logs);
    expect(left).toHaveLength(258);
    expect(left).not.toContain('s3-0.log');
    expect(left).toContain('s4-0.log');
    expect(left).toContain('notes.txt');
  });

  it('cannot be taken for our own lines, whatever a server writes', async () => {
    const forged = '=== started 2030-01-01T00:00:00.000Z (by process 1)';
    const logs = logsIn(folder.path, 100_000);
    const run = logs.begin('a', START);
    const ways = [
      forged,
      `text\r${forged}`,
      `text\r\n${forged}`,
      `text\u0085${forged}`,
      `text\u2028${forged}`,
      `text\u000b${forged}`,
      `\u200b${forged}`,
      `\u001b[2K\u001b[1G${forged}`,
      `  ${forged}`,
      forged.replaceAll('=', '\uff1d'),
      '=== ended: all is well',
      'anygpt: Its run of 2030 was fine.',
      `${'x'.repeat(9_000 - 1_024)}${forged}`,
    ];
    for (const way of ways) {
      run.write(Buffer.from(`${way}\n`));
      await logs.flush();
    }
    run.write(Buffer.from(`\u001b]0;${'y'.repeat(100)}`));
    run.end('it exited');
    await logs.flush();
    const log = await kept();
    expect(log?.startedAt).toBe('2026-01-02T03:04:05.000Z');
    const shown = shownLog(log?.text ?? '').split('\n');
    const ours = shown.filter((line) => /^\s*(?:[=\uff1d]|anygpt)/.test(line));
    expect(ours).toEqual(['=== ended: it exited']);
    expect(shown.filter((line) => line.includes('started 2030')).every((line) => /^(?:\| |x)/.test(line))).toBe(true);
    expect(shown.join('')).not.toMatch(/[\r\u0085\u2028\u001b]/);
  });

  it.each([
    '\u200b',
    '\u001b[0m',
    '\u001b]0;title\u0007',
    ' ',
    '\u00a0',
    '\u0301',
    '\u{e0041}',
    '\u200b \u001b[1m\u0301',
  ])('cannot be taken for our own lines behind any number of invisible %j', async (unseen) => {
    for (const ours of ['=== ended: all fine', 'anygpt: all fine'])
      for (const count of [1, 20, 100, 1000]) {
        const kept = quoteLog(`${unseen.repeat(count)}${ours}\n`);
        expect(shownLog(kept).startsWith('| ')).toBe(true);
      }
  });

  it('cannot be taken for our own lines where the beginning of a long line is cut off', async () => {
    const forged = '=== started 2030-01-01T00:00:00.000Z (by process 1)\n';
    for (let before = 0; before < 120; before++) {
      const logs = logsIn(folder.path, 200);
      const run = logs.begin('a', START);
      run.write(Buffer.from(`${'x'.repeat(before)}${forged}${'y'.repeat(200 - forged.length)}\n`));
      run.write(Buffer.from(`${'x'.repeat(before)}${forged}`));
      await logs.flush();
      expect((await kept())?.startedAt ?? '').not.toContain('2030');
    }
  });

  it('is separated although another process died in the middle of a line', async () => {
    const logs = logsIn(folder.path);
    logs.begin('a', 0).write(Buffer.from('first\n'));
    await logs.flush();
    appendFileSync(serverLogFile(folder.path, 'a'), 'half a li');
    logs.begin('a', START).write(Buffer.from('second\n'));
    await logs.flush();
    expect(await kept()).toMatchObject({ text: 'second\n', startedAt: '2026-01-02T03:04:05.000Z' });
  });
});
