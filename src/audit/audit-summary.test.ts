import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import { createRedactor } from '../secrets/redactor.ts';
import { summarizeAudit } from './audit-summary.ts';
import { formatEntry } from './format-entry.ts';
import { LatencyHistogram } from './latency-histogram.ts';

let folder: ReturnType<typeof tempFolder>;
let file: string;
beforeEach(() => {
  folder = tempFolder();
  file = join(folder.path, 'audit.jsonl');
});
afterEach(() => folder[Symbol.dispose]());

const line = (server: string, tool: string, outcome: string, durationMs: number, time = '2026-01-02T00:00:00.000Z') =>
  `${JSON.stringify({ time, server, tool, outcome, durationMs })}\n`;

describe('a summary of the audit log', () => {
  it('counts calls, errors and times by server and tool, the most called first', async () => {
    const slow = [100, 200, 300].map((ms) => line('a', 'slow', 'success', ms));
    writeFileSync(
      file,
      [
        line('b', 'x', 'tool_error', 10),
        ...slow,
        line('a', 'other', 'failed', 50),
        line('a', 'other', 'refused', 0),
        line('a', 'other', 'cancelled', 50, '2026-01-03T00:00:00.000Z'),
        line('__proto__', 'constructor', 'unknown', 1),
      ].join(''),
    );
    const { total, servers, first, last, damaged } = await summarizeAudit(file);
    expect(total).toMatchObject({ calls: 8, errors: 3, refused: 1, cancelled: 1 });
    expect(servers.map(({ server }) => server)).toEqual(['a', 'b', '__proto__']);
    expect(servers[0]?.tools.map(({ tool, calls }) => [tool, calls])).toEqual([
      ['slow', 3],
      ['other', 3],
    ]);
    expect(servers[0]?.tools[0]?.medianMs).toBeCloseTo(200, -1);
    expect([first, last, damaged]).toEqual(['2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z', 0]);
  });

  it('counts a request that names no known tool, or cannot be read, as no call', async () => {
    const refused = (server: string, code: string) =>
      line(server, 'x', 'refused', 0).replace('}', `,"code":"${code}"}`);
    const codes = ['SERVER_NOT_FOUND', 'TOOL_NOT_FOUND', 'VALIDATION_ERROR', 'TOOL_DISABLED', 'TOOL_VALIDATION_ERROR'];
    writeFileSync(file, codes.map((code) => refused(code, code)).join(''));
    const { total, servers, mistaken } = await summarizeAudit(file);
    expect([total.calls, total.refused, mistaken]).toEqual([2, 2, 3]);
    expect(servers.map(({ server }) => server)).toEqual(['TOOL_DISABLED', 'TOOL_VALIDATION_ERROR']);
  });

  it('tells the wait for a connection apart from the call', async () => {
    const connecting = line('a', 'x', 'success', 1_000).replace('}', ',"connectMs":900}');
    writeFileSync(file, connecting + line('a', 'x', 'success', 100));
    const { total, servers } = await summarizeAudit(file);
    expect(total).toMatchObject({ calls: 2, connects: 1 });
    expect([total.medianMs, total.p95Ms]).toEqual([expect.closeTo(100, -1), expect.closeTo(100, -1)]);
    expect(servers[0]?.tools[0]?.connectMedianMs).toBeCloseTo(900, -2);
  });

  it('understands what the log writes', async () => {
    const entry = {
      time: new Date(0),
      traceId: 't',
      server: 's',
      tool: 't',
      outcome: 'success',
      durationMs: 5,
    } as const;
    writeFileSync(file, formatEntry(entry, { salt: Buffer.alloc(32), values: false, redact: createRedactor([]) }));
    expect(await summarizeAudit(file)).toMatchObject({ total: { calls: 1, errors: 0 }, damaged: 0 });
  });

  it('passes over damaged lines and counts them', async () => {
    const bad = ['{', 'null', '[]', '{"time":"x"}', line('a', 'b', 'odd', 1), line('a', 'b', 'success', -1), '\u0000'];
    writeFileSync(
      file,
      `${bad.map((text) => text.trim()).join('\n')}\n\n${line('a', 'b', 'success', 1)}${'x'.repeat(3_000_000)}`,
    );
    expect(await summarizeAudit(file)).toMatchObject({ total: { calls: 1 }, damaged: bad.length + 1 });
  });

  it('has no calls without a log', async () => {
    expect(await summarizeAudit(join(folder.path, 'none', 'audit.jsonl'))).toEqual({
      total: { calls: 0, errors: 0, refused: 0, cancelled: 0 },
      servers: [],
      mistaken: 0,
      dropped: 0,
      damaged: 0,
    });
    mkdirSync(file);
    expect((await summarizeAudit(file)).total.calls).toBe(0);
  });

  it('reads rotated files, but neither others nor those that are too old', async () => {
    writeFileSync(file, line('a', 'b', 'success', 1, '2026-02-01T00:00:00.000Z'));
    const rotated = `${file}.2026-01-05T00-00-00.000Z-abcdef`;
    writeFileSync(rotated, line('a', 'b', 'success', 1, '2026-01-04T00:00:00.000Z'));
    writeFileSync(`${file}.bak`, line('a', 'b', 'success', 1));
    expect((await summarizeAudit(file)).total.calls).toBe(2);
    expect((await summarizeAudit(file, { since: Date.parse('2026-01-20') })).total.calls).toBe(1);
    utimesSync(rotated, 0, 0);
    expect((await summarizeAudit(file, { since: Date.parse('2026-01-01') })).total.calls).toBe(1);
  });

  it('reads no more than it may, and tells no more tools apart than it may', async () => {
    writeFileSync(file, line('a', 'b', 'success', 1) + line('a', 'c', 'success', 1) + line('d', 'e', 'success', 1));
    const few = await summarizeAudit(file, { maxTools: 1 });
    expect(few.total.calls).toBe(3);
    expect(few.servers).toMatchObject([{ server: 'a', calls: 2, tools: [{ tool: 'b' }] }]);
    expect(await summarizeAudit(file, { maxBytes: 10 })).toMatchObject({
      total: { calls: 0 },
      incomplete: expect.any(String),
    });
  });

  it('reads the end of a file that is too long, from the first whole line on', async () => {
    const lines = Array.from({ length: 9 }, (_, at) => line('ä', `t${at}`, 'success', 1));
    const bytes = Buffer.byteLength(lines[0] ?? '');
    writeFileSync(file, lines.join(''));
    writeFileSync(`${file}.2026-01-01T00-00-00-000Z-abcdef`, lines.join(''));
    const read = async (maxBytes: number) => {
      const { total, damaged, incomplete, servers } = await summarizeAudit(file, { maxBytes });
      expect(damaged).toBe(0);
      expect(incomplete === undefined).toBe(maxBytes >= 18 * bytes);
      return [total.calls, servers[0]?.tools.some(({ tool }) => tool === 't8')];
    };
    expect(await read(3 * bytes)).toEqual([3, true]);
    expect(await read(3 * bytes + 1)).toEqual([3, true]);
    expect(await read(3 * bytes - 1)).toEqual([2, true]);
    expect(await read(9 * bytes)).toEqual([9, true]);
    expect(await read(11 * bytes)).toEqual([11, true]);
    expect(await read(18 * bytes)).toEqual([18, true]);
  });
});

describe('a histogram of durations', () => {
  it('gives every quantile within two per cent', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.01, max: 1e8, noNaN: true }), { minLength: 1, maxLength: 200 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (durations, q) => {
          const histogram = new LatencyHistogram();
          for (const ms of durations) histogram.add(ms);
          const exact = [...durations].sort((a, b) => a - b)[Math.max(1, Math.ceil(q * durations.length)) - 1] ?? 0;
          const found = histogram.quantile(q) ?? 0;
          expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.02);
        },
      ),
    );
    expect(new LatencyHistogram().quantile(0.5)).toBeUndefined();
  });
});
