import { readdirSync as readDirectory, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { fixture } from '../../../test/fixtures/connections/harness.ts';
import { type EvilScenario, evil } from '../../../test/fixtures/evil.ts';
import { processorShare } from '../../../test/fixtures/processor-share.ts';
import { redactUnknown } from '../../secrets/redactor.ts';
import { JsonRpcError, type JsonRpcMessage, NotReadError, NotSentError, UnsendableError } from '../json-rpc.ts';
import { largeTurns } from '../large-turns.ts';
import { Peer, PeerClosedError } from '../peer.ts';
import { StdioTransport, type StdioTransportOptions } from './stdio-transport.ts';

const PATH = process.env.PATH ?? '';
const text = (result: Readonly<Record<string, unknown>>) => (result.content as { text: string }[])[0]?.text;

function transport(command: string, args: readonly string[], more: Partial<StdioTransportOptions> = {}) {
  return new StdioTransport({ command, args, env: { PATH }, maxMessageBytes: 1_000_000, stderrBytes: 65_536, ...more });
}

/** A peer of an evil server, and what is needed to look at both. */
async function start(scenario: EvilScenario, more: Partial<StdioTransportOptions> = {}) {
  const server = evil(scenario);
  const wire = transport(server.command, server.args, { stageMs: 200, ...more });
  const peer = new Peer(wire);
  await peer.start();
  return {
    server,
    wire,
    peer,
    call: (n: unknown = 1, tool = 'echo') => peer.request('tools/call', { name: tool, arguments: { text: String(n) } }),
    [Symbol.asyncDispose]: async () => {
      await peer.close();
      server[Symbol.dispose]();
    },
  };
}

const on = (steps: readonly object[]): EvilScenario => ({
  on: [{ method: 'tools/call', do: steps as Record<string, unknown>[] }],
});

/** Runs a node script and collects its messages until it ends. */
async function messagesOf(source: string): Promise<{ wire: StdioTransport; messages: JsonRpcMessage[] }> {
  const wire = transport(process.execPath, ['-e', source]);
  const messages: JsonRpcMessage[] = [];
  wire.onmessage = (message) => messages.push(message);
  const ended = new Promise<void>((resolve) => {
    wire.onclose = resolve;
  });
  await wire.start();
  await ended;
  return { wire, messages };
}

describe('what a server writes', () => {
  it('is read through banners, colours, a BOM, CRLF and JSON that is no JSON-RPC', async () => {
    const { wire, messages } = await messagesOf(`
      process.stdout.write('\\ufeff{"jsonrpc":"2.0","method":"a"}\\r\\n');
      process.stdout.write('\\x1b[32mServer started!\\x1b[0m\\n\\r\\n\\n{"level":"info"}\\n[1]\\n{broken\\n');
      process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\\r\\nlast words without a newline');
    `);
    expect(messages).toEqual([
      { jsonrpc: '2.0', method: 'a' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]);
    expect(wire.noise).toBe(5);
    expect(wire.log(redactUnknown)).toContain('[stdout] {"level":"info"}');
  });

  it('is the same in one-byte writes, in a thousand frames at once, and with a character cut in two', async () => {
    await using cut = await start(on([{ slice: 1 }, { result: { content: [{ type: 'text', text: 'grüße 😀' }] } }]));
    expect(text((await cut.call()).result)).toBe('grüße 😀');
    const many = { notify: { method: 'notifications/x', params: { n: '$n' } }, repeat: 1000, together: true };
    await using burst = await start(on([many, { default: true }]));
    const heard: unknown[] = [];
    const receive = burst.wire.onmessage;
    burst.wire.onmessage = (message, info) => {
      if (message.method === 'notifications/x') heard.push(message.params?.n);
      receive?.(message, info);
    };
    await burst.call();
    expect(heard).toEqual(Array.from({ length: 1000 }, (_, n) => n));
  });

  it('comes with its length', async () => {
    await using server = await start({});
    const { bytes } = await server.call('x'.repeat(1000));
    expect(bytes).toBeGreaterThan(1000);
    expect(bytes).toBeLessThan(1300);
  });
});

describe('noise on stdout', () => {
  it.each([
    ['short lines', 'y'],
    ['what looks like messages', '{'],
    ['long lines', 'x'.repeat(200)],
  ])('that never ends costs nobody else the time: %s', { timeout: 30_000 }, async (_, line) => {
    const flood = `const text = ${JSON.stringify(`${line}\n`)}.repeat(10_000); const more = () => process.stdout.write(text, more); more();`;
    const wire = transport(process.execPath, ['-e', flood], { stageMs: 100 });
    await wire.start();
    await expect.poll(() => wire.noise, { timeout: 10_000 }).toBeGreaterThan(256);
    // A chunk of 64 KiB at the most, and then a pause that lasts longer than these turns do.
    const before = wire.noise;
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(wire.noise - before).toBeLessThanOrEqual(65_536);
    expect(wire.log(redactUnknown).length).toBeGreaterThan(0);
    await wire.close();
  });
});

it('noise on stdout splits no line of stderr: half a secret would not be recognised', async () => {
  const steps = `
    const steps = [
      () => process.stdout.write('hello\\n'),
      () => process.stderr.write('word\\nmore'),
      () => process.stdout.write('bye\\n'),
    ];
    process.stderr.write('pass');
    process.stdin.on('data', () => steps.shift()?.());`;
  let told = '';
  const wire = transport(process.execPath, ['-e', steps], { onStderr: (chunk) => (told += chunk) });
  await wire.start();
  const next = () => wire.send({ jsonrpc: '2.0', method: 'next' });
  await expect.poll(() => told).toBe('pass');
  next();
  await expect.poll(() => wire.log(redactUnknown)).toBe('pass\n[stdout] hello\n');
  expect(told).toBe('pass');
  next();
  await expect.poll(() => told).toBe('password\n[stdout] hello\nmore');
  next();
  await expect.poll(() => wire.noise).toBe(2);
  await wire.close();
  await expect.poll(() => told).toBe('password\n[stdout] hello\nmore\n[stdout] bye\n');
  expect(wire.log(redactUnknown)).toBe(told);
});

describe('empty lines on stdout', () => {
  it.each(['\n', '\r\n', ' \n', '\t\t\n', '\u00a0\n', `${' '.repeat(300)}\n`])(
    'that never end leave the loop free: %j',
    { timeout: 30_000 },
    async (line) => {
      const flood = `const text = ${JSON.stringify(line)}.repeat(65_536); const more = () => process.stdout.write(text, more); more(); process.stderr.write('begun');`;
      const wire = transport(process.execPath, ['-e', flood], { stageMs: 100 });
      await wire.start();
      await expect.poll(() => wire.log(redactUnknown).length, { timeout: 10_000 }).toBeGreaterThan(0);
      const before = processorShare();
      await sleep(700);
      // Our share for it is a twelfth, and without one it is everything.
      expect(before()).toBeLessThan(0.6);
      expect(wire.noise).toBe(0);
      await wire.close();
    },
  );

  it('beside messages cost those nothing, as some servers write one after each', async () => {
    const lines = `${'\\n{"jsonrpc":"2.0","method":"a"}\\r\\n'.repeat(20)}\\n  {"jsonrpc":"2.0","method":"b"}\\n`;
    const { messages, wire } = await messagesOf(`process.stdout.write('${lines}')`);
    expect(messages).toHaveLength(21);
    expect(wire.noise).toBe(0);
  });
});

describe('a message that is too long', () => {
  const lost: (number | undefined)[] = [];
  const options = { maxMessageBytes: 10_000, onUnreadable: (id: number | undefined) => lost.push(id) };

  it.each([
    ['first', [{ big: 20_000 }], 1],
    ['last', [{ frame: { result: { a: 'x'.repeat(20_000) }, jsonrpc: '2.0', id: '$id' } }], 1],
    ['never', [{ fill: 25_000 }], undefined],
  ])('is told with the id of the request it answers when that comes %s', async (_, steps, id) => {
    lost.length = 0;
    await using server = await start(on(steps), options);
    const call = server.call();
    call.catch(() => {});
    await expect.poll(() => lost).toEqual([id]);
  });

  it('is only noise when it is a notification, and everything after it is read', async () => {
    lost.length = 0;
    const notify = { method: 'notifications/x', params: { text: 'x'.repeat(20_000) } };
    await using server = await start(on([{ notify }, { default: true }]), options);
    expect(text((await server.call('ok')).result)).toContain('ok');
    expect(lost).toEqual([]);
    expect(server.wire.noise).toBe(1);
  });

  it('of 64 MiB without a newline costs no memory', async () => {
    lost.length = 0;
    const MIB = 2 ** 20;
    await using server = await start(on([{ fill: 64 * MIB }, { raw: '\n' }, { default: true }]), {
      maxMessageBytes: 4 * MIB,
      onUnreadable: (id) => lost.push(id),
    });
    let peak = 0;
    const before = process.memoryUsage();
    const timer = setInterval(() => {
      const { external, arrayBuffers } = process.memoryUsage();
      peak = Math.max(peak, external - before.external, arrayBuffers - before.arrayBuffers);
    }, 5);
    expect(text((await server.call('after')).result)).toContain('after');
    clearInterval(timer);
    expect(lost).toEqual([undefined]);
    expect(peak / MIB).toBeLessThan(40);
  });
});

describe('a message that is nested too deep', () => {
  const nest = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  it.each([190, 250, 20_000, 400_000])('of %i levels', async (levels) => {
    const lost: unknown[] = [];
    const source = `const nested = '['.repeat(${levels}) + ']'.repeat(${levels});
      process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{"structuredContent":' + nested + '}}\\n')`;
    const wire = transport(process.execPath, ['-e', source], { onUnreadable: (...told) => lost.push(told) });
    const read: unknown[] = [];
    wire.onmessage = ({ id }) => read.push(id);
    const ended = new Promise<void>((resolve) => {
      wire.onclose = resolve;
    });
    await wire.start();
    await ended;
    expect([read, lost]).toEqual(levels < 200 ? [[1], []] : [[], [[1, 'too-deep']]]);
  });

  it('is only noise when it is a notification', async () => {
    const { wire, messages } = await messagesOf(
      `process.stdout.write('{"jsonrpc":"2.0","method":"x","params":{"a":' + '['.repeat(300) + ']'.repeat(300) + '}}\\n')`,
    );
    expect([messages, wire.noise]).toEqual([[], 1]);
  });

  it('cannot be sent, and that is known', async () => {
    await using server = await start({});
    const params = { a: JSON.parse(nest(200_000)) };
    await expect(server.peer.request('x', params)).rejects.toBeInstanceOf(UnsendableError);
    expect(text((await server.call('ok')).result)).toContain('ok');
  });
});

describe('a server that does not read', () => {
  it('is sent no more than the allowed bytes, and what is over is known not to be sent', async () => {
    const wire = transport(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stageMs: 50,
      maxUnreadBytes: 300_000,
    });
    await wire.start();
    const message: JsonRpcMessage = { jsonrpc: '2.0', id: 1, method: 'x', params: { a: 'y'.repeat(100_000) } };
    let sent = 0;
    const flood = () => {
      for (; sent < 50; sent++) wire.send(message);
    };
    expect(flood).toThrow(NotReadError);
    expect(sent).toBeLessThan(10);
    expect(() => wire.send({ jsonrpc: '2.0', method: 'small' })).toThrow(NotSentError);
    await wire.close();
  });

  it('gets one message of any allowed length', async () => {
    await using server = await start({}, { maxUnreadBytes: 1000 });
    expect(text((await server.call('x'.repeat(100_000))).result)).toContain('xxx');
  });
});

describe('a server that several callers share', () => {
  /** Answers each request with how many it has read before. */
  const COUNTING = `
    let rest = '', read = 0;
    process.stdin.on('data', (chunk) => {
      const lines = (rest + chunk).split('\\n');
      rest = lines.pop();
      for (const line of lines) console.log(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, result: { read: read++ } }));
    });`;
  const LARGE = { text: 'x'.repeat(100_000) };

  async function counting() {
    const wire = transport(process.execPath, ['-e', COUNTING]);
    const peer = new Peer(wire);
    await peer.start();
    const call = async (caller: string, params: Record<string, unknown>, signal = new AbortController().signal) =>
      (await peer.request('tools/call', params, { caller, signal })).result.read;
    return { call, [Symbol.asyncDispose]: () => peer.close() };
  }

  it('reads short requests between the large ones of another', async () => {
    await using server = await counting();
    expect(await server.call('neighbour', {})).toBe(0);
    const large = Array.from({ length: 4 }, () => server.call('greedy', LARGE));
    expect(await server.call('neighbour', {})).toBe(2);
    expect(await server.call('greedy', {})).toBeGreaterThan(2);
    expect(await Promise.all(large)).toEqual(expect.arrayContaining([1]));
  });

  it('reads a large request of one before the next large one of another', async () => {
    await using server = await counting();
    await server.call('neighbour', {});
    const greedy = Array.from({ length: 4 }, () => server.call('greedy', LARGE));
    const neighbour = server.call('neighbour', LARGE);
    expect(await Promise.all([...greedy, neighbour])).toEqual([1, 2, 4, 5, 3]);
  });

  it('never reads a large request that was cancelled before its turn', async () => {
    await using server = await counting();
    await server.call('neighbour', {});
    const first = server.call('greedy', LARGE);
    const cancelled = new AbortController();
    const second = server.call('greedy', LARGE, cancelled.signal);
    cancelled.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    expect([await first, await server.call('greedy', LARGE)]).toEqual([1, 2]);
  });

  it('is sent short requests and cancellations however many large ones wait for their turn', async () => {
    const wire = transport(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { maxUnreadBytes: 350_000 });
    await wire.start();
    await using _closing = { [Symbol.asyncDispose]: () => wire.close() };
    const send = (caller: string, id: number, params: Record<string, unknown>) =>
      wire.send({ jsonrpc: '2.0', id, method: 'tools/call', params }, undefined, caller);
    send('neighbour', 1, {});
    let last = 1;
    const fill = () => {
      for (; last < 50; last++) send('greedy', last + 1, LARGE);
    };
    expect(fill).toThrow('it has not read');
    expect(() => send('neighbour', 100, {})).not.toThrow();
    wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: last } });
    expect(() => send('greedy', 101, LARGE)).not.toThrow();
  });

  it('reads what one caller sends in its order, as long as there is no other', async () => {
    await using server = await counting();
    const calls = [LARGE, LARGE, {}, LARGE, {}].map((params) => server.call('only', params));
    expect(await Promise.all(calls)).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('a large answer that waits for its turn', () => {
  it('is overtaken by short answers, and by nothing else', async () => {
    const answer = (id: number, text: string) => `{"jsonrpc":"2.0","id":${id},"result":{"text":"${text}"}}\n`;
    const note = '{"jsonrpc":"2.0","method":"note"}\n';
    const source = `
      const lines = [${JSON.stringify(answer(1, 'LARGE'))}.replace('LARGE', 'x'.repeat(400_000)), ...${JSON.stringify([answer(2, 'two'), note, answer(3, 'three')])}];
      process.stdout.write(lines.join(''));
      process.stdin.resume();`;
    const wire = transport(process.execPath, ['-e', source]);
    const seen: unknown[] = [];
    const peer = new Peer(wire, { onNotification: (method) => seen.push(method) });
    let release = () => {};
    largeTurns.hold(
      new Promise<void>((resolve) => {
        release = resolve;
      }),
    );
    await peer.start();
    const { signal } = new AbortController();
    const calls = [1, 2, 3].map((id) => peer.request('tools/call', {}, { signal }).then(() => seen.push(id)));
    await calls[1];
    expect(seen).toEqual([2]);
    release();
    await Promise.all(calls);
    expect(seen).toEqual([2, 1, 'note', 3]);
    await peer.close();
  });
});

describe('stderr', () => {
  it('may flood: the last 64 KiB stay, and calls go on', async () => {
    await using server = await start(on([{ stderr: 'a', fill: 8_000_000 }, { stderr: 'THE END' }, { default: true }]));
    expect(text((await server.call('ok')).result)).toContain('ok');
    await expect.poll(() => server.wire.log(redactUnknown).endsWith('THE END')).toBe(true);
    expect(server.wire.log(redactUnknown).length).toBeLessThanOrEqual(65_536);
  });

  it.each([
    ['lines', `'a line of stderr\\n'.repeat(4000)`],
    ['one line without end', `'x'.repeat(65_536)`],
    ['bytes that are no text', 'Buffer.from(Array.from({ length: 65_536 }, (_, at) => (at * 7) % 256))'],
    ['a byte at a time', `'x'`],
  ])('that never ends is read at a bounded rate, and to its end: %s', { timeout: 30_000 }, async (_, bytes) => {
    let chunks = 0;
    const flood = `
      const { writeSync } = require('node:fs');
      const bytes = ${bytes};
      const end = Date.now() + 900;
      while (Date.now() < end) writeSync(2, bytes);
      writeSync(2, ' THE END');`;
    const wire = transport(process.execPath, ['-e', flood], { onStderr: () => chunks++ });
    await wire.start();
    await expect.poll(() => chunks, { timeout: 10_000 }).toBeGreaterThan(0);
    const [began, before] = [performance.now(), chunks];
    await sleep(600);
    // It may take 5 ms of our time and then a twelfth of all time, at a quarter of a millisecond for each.
    expect(chunks - before).toBeLessThanOrEqual(1 + (5 + 0.08 * (performance.now() - began)) / 0.25);
    await expect.poll(() => wire.log(redactUnknown).endsWith(' THE END'), { timeout: 10_000 }).toBe(true);
    await wire.close();
  });
});

describe('starting', () => {
  it('hands arguments over byte by byte, without a shell', async () => {
    const args = ['; touch /tmp/pwn', '$(id)', '`id`', 'a\nb', '-x', "'", '"', '', 'ä😀', '*'];
    const wire = transport(process.execPath, [
      '-e',
      'process.stdout.write(JSON.stringify({jsonrpc:"2.0",method:"argv",params:process.argv.slice(1)})+"\\n")',
      '--',
      ...args,
    ]);
    const got = new Promise((resolve) => {
      wire.onmessage = ({ params }) => resolve(params);
    });
    await wire.start();
    expect(await got).toEqual(args);
    const { pid } = wire;
    await wire.close();
    expect(alive(pid)).toBe(false);
  });

  it('takes a command line as the name of a file, which does not exist', async () => {
    await expect(transport("sh -c 'touch /tmp/pwn'", []).start()).rejects.toMatchObject({ code: 'ENOENT' });
    const wire = transport('/does/not/exist', []);
    await expect(wire.start()).rejects.toMatchObject({ code: 'ENOENT' });
    await wire.close();
    expect(() => wire.send({ jsonrpc: '2.0', method: 'x' })).toThrow(NotSentError);
  });

  it('gives the child the environment it was given and nothing else', async () => {
    process.env.CANARY_OF_OURS = 'canary';
    using server = evil({ start: [{ do: [{ dumpEnv: true }] }] });
    const wire = transport(server.command, server.args, { env: { PATH, TOKEN: 't' } });
    await wire.start();
    await expect.poll(() => server.journal().find(({ event }) => event === 'env')?.env).toEqual({ PATH, TOKEN: 't' });
    delete process.env.CANARY_OF_OURS;
    await wire.close();
  });
});

describe('a server that dies', () => {
  it('fails all calls in flight at once and never gets one of them twice', async () => {
    await using server = await start({
      on: [
        { method: 'tools/call', nth: [1, 15], do: [] },
        { method: 'tools/call', nth: 16, do: [{ kill: 'SIGKILL' }] },
      ],
    });
    const calls = await Promise.allSettled(Array.from({ length: 16 }, (_, n) => server.call(n)));
    for (const call of calls) expect(call).toMatchObject({ status: 'rejected', reason: expect.any(PeerClosedError) });
    expect(server.wire.exitReason).toBe('ended by SIGKILL');
    expect(server.server.received('tools/call')).toHaveLength(16);
  });

  it('says its last words', async () => {
    await using server = await start(on([{ stderr: 'the disk is full' }, { result: {} }, { exit: 3 }]));
    await server.call();
    await expect.poll(() => server.wire.exitReason).toBe('exited with code 3');
    expect(server.wire.log(redactUnknown)).toBe('the disk is full');
  });

  it.each([10, 400_000])('is heard to the end of an answer of %i bytes that lacks its newline', async (bytes) => {
    const { messages } = await messagesOf(
      `process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(${bytes}) } }))`,
    );
    expect(messages).toMatchObject([{ id: 1, result: { text: 'x'.repeat(bytes) } }]);
  });

  it.each([
    ['few long', 80, 1000],
    ['many short', 4, 25_000],
  ])('is heard to the end, also behind a flood of %s lines', async (_, length, lines) => {
    const noise = `${'n'.repeat(length - 1)}\\n`;
    const { wire, messages } = await messagesOf(
      `process.stdout.write('${noise}'.repeat(${lines}) + '{"jsonrpc":"2.0","method":"last"}\\n', () => process.exit())`,
    );
    expect(messages).toEqual([{ jsonrpc: '2.0', method: 'last' }]);
    expect(wire.noise).toBe(lines);
  });

  it('counts as dead when it only stops listening', async () => {
    const wire = transport(process.execPath, ['-e', 'require("fs").closeSync(0); setInterval(() => {}, 1000)'], {
      stageMs: 100,
    });
    const errors: Error[] = [];
    const peer = new Peer(wire);
    wire.onerror = (error) => errors.push(error);
    await peer.start();
    // The pipe is broken once the child has closed its end; how soon that is seen does not matter.
    const asking = (async () => {
      for (;;) {
        await Promise.race([peer.request('m', { padding: 'x'.repeat(100_000) }), sleep(50)]);
      }
    })();
    await expect(asking).rejects.toThrow(/closed|not running/);
    await peer.close();
    expect(alive(wire.pid)).toBe(false);
  });

  it('is noticed although a grandchild holds its output open', async () => {
    const grandchild = `require("child_process").spawn(process.execPath, [${JSON.stringify(fixture('stubborn.mjs'))}], {stdio:"inherit"})`;
    const wire = transport(process.execPath, ['-e', `${grandchild}; setTimeout(() => process.exit(1), 100)`], {
      stageMs: 100,
    });
    const peer = new Peer(wire);
    await peer.start();
    await expect(peer.request('m', {})).rejects.toBeInstanceOf(PeerClosedError);
    expect(wire.exitReason).toBe('exited with code 1');
    const { pid } = wire;
    await wire.close();
    expect(groupOf(pid)).toEqual([]);
  });
});

describe('closing', () => {
  it('lets a server that listens to the end of its input go by itself', async () => {
    const server = await start({});
    await server.call();
    await server.peer.close();
    expect(server.wire.exitReason).toBe('exited with code 0');
    expect(server.server.journal().some(({ event }) => event === 'signal')).toBe(false);
    await server[Symbol.asyncDispose]();
  });

  it('leaves no descendant of a wrapper whose grandchild ignores end of input and SIGTERM', async () => {
    const wire = transport('sh', ['-c', `"${process.execPath}" "${fixture('stubborn.mjs')}"; true`], { stageMs: 300 });
    await wire.start();
    await expect.poll(() => wire.log(redactUnknown), { timeout: 10_000 }).toContain('ready');
    const { pid } = wire;
    expect(groupOf(pid).length).toBe(2);
    const before = Date.now();
    await wire.close();
    expect(Date.now() - before).toBeLessThan(6000);
    expect(groupOf(pid)).toEqual([]);
  });

  it('may be asked for often, and is done once', async () => {
    const server = await start({ ignoreEof: true });
    await server.call();
    await Promise.all([server.wire.close(), server.wire.close(), server.peer.close()]);
    expect(server.server.journal().filter(({ event }) => event === 'signal').length).toBeLessThanOrEqual(1);
    expect(alive(server.wire.pid)).toBe(false);
    await server[Symbol.asyncDispose]();
  });
});

it('hands error answers on', async () => {
  await using server = await start(on([{ error: { code: -5, message: 'm', data: { d: 1 } } }]));
  const error = await server.call().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(JsonRpcError);
  expect(error).toMatchObject({ code: -5, data: { d: 1 } });
});

function alive(pid: number | undefined): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] !== 'Z';
  } catch {
    return false;
  }
}

/** The living processes of a group. */
function groupOf(group: number | undefined): number[] {
  const pids = readDirectory('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const [state, , pgrp] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return Number(pgrp) === group && state !== 'Z';
    } catch {
      return false;
    }
  });
}
