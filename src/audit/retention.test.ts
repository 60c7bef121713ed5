import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/fixtures/gateway/kit.ts';
import type { AuditEntry } from './audit-entry.ts';
import { AuditLog } from './audit-log.ts';
import { summarizeAudit } from './audit-summary.ts';
import { JsonlSink } from './jsonl-sink.ts';
import { RefusalSink, refusalFile } from './refusal-sink.ts';
import { retain } from './retention.ts';

let folder: ReturnType<typeof tempFolder>;
let file: string;
beforeEach(() => {
  folder = tempFolder();
  file = join(folder.path, 'audit.jsonl');
});
afterEach(() => folder[Symbol.dispose]());

const salt = new Uint8Array(32);
const call = (more: Partial<AuditEntry> = {}): AuditEntry => ({
  time: new Date(),
  traceId: 'trace',
  server: 's',
  tool: 't',
  outcome: 'success',
  durationMs: 1,
  ...more,
});
const refusal = (more: Partial<AuditEntry> = {}): AuditEntry =>
  call({ outcome: 'refused', code: 'TOOL_DISABLED', durationMs: 0, ...more });
const everything = (): Record<string, unknown>[] =>
  readdirSync(folder.path)
    .flatMap((name) => readFileSync(join(folder.path, name), 'utf8').split('\n'))
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const has = (tool: string) => everything().some((line) => line.tool === tool && line.outcome === 'success');

/** A log as the engine creates it. */
const logOf = (options: { readonly maxBytes: number; readonly files: number }, foldMs?: number) =>
  new AuditLog({
    sink: new JsonlSink({ file, ...options }),
    refusals: new RefusalSink({ file, ...options }),
    salt,
    foldMs,
  });
const SMALL = { maxBytes: 8_000, files: 2 };

describe('a flood of refused calls', () => {
  it('of one tool is folded into a few lines that say how many there were', async () => {
    const log = logOf(SMALL);
    log.record(call({ tool: 'wanted' }));
    for (let at = 0; at < 16_400; at++) log.record(refusal());
    expect(log.stats()).toMatchObject({ recorded: 16_401, folded: 16_390, dropped: 0 });
    await log.close();
    expect(has('wanted')).toBe(true);
    const lines = everything().filter(({ outcome }) => outcome === 'refused');
    expect(lines.length).toBeLessThan(20);
    expect(lines.reduce((sum, { count = 1 }) => sum + Number(count), 0)).toBe(16_400);
    expect((await summarizeAudit(file)).total).toMatchObject({ calls: 16_401, refused: 16_400 });
  });

  it.each([undefined, 0])('of different names leaves the calls that were made, with foldMs %s', async (foldMs) => {
    const log = logOf(SMALL, foldMs);
    log.record(call({ tool: 'wanted' }));
    await log.flush();
    for (let at = 0; at < 16_400; at++) {
      log.record(refusal({ server: `made-up-${at}`, tool: `tool-${at}`, session: `${at % 7}` }));
      if (at % 1_000 === 0) await log.flush();
    }
    await log.close();
    expect(has('wanted')).toBe(true);
    expect(readFileSync(file, 'utf8').length).toBeLessThan(SMALL.maxBytes / 2);
    const { total, dropped } = await summarizeAudit(file);
    expect(total.refused + dropped).toBe(16_400);
    expect(log.stats().dropped).toBe(0);
  });

  it('in many short processes leaves them, too', async () => {
    const first = logOf(SMALL);
    first.record(call({ tool: 'wanted' }));
    await first.close();
    for (let at = 0; at < 100; at++) {
      const log = logOf(SMALL);
      log.record(refusal({ tool: `tool-${at}` }));
      await log.close();
    }
    expect(has('wanted')).toBe(true);
    expect(readFileSync(refusalFile(file), 'utf8')).toContain('TOOL_DISABLED');
  });

  it('that were cancelled before they began leaves them, too', async () => {
    const log = logOf(SMALL);
    log.record(call({ tool: 'wanted' }));
    for (let at = 0; at < 5_000; at++)
      log.record(call({ tool: `t${at}`, outcome: 'cancelled', code: 'CANCELLED', sent: false }));
    await log.close();
    expect(has('wanted')).toBe(true);
  });
});

describe('a flood of calls', () => {
  it('of one tool leaves those of others on record, and counts what had to go', async () => {
    const log = logOf(SMALL);
    log.record(call({ tool: 'wanted' }));
    for (let at = 0; at < 3_000; at++) {
      log.record(call({ tool: 'noisy', traceId: `trace-${at}` }));
      if (at % 20 === 0) await log.flush();
    }
    await log.close();
    expect(has('wanted')).toBe(true);
    const { total, dropped } = await summarizeAudit(file);
    expect(dropped).toBeGreaterThan(2_000);
    expect(total.calls + dropped).toBe(3_001);
  });

  it('of many tools of one server leaves those of other servers on record', async () => {
    const log = logOf(SMALL);
    log.record(call({ server: 'good', tool: 'wanted' }));
    for (let at = 0; at < 3_000; at++) {
      log.record(call({ server: 'many', tool: `tool-${at % 1_000}` }));
      if (at % 20 === 0) await log.flush();
    }
    await log.close();
    expect(has('wanted')).toBe(true);
    const { total, dropped } = await summarizeAudit(file);
    expect(total.calls + dropped).toBe(3_001);
  });
});

