import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemorySink } from '../../test/fixtures/memory-sink.ts';
import { DEFAULTS } from '../core/limits.ts';
import { createRedactor } from '../secrets/redactor.ts';
import type { AuditEntry, AuditSink } from './audit-entry.ts';
import { AuditLog, type AuditLogOptions } from './audit-log.ts';

const salt = new Uint8Array(32).fill(7);
const entry = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  time: new Date('2026-01-02T03:04:05.678Z'),
  traceId: 't-1',
  server: 'github',
  tool: 'create_issue',
  arguments: { title: 'Bug', body: { a: 1, b: 2 } },
  outcome: 'success',
  durationMs: 12.3456,
  ...more,
});

const hashesOf = (record: Record<string, unknown> = {}) => record.argumentHashes as Record<string, string>;

async function written(entries: AuditEntry[], options: Partial<AuditLogOptions> = {}) {
  const sink = new MemorySink();
  const log = new AuditLog({ sink, salt, ...options });
  for (const one of entries) log.record(one);
  await log.close();
  return sink;
}

/** A sink that fails on demand. */
class FlakySink implements AuditSink {
  broken = true;
  attempts = 0;
  readonly kept = new MemorySink(100_000);
  write(lines: string): void {
    this.attempts += 1;
    if (this.broken) throw new Error('ENOSPC: no space left on device');
    this.kept.write(lines);
  }
  close(): void {}
}

function collectWarnings() {
  const warnings: string[] = [];
  return { warnings, logger: { warn: (_fields: object, message = '') => void warnings.push(message) } };
}

