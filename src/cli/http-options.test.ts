import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { httpOptions } from './http-options.ts';
import type { Io } from './io.ts';

it.skipIf(!existsSync('/dev/full'))('an access log on a full disk is reported once, and requests go on', () => {
  const said: string[] = [];
  const io = { cwd: '/', stderr: { write: (text: string) => said.push(text) } } as unknown as Io;
  const { accessLog } = httpOptions({ http: '0', 'access-log': '/dev/full' }, io) ?? {};
  for (const line of ['{"a":1}', '{"a":2}']) accessLog?.(line);
  expect(said).toEqual([expect.stringMatching(/^anygpt: the access log cannot be written: ENOSPC/)]);
});
