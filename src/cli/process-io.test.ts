import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { type Host, runProcess } from './process-io.ts';

/** A process that is not ours: streams, events and exits to look at. */
function fakeProcess(home = '/nonexistent') {
  const text = (stream: PassThrough) => () => stream.read()?.toString('utf8') ?? '';
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const exits: unknown[] = [];
  const host = Object.assign(new EventEmitter(), {
    stdin,
    stdout,
    stderr,
    env: { ANYGPT_HOME: home },
    cwd: () => home,
    exit: (code: unknown) => exits.push(code),
    exitCode: undefined as number | undefined,
  });
  return { host, asHost: host as unknown as Host, exits, stdin, out: text(stdout), err: text(stderr) };
}

describe('runProcess', () => {
  it('turns the command line into an exit code, without cutting output short', async () => {
    const { host, asHost, exits, out } = fakeProcess();
    runProcess(['--version'], asHost);
    await expect.poll(() => host.exitCode).toBe(0);
    expect(exits).toEqual([]);
    expect(out()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('says nothing when the reader of stdout has left, and once when stdout cannot be written', async () => {
    const { host, asHost, exits, err } = fakeProcess();
    runProcess(['--version'], asHost);
    host.stdout.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await expect.poll(() => host.exitCode).toBe(0);
    expect(err()).toBe('');
    const full = fakeProcess();
    runProcess(['--version'], full.asHost);
    for (const _time of [1, 2])
      full.host.stdout.emit('error', Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
    await expect.poll(() => full.host.exitCode).toBe(3);
    expect(full.err()).toBe('anygpt: cannot write to stdout: no space left\n');
    expect(exits).toEqual([]);
  });

  it('reports an uncaught error once, and ends', () => {
    const { host, asHost, exits, err } = fakeProcess();
    runProcess(['--version'], asHost);
    host.emit('uncaughtException', new Error('a bug'));
    host.emit('unhandledRejection', 'another');
    expect(exits).toEqual([70, 70]);
    expect(err()).toMatch(/^anygpt: internal error: Error: a bug\n[\s\S]*anygpt: internal error: another\n$/);
  });

  it('says what to do when no more files can be opened, without a trace of its own code', () => {
    const { host, asHost, exits, err } = fakeProcess();
    runProcess(['--version'], asHost);
    host.emit('unhandledRejection', Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' }));
    expect(exits).toEqual([3]);
    expect(err()).toMatch(/^anygpt: too many files are open: .* `ulimit -n 1024`.*\n$/);
  });

  it('says nothing that looks like a secret on its way out', () => {
    const { host, asHost, exits, err } = fakeProcess();
    Object.assign(host.env, { MY_TOKEN: 'canary-in-env' });
    runProcess(['--version'], asHost);
    const secrets = ['sk-live-1234567890abcdef', 'hunter22', 'canary-in-env'];
    const message = `Bearer ${secrets[0]} at https://me:${secrets[1]}@host, ${secrets[2]}`;
    const error = new TypeError(message);
    host.emit('uncaughtException', error);
    host.emit('unhandledRejection', message);
    const said = err();
    for (const secret of secrets) expect(said).not.toContain(secret);
    expect(said).toMatch(/^anygpt: internal error: TypeError: Bearer \*\*\* at https:\/\/\*\*\*@host, \*\*\*\n {4}at /);
    expect(exits).toEqual([70, 70]);
  });

  it('keeps stdout to the protocol and listens for signals while it serves', async () => {
    using folder = tempFolder();
    const config = join(folder.path, 'config.json');
    writeFileSync(config, '{"servers":[]}');
    const { host, asHost, exits, stdin, out, err } = fakeProcess(folder.path);
    runProcess(['mcp', 'serve', '--config', config], asHost);
    await expect.poll(() => host.listenerCount('SIGTERM')).toBe(1);
    stdin.write('nonsense\n');
    await expect.poll(out).toContain('-32700');
    host.stdout.write('noise');
    expect([out(), err()]).toEqual(['', 'noise']);
    host.emit('SIGTERM');
    host.emit('SIGINT');
    expect(exits).toEqual([130]);
    await expect.poll(() => host.exitCode).toBe(0);
  });

  it('stops listening for signals when its client goes', async () => {
    using folder = tempFolder();
    const { host, asHost, stdin } = fakeProcess(folder.path);
    runProcess(['mcp', 'serve'], asHost);
    stdin.end();
    await expect.poll(() => host.exitCode).toBe(0);
    expect(host.listenerCount('SIGTERM')).toBe(0);
  });
});
