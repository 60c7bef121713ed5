import { expect, expectTypeOf, it } from 'vitest';
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
