import { readFile } from 'node:fs/promises';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type * as z from 'zod/mini';
import { type AnyGptConfig, config, type DiscoveryConfig, defineConfig } from './define-config.ts';
import type { discoverySchema } from './schema.ts';

it('gives a configuration back as it is, and its author types are those of the schema', () => {
  const section: DiscoveryConfig = { servers: [{ name: 'a', connection: { type: 'stdio', command: 'node' } }] };
  const whole: AnyGptConfig = { discovery: section, other: 1 };
  expect(defineConfig(section)).toBe(section);
  expect(config(whole)).toBe(whole);
  expectTypeOf<DiscoveryConfig>().toExtend<z.input<typeof discoverySchema>>();
  expectTypeOf<z.input<typeof discoverySchema>>().toExtend<DiscoveryConfig>();
  // @ts-expect-error misspelt
  defineConfig({ servers: [{ name: 'a', connection: { type: 'stdio', comand: 'node' } }] });
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