describe('a record', () => {
  test('is one line with names and hashes, never values', async () => {
    const { lines, records } = await written([
      entry({ principal: 'ann', profile: 'team', code: 'TOOL_DISABLED', message: 'Bug!', bytesOut: 10 }),
    ]);
    expect(lines).toHaveLength(1);
    expect(records[0]).toEqual({
      time: '2026-01-02T03:04:05.678Z',
      traceId: 't-1',
      principal: 'ann',
      profile: 'team',
      server: 'github',
      tool: 'create_issue',
      argumentNames: ['title', 'body'],
      argumentHashes: { title: expect.stringMatching(/^[0-9a-f]{16}$/), body: expect.stringMatching(/^[0-9a-f]{16}$/) },
      outcome: 'success',
      code: 'TOOL_DISABLED',
      durationMs: 12.346,
      bytesOut: 10,
    });
    expect(lines[0]).not.toContain('Bug');
  });

  test('hashes equal data alike whatever its key order, and differently with another salt', async () => {
    const hash = async (value: unknown, key = salt) => {
      const { records } = await written([entry({ arguments: { value } })], { salt: key });
      return hashesOf(records[0]).value;
    };
    expect(await hash({ a: 1, b: [2, 3] })).toBe(await hash({ b: [2, 3], a: 1 }));
    expect(await hash({ a: 1 })).not.toBe(await hash({ a: '1' }));
    expect(await hash([[1], 2])).not.toBe(await hash([[1, 2]]));
    expect(await hash('x')).not.toBe(await hash('x', new Uint8Array(32)));
    const big = 'x'.repeat(200_000);
    expect(await hash(big)).not.toBe(await hash(`${big}x`));
    expect(await hash(new Date(0))).not.toBe(await hash(new Date(1)));
  });

  test('holds redacted values where they are asked for', async () => {
    const redact = createRedactor(['canary-0001']);
    const args = { note: 'see canary-0001', token: 'abc', keep: 1 };
    const { records, lines } = await written(
      [entry({ arguments: args, principal: 'canary-0001', message: 'no canary-0001 here', flags: ['cut'] })],
      { values: true, redact },
    );
    expect(records[0]).toMatchObject({
      arguments: { note: 'see ***', token: '***', keep: 1 },
      message: 'no *** here',
      flags: ['cut'],
    });
    expect(lines[0]).not.toContain('canary');
  });

  test('keeps names and outcomes, whatever values are configured as secret', async () => {
    const redact = createRedactor(['create_issue', 'github', 'success']);
    const { records } = await written([entry({ session: 'github' })], { redact, values: true });
    expect(records[0]).toMatchObject({
      server: 'github',
      tool: 'create_issue',
      session: 'github',
      outcome: 'success',
    });
  });

  test('that would be too long loses what matters least, and says so', async () => {
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${'ä'.repeat(100)}${index}`, index]));
    const { lines, records } = await written([entry({ arguments: wide, tool: 'x'.repeat(100_000) })], { values: true });
    expect(Buffer.byteLength(lines[0] ?? '')).toBeLessThan(DEFAULTS.limits.auditLine);
    expect(records[0]?.truncated).toEqual(['436 arguments', 'arguments', 'argumentHashes', 'argumentNames']);
    expect(records[0]?.server).toBe('github');
  });

  test('survives hostile arguments', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const args = Object.defineProperty(JSON.parse('{"__proto__": 1}'), 'bad', {
      enumerable: true,
      get() {
        throw new Error('no');
      },
    });
    const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, index]));
    const entries = [args, { cyclic }, { wide, list: new Array(100_000).fill(0), big: 1n, none: undefined }];
    const { records } = await written(entries.map((one) => entry({ arguments: one })));
    expect(records).toHaveLength(3);
    expect(JSON.stringify(records[0]?.argumentNames)).toBe('["__proto__","bad"]');
    expect(hashesOf(records[0]).bad).toBe('unreadable');
  });

  test('of anything is one parseable line of at most 8 KiB', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        fc.string(),
        async (args, tool) => {
          const { lines, records } = await written([entry({ arguments: args, tool })], { values: true });
          expect(records).toHaveLength(1);
          expect(Buffer.byteLength(lines[0] ?? '')).toBeLessThan(DEFAULTS.limits.auditLine);
        },
      ),
    );
  });

  test('that cannot be rendered is counted, not thrown', async () => {
    const { warnings, logger } = collectWarnings();
    const log = new AuditLog({ sink: new MemorySink(), salt, logger });
    log.record(entry({ time: new Date(Number.NaN) }));
    await log.close();
    expect(log.stats()).toMatchObject({ recorded: 1, dropped: 1, written: 0 });
    expect(warnings[0]).toContain('could not be rendered');
  });

  test('with small arguments costs little when rendered and almost nothing when recorded', async () => {
    const log = new AuditLog({ sink: new MemorySink(), salt, maxQueued: 50_000 });
    for (let i = 0; i < 2_000; i++) log.record(entry());
    await log.flush();
    const started = performance.now();
    for (let i = 0; i < 5_000; i++) log.record(entry());
    const recording = (performance.now() - started) / 5_000;
    await log.flush();
    const all = (performance.now() - started) / 5_000;
    await log.close();
    // Milliseconds; generous, because it only distinguishes a stall from work.
    expect(recording).toBeLessThan(0.1);
    expect(all).toBeLessThan(1);
  });
});

describe('a log', () => {
  test('writes in the background, in order, without anybody asking', async () => {
    const sink = new MemorySink(100_000);
    const log = new AuditLog({ sink, salt });
    for (let i = 0; i < 1_000; i++) log.record(entry({ traceId: `${i}` }));
    expect(sink.lines).toHaveLength(0);
    while (sink.lines.length < 1_000) await new Promise((resolve) => setImmediate(resolve));
    expect(sink.records.map(({ traceId }) => traceId)).toEqual(Array.from({ length: 1_000 }, (_, i) => `${i}`));
    await log.close();
  });

  test('asks for the salt at the first record and goes on without one that cannot be read', async () => {
    let asked = 0;
    const { warnings, logger } = collectWarnings();
    const sink = new MemorySink();
    await using log = new AuditLog({
      sink,
      logger,
      salt: async () => {
        asked += 1;
        throw new Error('EACCES');
      },
    });
    expect(asked).toBe(0);
    log.record(entry());
    log.record(entry());
    await log.flush();
    expect(asked).toBe(1);
    expect(sink.lines).toHaveLength(2);
    expect(warnings).toEqual([expect.stringContaining('EACCES')]);
  });

  test('keeps lines while the sink fails, warns once a minute, and catches up by itself', async () => {
    let now = 0;
    const { warnings, logger } = collectWarnings();
    const sink = new FlakySink();
    const log = new AuditLog({ sink, salt, logger, retryMs: 5, now: () => now });
    log.record(entry());
    await log.flush();
    log.record(entry());
    await log.flush();
    expect(log.stats()).toMatchObject({ failing: true, queued: 2, written: 0 });
    expect(warnings).toHaveLength(1);
    now = 60_001;
    await log.flush();
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('ENOSPC');
    sink.broken = false;
    while (log.stats().failing) await new Promise((resolve) => setTimeout(resolve, 2));
    await log.close();
    expect(sink.kept.lines).toHaveLength(2);
    expect(log.stats()).toMatchObject({ written: 2, dropped: 0, queued: 0 });
  });

  test('drops what does not fit, counts it, and leaves a note in the log', async () => {
    const sink = new FlakySink();
    const log = new AuditLog({ sink, salt, maxQueued: 3, retryMs: 1_000 });
    for (let i = 0; i < 5; i++) log.record(entry());
    await log.flush();
    expect(log.stats()).toMatchObject({ recorded: 5, dropped: 2, queued: 3 });
    sink.broken = false;
    await log.close();
    expect(sink.kept.records).toHaveLength(4);
    expect(sink.kept.records[3]).toMatchObject({ event: 'dropped', count: 2 });
  });

  test('bounds the bytes that wait as well', async () => {
    const log = new AuditLog({ sink: new FlakySink(), salt, maxQueuedBytes: 1_000, retryMs: 1_000 });
    for (let i = 0; i < 100; i++) log.record(entry());
    await log.flush();
    expect(log.stats().queued).toBeLessThan(5);
    expect(log.stats().dropped).toBeGreaterThan(95);
    await log.close();
  });

  test('closed over a broken sink says what was lost, and takes nothing more', async () => {
    const { warnings, logger } = collectWarnings();
    const log = new AuditLog({ sink: new FlakySink(), salt, logger, retryMs: 1_000 });
    log.record(entry());
    await log.close();
    await log.close();
    log.record(entry());
    expect(log.stats()).toMatchObject({ recorded: 2, dropped: 2, queued: 0 });
    expect(warnings.at(-1)).toBe('1 audit records could not be written and are lost.');
  });

  test('lets the event loop turn while it renders a backlog', async () => {
    const log = new AuditLog({ sink: new MemorySink(), salt });
    for (let i = 0; i < 9_000; i++) log.record(entry({ arguments: { a: 'x'.repeat(500), b: [1, 2, 3], c: { d: 1 } } }));
    let ticks = 0;
    const probe = setInterval(() => {
      ticks += 1;
    }, 1);
    await log.close();
    clearInterval(probe);
    expect(ticks).toBeGreaterThan(3);
  });
});
