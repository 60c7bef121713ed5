import { expect, test } from 'vitest';
import type { Logger } from '../core/types.ts';
import { redactLog } from './redact-log.ts';

const redact = (text: string) => text.replaceAll('SECRET', '***');

test('every message and field of every level is redacted', () => {
  const said: unknown[] = [];
  const at = (...entry: unknown[]) => void said.push(entry);
  const log = redactLog({ debug: at, info: at, warn: at, error: at }, redact);
  for (const level of ['debug', 'info', 'warn', 'error'] as const satisfies (keyof Logger)[])
    log[level]({ a: 'SECRET', SECRET: [{ b: 'x SECRET' }, 1, null, true] }, 'the SECRET');
  const clean = [{ a: '***', '***': [{ b: 'x ***' }, 1, null, true] }, 'the ***'];
  expect(said).toEqual([clean, clean, clean, clean]);
});

test('an error shows its redacted facts, causes included', () => {
  const said: object[] = [];
  const log = redactLog({ warn: (fields: object) => said.push(fields) } as unknown as Logger, redact);
  const cause = Object.assign(new Error('under SECRET'), { code: 'SECRET_CODE' });
  log.warn({ err: new TypeError('bad SECRET', { cause }) });
  expect(said).toMatchObject([
    { err: { type: 'TypeError', message: 'bad ***', cause: { message: 'under ***', code: '***_CODE' } } },
  ]);
  expect(JSON.stringify(said)).not.toContain('SECRET');
});

test('fields that contain themselves end', () => {
  const said: object[] = [];
  const log = redactLog({ info: (fields: object) => said.push(fields) } as unknown as Logger, redact);
  const endless: Record<string, unknown> = {};
  endless.again = endless;
  log.info(endless);
  expect(JSON.stringify(said)).toContain('…');
});
