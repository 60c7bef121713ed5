import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { config, defineConfig } from './define-config.ts';
import { toReferencePage } from './reference-page.ts';
import { limitsSchema } from './settings-schema.ts';

describe('the reference page', () => {
  it('is what docs/configuration.md holds; run `npm run build && npm run docs:config` when this fails', async () => {
    expect(await readFile(new URL('../../docs/configuration.md', import.meta.url), 'utf8')).toBe(toReferencePage());
  });

  it('has a row for every limit', () => {
    const page = toReferencePage();
    for (const key of Object.keys(limitsSchema.shape)) expect(page).toContain(`| \`${key}\` |`);
  });
});

describe('defineConfig', () => {
  it('returns its argument, wrapped or not', () => {
    const wrapped = { discovery: { cache: { ttl: 5 } }, other: 1 };
    expect(defineConfig(wrapped)).toBe(wrapped);
    expect(config({ enabled: false })).toEqual({ enabled: false });
  });

  it('lets the editor see mistakes', () => {
    defineConfig({
      discovery: {
        servers: [
          { name: 'a', connection: { type: 'stdio', command: 'x', args: ['y'] } },
          { name: 'b', connection: { type: 'http', url: 'https://x', auth: 'env' } },
        ],
        toolRules: [{ pattern: ['*'], tags: ['t'] }],
        log: { level: 'info', file: undefined },
      },
    });
    // @ts-expect-error a misspelt key
    defineConfig({ discovery: { cach: {} } });
    // @ts-expect-error a command is missing
    defineConfig({ servers: [{ name: 'a', connection: { type: 'stdio' } }] });
  });

  it('imports nothing at run time', async () => {
    const source = await readFile(new URL('./define-config.ts', import.meta.url), 'utf8');
    expect(source.match(/^import .*/gm)?.every((line) => line.startsWith('import type'))).toBe(true);
  });
});