describe('retention', () => {
  const DAY = 86_400_000;
  const rotated = (name: string, age: number, lines: readonly string[]) => {
    const path = `${file}.${name}`;
    mkdirSync(folder.path, { recursive: true });
    writeFileSync(path, `${lines.join('\n')}\n`);
    const at = new Date(Date.now() - age);
    utimesSync(path, at, at);
  };
  const line = (tool: string, server = 's') =>
    JSON.stringify({ time: new Date().toISOString(), server, tool, outcome: 'success' });
  const RULES = { files: 5, days: 30, perTool: 10, keptBytes: 10_000 };

  it('removes files that are older than so many days, and counts their records', async () => {
    rotated('2026-01-01T00-00-00.000Z-aaaaaa', 33 * DAY, [line('old'), '{"event":"dropped","count":7}']);
    rotated('2026-02-01T00-00-00.000Z-bbbbbb', DAY, [line('new')]);
    rotated('2026-02-02T00-00-00.000Z-cccccc', 0, [line('new')]);
    expect(await retain(file, RULES, Date.now())).toBe(8);
    expect(readdirSync(folder.path)).toEqual(
      ['02-01T00-00-00.000Z-bbbbbb', '02-02T00-00-00.000Z-cccccc'].map((name) => `audit.jsonl.2026-${name}`),
    );
  });

  it('removes nothing because the clock is years ahead', async () => {
    const years = 10 * 365 * DAY;
    for (const [at, age] of [9, 8, 7, -years / DAY].entries())
      rotated(`2026-01-0${at}T00-00-00.000Z-aaaaaa`, age * DAY, [line('wanted')]);
    expect(await retain(file, RULES, Date.now() + years)).toBe(0);
    expect(readdirSync(folder.path)).toHaveLength(4);
  });

  it('goes on after a process that died between two steps, without counting a record twice', async () => {
    const lines = ['a', 'b'].map((tool) => line(tool));
    rotated('2026-01-01T00-00-00.000Z-aaaaaa', 0, lines);
    rotated('kept', 0, lines);
    rotated('kept.abcdef', DAY, ['half a li']);
    expect(await retain(file, { ...RULES, files: 0 }, Date.now())).toBe(0);
    expect(readdirSync(folder.path)).toEqual(['audit.jsonl.kept']);
    expect(readFileSync(`${file}.kept`, 'utf8').trim().split('\n').sort()).toEqual([...lines].sort());
  });

  it('keeps within its bytes, the newest first', async () => {
    const many = Array.from({ length: 500 }, (_, at) => line(`tool-${String(at).padStart(3, '0')}`));
    rotated('2026-01-01T00-00-00.000Z-aaaaaa', 0, many);
    const dropped = await retain(file, { ...RULES, files: 0, keptBytes: 2_000 }, Date.now());
    const kept = readFileSync(`${file}.kept`, 'utf8');
    expect(kept.length).toBeLessThanOrEqual(2_000);
    expect(kept.trim().split('\n').length + dropped).toBe(500);
  });

  it('gives every server the same room, and what one does not need to the others', async () => {
    const of = (server: string, tools: number) => Array.from({ length: tools }, (_, at) => line(`tool-${at}`, server));
    const lines = [of('few', 3), of('some', 40), of('many', 900), of('more', 900)];
    rotated('2026-01-01T00-00-00.000Z-aaaaaa', 0, lines.flat());
    const dropped = await retain(file, { ...RULES, files: 0, keptBytes: 20_000 }, Date.now());
    const kept = readFileSync(`${file}.kept`, 'utf8');
    const left = (server: string) => kept.split(`"server":"${server}"`).length - 1;
    expect([left('few'), left('some')]).toEqual([3, 40]);
    expect(Math.abs(left('many') - left('more'))).toBeLessThan(3);
    expect(kept.length).toBeGreaterThan(19_000);
    expect(kept.length).toBeLessThanOrEqual(20_000);
    expect(kept.trim().split('\n').length + dropped).toBe(1_843);
  });
});

describe('the line of a call that is about to be sent', () => {
  const sending = (traceId: string) =>
    JSON.stringify({ time: '2026-01-01T00:00:00.000Z', event: 'sending', traceId, server: 's', tool: 't' });
  const ended = (traceId: string) =>
    JSON.stringify({
      time: '2026-01-01T00:00:01.000Z',
      traceId,
      server: 's',
      tool: 't',
      outcome: 'success',
      durationMs: 1,
    });

  it('is kept if the process was killed before the call ended, and only then', async () => {
    const rotated = (day: number) => `${file}.2026-01-0${day}T00-00-00.000Z-00000${day}`;
    writeFileSync(rotated(1), `${[sending('ran'), sending('killed'), ended('ran')].join('\n')}\n`);
    writeFileSync(rotated(2), `${[sending('across')].join('\n')}\n`);
    writeFileSync(rotated(3), `${[ended('across')].join('\n')}\n`);
    const limits = { days: 1_000_000, perTool: 10, keptBytes: 10_000 };
    expect(await retain(file, { ...limits, files: 1 }, Date.now())).toBe(0);
    expect(await retain(file, { ...limits, files: 0 }, Date.now())).toBe(0);
    const left = everything().map(({ traceId, event }) => `${traceId} ${event ?? 'ended'}`);
    expect(left.sort()).toEqual(['across ended', 'killed sending', 'ran ended']);
  });
});
