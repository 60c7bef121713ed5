import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { ServeLog } from './serve-log.ts';

const stderr = () => {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { lines, stream };
};

it('waits for the configuration before it says anything, and then says as much as that wants', () => {
  const { lines, stream } = stderr();
  const log = new ServeLog(stream, undefined);
  log.logger.warn({}, 'early');
  expect(lines).toEqual([]);
  log.configure({ level: 'warn', format: 'text' });
  log.logger.info({}, 'too much');
  log.logger.error({ server: 'x' }, 'late');
  expect(lines).toEqual(['anygpt: warn early\n', 'anygpt: error late server=x\n']);
});

it('says nothing when silence is configured, also of what came before', () => {
  const { lines, stream } = stderr();
  const log = new ServeLog(stream, undefined);
  log.logger.warn({}, 'early');
  log.configure({ level: 'silent', format: 'text' });
  log.logger.error({}, 'late');
  expect(lines).toEqual([]);
});

it('follows the command line rather than the configuration', () => {
  const { lines, stream } = stderr();
  const log = new ServeLog(stream, 'debug');
  log.configure({ level: 'silent', format: 'text' });
  log.logger.debug({}, 'all of it');
  expect(lines).toEqual(['anygpt: debug all of it\n']);
});

it('says what waited when no configuration ever came', () => {
  const { lines, stream } = stderr();
  const log = new ServeLog(stream, undefined);
  log.logger.warn({}, 'why it failed');
  log.close();
  expect(lines).toEqual(['anygpt: warn why it failed\n']);
});

it('writes to a file, and to stderr when that cannot be written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'anygpt-log-'));
  const { lines, stream } = stderr();
  const log = new ServeLog(stream, undefined);
  const file = join(folder, 'gateway.log');
  log.configure({ level: 'info', format: 'text', file });
  log.logger.info({}, 'kept');
  log.configure({ level: 'info', format: 'text', file: join(folder, 'missing', 'gateway.log') });
  await expect.poll(() => lines.join('')).toContain('cannot be written');
  log.logger.info({}, 'seen');
  expect(lines.at(-1)).toBe('anygpt: info seen\n');
  expect(readFileSync(file, 'utf8')).toMatch(/^\d{4}-.*Z info kept\n$/);
  log.close();
  rmSync(folder, { recursive: true });
});

it('writes JSON for programs, with the ids of the trace that a message belongs to', () => {
  const { lines, stream } = stderr();
  const log = new ServeLog(stream, undefined);
  log.ids = () => ({ trace_id: 't', span_id: 's' });
  log.logger.warn({}, 'early');
  log.configure({ level: 'warn', format: 'json' });
  log.logger.error({ server: 'x' }, 'late');
  const [early, late] = lines.map((line) => JSON.parse(line));
  expect(early).toMatchObject({ level: 'warn', message: 'early', time: expect.stringMatching(/^20.*Z$/) });
  expect(late).toMatchObject({ level: 'error', message: 'late', server: 'x', trace_id: 't', span_id: 's' });
});
