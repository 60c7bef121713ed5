import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { earlyFlags } from './optimise-early.ts';

describe('earlyFlags', () => {
  it('are some that this V8 knows, so that nothing is said on stderr', () => {
    const set = `require('node:v8').setFlagsFromString(${JSON.stringify(earlyFlags() ?? '')})`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', set], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('are none for a V8 that nobody has tried', () => {
    expect(earlyFlags('99.1.2')).toBeUndefined();
    expect(earlyFlags('none')).toBeUndefined();
  });
});
