import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { earlyFlag } from './optimise-early.ts';

describe('earlyFlag', () => {
  it('is one that this V8 knows, so that nothing is said on stderr', () => {
    const set = `require('node:v8').setFlagsFromString(${JSON.stringify(earlyFlag() ?? '')})`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', set], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('is none for a V8 that nobody has tried', () => {
    expect(earlyFlag('99.1.2')).toBeUndefined();
    expect(earlyFlag('none')).toBeUndefined();
  });
});
