import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough, type Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { pipeOf, readInPlace, writeAtOnce } from './quick-pipe.ts';

const run = (code: string): ChildProcessByStdio<Writable, Readable, null> =>
  spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] });

/** Reads to the end, copying as a reader in place must. */
async function readAll(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(Buffer.from(part)));
  await once(stream, 'end');
  return Buffer.concat(parts);
}

describe('readInPlace', () => {
  it('reads every byte of several pipes at once, and each closes with what it was taken from', async () => {
    const sizes = [0, 1, 65_535, 65_536, 3_000_000];
    const read = await Promise.all(
      sizes.map(async (size, letter) => {
        const child = run(`process.stdout.write(String(${letter}).repeat(${size}))`);
        const closed = once(child, 'close');
        const pipe = readInPlace(child.stdout);
        expect(pipe).not.toBe(child.stdout);
        const bytes = await readAll(pipe);
        expect((await closed)[0]).toBe(0);
        expect(child.stdout.destroyed).toBe(true);
        return bytes.toString();
      }),
    );
    expect(read.map((text) => text.length)).toEqual(sizes);
    for (const [letter, text] of read.entries()) expect(new Set(text)).toEqual(new Set(text && [String(letter)]));
  });

  it('hands on nothing while it is paused, and all of it afterwards', async () => {
    const child = run("process.stdout.write('a'.repeat(1_000_000))");
    const pipe = readInPlace(child.stdout);
    let size = 0;
    pipe.on('data', (chunk: Buffer) => {
      size += chunk.length;
      pipe.pause();
      const before = size;
      setTimeout(() => {
        expect(size).toBe(before);
        pipe.resume();
      }, 5);
    });
    await once(pipe, 'end');
    expect(size).toBe(1_000_000);
  });

  it('lets go of a pipe that its child still writes to', async () => {
    const child = run(
      "process.stdout.on('error', () => process.exit()); setInterval(() => process.stdout.write('on'), 1)",
    );
    const pipe = readInPlace(child.stdout);
    await once(pipe, 'data');
    pipe.destroy();
    // It finds that nobody reads.
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  it('leaves alone what is no pipe, and what somebody reads already', async () => {
    using folder = tempFolder();
    const file = join(folder.path, 'file');
    writeFileSync(file, 'text');
    const reader = createReadStream(file);
    const through = new PassThrough();
    for (const stream of [reader, through]) expect(readInPlace(stream)).toBe(stream);
    expect((await readAll(reader)).toString()).toBe('text');
    const child = run("process.stdout.write('heard')");
    child.stdout.unshift('begun, ');
    expect(readInPlace(child.stdout)).toBe(child.stdout);
    const heard = readAll(child.stdout);
    expect(readInPlace(child.stdout)).toBe(child.stdout);
    expect((await heard).toString()).toBe('begun, heard');
    expect(readInPlace(child.stdout)).toBe(child.stdout);
  });
});

/** Says the hash of what it was told, once it has been told everything. Begins late and reads slowly. */
const LISTENER = `
const { createHash } = require('node:crypto');
setTimeout(() => {
  const hash = createHash('sha256');
  process.stdin.on('data', (chunk) => {
    hash.update(chunk);
    process.stdin.pause();
    setTimeout(() => process.stdin.resume(), 1);
  });
  process.stdin.on('end', () => process.stdout.write(hash.digest('hex')));
}, 20)`;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Node gives its children sockets; a shell gives them pipes, which may take a part of what is written. */
function listenerOnPipe(folder: string): { readonly stream: Writable; readonly answer: Promise<Buffer> } {
  const path = join(folder, 'pipe');
  rmSync(path, { force: true });
  execFileSync('mkfifo', [path]);
  const ours = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const theirs = openSync(path, 'r');
  const child = spawn(process.execPath, ['-e', LISTENER], { stdio: [theirs, 'pipe', 'inherit'] });
  closeSync(theirs);
  return {
    stream: new Socket({ fd: ours, readable: false, writable: true }),
    answer: readAll(child.stdout as Readable),
  };
}

function listenerOnSocket(): { readonly stream: Writable; readonly answer: Promise<Buffer> } {
  const child = run(LISTENER);
  return { stream: child.stdin, answer: readAll(child.stdout) };
}

describe('writeAtOnce', () => {
  it.each([
    ['socket', listenerOnSocket],
    ['pipe', listenerOnPipe],
  ])(
    'writes everything to a %s in order, whatever is written how and whether or not there is room',
    async (_, listen) => {
      using folder = tempFolder();
      const text = fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        // Those of two and three bytes a character fill a pipe in the middle of one.
        fc
          .tuple(fc.constantFrom('x', 'ö', '€'), fc.integer({ min: 1000, max: 16_000 }))
          .map(([letter, count]) => letter.repeat(count)),
        fc.integer({ min: 16_385, max: 100_000 }).map((count) => 'L'.repeat(count)),
      );
      const way = fc.constantFrom('at once', 'at once', 'at once, then wait', 'by the stream');
      const writes = fc.array(fc.tuple(text, way), { minLength: 30, maxLength: 100 });
      await fc.assert(
        fc.asyncProperty(writes, async (told) => {
          const { stream, answer } = listen(folder.path);
          for (const [part, how] of told) {
            if (how === 'by the stream') stream.write(part);
            else writeAtOnce(stream, part);
            if (how === 'at once, then wait') await setImmediate();
          }
          // A pipe cannot be ended as a socket can; it is closed.
          await new Promise((resolve) => stream.write('', resolve));
          stream.destroy();
          expect((await answer).toString()).toBe(hashOf(told.map(([part]) => part).join('')));
        }),
        // Of the second a pipe takes a part.
        { numRuns: 10, examples: [[Array.from({ length: 3 }, () => ['€'.repeat(16_000), 'at once'])]] },
      );
    },
  );

  it('writes nothing past what still waits, though there is room again', async () => {
    const { stream, answer } = listenerOnSocket();
    let told = 'first'.repeat(200_000);
    stream.write(told);
    // Without a pause in which the stream could go on.
    for (let part = 0; stream.writableLength > 0 && part < 20_000; part++) {
      const text = ` ${part}`;
      told += text;
      writeAtOnce(stream, text);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, part < 2000 ? 0.1 : 0);
    }
    stream.end();
    expect((await answer).toString()).toBe(hashOf(told));
  });

  it('says as a stream does when no more should be written, and when there is room again', async () => {
    const child = run(LISTENER);
    const line = `${'x'.repeat(999)}\n`;
    let lines = 1;
    while (writeAtOnce(child.stdin, line)) expect(lines++).toBeLessThan(10_000);
    expect(child.stdin.writableLength).toBeGreaterThan(0);
    await once(child.stdin, 'drain');
    expect(writeAtOnce(child.stdin, line)).toBe(true);
    child.stdin.end();
    const whole = line.repeat(lines + 1);
    expect((await readAll(child.stdout)).toString()).toBe(hashOf(whole));
  });

  it('leaves errors to the stream', async () => {
    const child = run("require('node:fs').closeSync(0); process.stdout.write('deaf'); setInterval(() => {}, 1000)");
    await once(child.stdout, 'data');
    const failed = once(child.stdin, 'error');
    writeAtOnce(child.stdin, 'is anybody there?');
    expect((await failed)[0]).toMatchObject({ code: 'EPIPE' });
    expect(pipeOf(child.stdin)).toBeUndefined();
    child.kill('SIGKILL');
  });

  it('goes through a stream that stands before a pipe as long as that can be written to', async () => {
    const { stream, answer } = listenerOnSocket();
    const before = Object.assign(
      new Writable({ decodeStrings: false, write: (chunk, _, done) => void stream.write(chunk, done) }),
      { pipeFd: pipeOf(stream) },
    );
    expect(pipeOf(before)).toBe(pipeOf(stream));
    writeAtOnce(before, 'at once, ');
    writeAtOnce(before, 'by both streams, '.repeat(2000));
    writeAtOnce(before, 'the end');
    await new Promise((resolve) => before.end(resolve));
    expect(pipeOf(before)).toBeUndefined();
    stream.end();
    expect((await answer).toString()).toBe(hashOf(`at once, ${'by both streams, '.repeat(2000)}the end`));
  });

  it('writes to a file as the file wants it', async () => {
    using folder = tempFolder();
    const file = join(folder.path, 'file');
    const stream = createWriteStream(file);
    expect(pipeOf(stream)).toBeUndefined();
    writeAtOnce(stream, 'one ');
    writeAtOnce(stream, 'two');
    stream.end();
    await once(stream, 'close');
    expect(readFileSync(file, 'utf8')).toBe('one two');
  });
});
