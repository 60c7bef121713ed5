/** What must not compile does not: `tsc` fails on an expected error that is none. */
import type { Client } from '@modelcontextprotocol/client';
import type { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { McpServer as V1McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { McpServer, Server } from '@modelcontextprotocol/server';
import { toJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod/v4';
import type { AnyGptConfig, ToolContext as EngineToolContext, ToolSummary as EngineToolSummary } from '../../index.ts';
import {
  type CallToolResult,
  type ContentBlock,
  type JsonSchema,
  type ToolContext,
  ToolNotFoundError,
  type ToolProvider,
  type ToolRegistration,
  ToolRegistry,
  type ToolSummary,
  withRequestProviders,
} from '../../registry.ts';
import type { StaticToolAnswer } from '../unified/static-tool.ts';
import type { ListLimits } from './check-list.ts';
import type { ToJsonSchema } from './schema-export.ts';
import type { StandardJsonSchema, StandardResult } from './standard-schema.ts';

const INFO = { name: 'server', version: '1.0.0' };

/** Checked by the compiler, never run. */
function handlers(registry: ToolRegistry): void {
  registry.registerTool(
    { name: 'a', description: '', inputSchema: z.object({ to: z.string(), n: z.string().transform(Number) }) },
    (args, context) => {
      expectTypeOf(args).toEqualTypeOf<{ to: string; n: number }>();
      expectTypeOf(context).toEqualTypeOf<ToolContext>();
      return args.to;
    },
    'keyword',
  );
  registry.registerTool({ name: 'a', description: '', inputSchema: type({ to: 'string', 'n?': 'number' }) }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ to: string; n?: number }>();
    return args.to;
  });
  registry.registerTool({ name: 'a', description: '', inputSchema: v.object({ to: v.string() }) }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ to: string }>();
    return args.to;
  });
  registry.registerTool({ name: 'a', description: '', inputSchema: { type: 'object' } }, (args) => {
    expectTypeOf(args).toEqualTypeOf<Readonly<Record<string, unknown>>>();
    return { any: 'object' };
  });
  registry.registerTool({ name: 'a', description: '' }, (args) => {
    expectTypeOf(args).toEqualTypeOf<Readonly<Record<string, unknown>>>();
    return { content: [{ type: 'text', text: 'x' }] };
  });
  registry.registerTool({ name: 'a', description: '', outputSchema: z.object({ sum: z.number() }) }, async () => ({
    sum: 1,
  }));
  registry.registerTool({ name: 'a', description: '', outputSchema: z.object({ sum: z.number() }) }, () => ({
    content: [{ type: 'text', text: 'failed' }],
    isError: true,
  }));
  registry.registerTool({ name: 'a', description: '' }, () => null);
  registry.registerTool({ name: 'a', description: '' }, async () => null);
  registry.registerTool({ name: 'a', description: '' }, () => 5);
  registry.registerTool({ name: 'a', description: '' }, () => true);
  registry.registerTool({ name: 'a', description: '' }, () => [1, 2]);
  registry.registerTool({ name: 'a', description: '' }, () => {});
  registry.registerTool({ name: 'a', description: '' }, async () => {});
  registry.registerTool({ name: 'a', description: '' }, () => registry.callTool('b'));

  const tool = registry.registerTool('a', { description: '', inputSchema: z.object({ to: z.string() }) }, (args) => {
    expectTypeOf(args).toEqualTypeOf<{ to: string }>();
    return args.to;
  });
  tool.update({ handler: ({ to }) => to.toUpperCase() });
  tool.update({ inputSchema: z.object({ n: z.number() }), handler: ({ n }) => n.toFixed() });
  // @ts-expect-error the schema has no such property
  tool.update({ handler: ({ from }) => from });
  // @ts-expect-error misspelt
  tool.update({ descripton: '' });

  // Raw JSON Schema, written in place or as const.
  const properties = {
    to: { type: 'string' },
    size: { enum: ['small', 'large'] },
    count: { type: ['integer', 'null'] },
    at: { anyOf: [{ type: 'string' }, { const: 5 }] },
    tags: { type: 'array', items: { type: 'string' } },
    more: { type: 'object', additionalProperties: { type: 'boolean' } },
    deep: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] },
    other: { $ref: '#/$defs/other' },
  } as const;
  interface Raw {
    readonly to: string;
    readonly size: 'small' | 'large';
    readonly count?: number | null;
    readonly at?: string | 5;
    readonly tags?: readonly string[];
    readonly more?: Readonly<Record<string, boolean>>;
    readonly deep?: { readonly on: boolean };
    readonly other?: unknown;
  }
  const raw = { type: 'object', properties, required: ['to', 'size'] } as const;
  registry.registerTool('a', { description: '', inputSchema: raw }, (args) => {
    expectTypeOf(args).toEqualTypeOf<Raw>();
    return args.to;
  });
  registry.registerTool({ name: 'a', description: '', inputSchema: raw }, ({ size }) => size);
  registry.registerTool(
    'a',
    { description: '', inputSchema: { properties: { n: { type: 'number' } }, required: ['n'] } },
    ({ n }) => n.toFixed(),
  );
  // @ts-expect-error the schema has no such property
  registry.registerTool('a', { description: '', inputSchema: raw }, ({ recipient }) => String(recipient));
  const unknownSchema: JsonSchema = raw;
  registry.registerTool('a', { description: '', inputSchema: unknownSchema }, (args) => {
    expectTypeOf(args).toEqualTypeOf<Readonly<Record<string, unknown>>>();
    return '';
  });
  const loose = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] };
  registry.registerTool('a', { description: '', inputSchema: loose }, ({ to }) => {
    expectTypeOf(to).toEqualTypeOf<unknown>();
    return '';
  });

  const inputSchema = z.object({ to: z.string() });
  // @ts-expect-error the schema has no such property
  registry.registerTool({ name: 'a', description: '', inputSchema }, ({ recipient }) => String(recipient));
  // @ts-expect-error the property has another type
  registry.registerTool({ name: 'a', description: '', inputSchema }, ({ to }: { to: number }) => String(to));
  // @ts-expect-error a function is nothing that can be sent
  registry.registerTool({ name: 'a', description: '', outputSchema: z.object({}) }, () => Symbol('x'));
  // @ts-expect-error not what the output schema says
  registry.registerTool({ name: 'a', description: '', outputSchema: z.object({ sum: z.number() }) }, () => ({
    sum: 'one',
  }));
  // @ts-expect-error misspelt
  registry.registerTool({ name: 'a', description: '', inputSchemas: inputSchema }, () => '');
  // @ts-expect-error a description is needed
  registry.registerTool({ name: 'a' }, () => '');
  // @ts-expect-error keywords are texts, one after another
  registry.registerTool({ name: 'a', description: '' }, () => '', ['keyword']);
  // @ts-expect-error visible is true or false
  const wrong: ToolRegistration = { name: 'a', description: '', visible: 'yes' };
  registry.registerTool(wrong, () => '');
}

/** Checked by the compiler, never run. */
function providers(registry: ToolRegistry): void {
  const good: ToolProvider = {
    listToolMetadata: () => [{ name: 'a' }],
    getTool: async (name) => ({ name, inputSchema: {} }),
    callTool: (name) => {
      throw new ToolNotFoundError(name);
    },
  };
  registry.addProvider(good);
  registry.addProvider(new ToolRegistry());
  withRequestProviders([good, registry], () => 1).toFixed();
  // @ts-expect-error two methods are missing
  registry.addProvider({ listToolMetadata: () => [] });
  // @ts-expect-error tools have names
  registry.addProvider({ ...good, listToolMetadata: () => [{ title: 'a' }] });
  // @ts-expect-error a definition has a schema
  registry.addProvider({ ...good, getTool: (name) => ({ name }) });
  // @ts-expect-error a call gives a result
  registry.addProvider({ ...good, callTool: () => 'text' });
  // @ts-expect-error providers, not their names
  withRequestProviders(['crm'], () => 1);
}

/** What the SDKs give and take fits, also where optional means optional; checked by the compiler, never run. */
async function sdks(registry: ToolRegistry, client: Client, client1: V1Client): Promise<void> {
  registry.addProvider({
    listToolMetadata: async () => (await client.listTools()).tools,
    getTool: async (name) => (await client.listTools()).tools.find((tool) => tool.name === name),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
  });
  registry.addProvider({
    listToolMetadata: async () => (await client1.listTools()).tools,
    getTool: async (name) => (await client1.listTools()).tools.find((tool) => tool.name === name),
    callTool: async (name, args) => (await client1.callTool({ name, arguments: args })) as CallToolResult,
  });
  new McpServer(INFO).registerTool('a', {}, () => registry.callTool('b'));
  new V1McpServer(INFO).registerTool('a', {}, () => registry.callTool('b'));

  const { content, structuredContent } = await registry.callTool('b');
  for (const block of content) if (block.type === 'text') expectTypeOf(block.text).toEqualTypeOf<string>();
  expectTypeOf(structuredContent).toEqualTypeOf<Record<string, unknown> | undefined>();
  const block: ContentBlock = { type: 'text' };
  expectTypeOf(block.text).toEqualTypeOf<string | undefined>();
}

/** Checked by the compiler, never run. */
function servers(registry: ToolRegistry): void {
  registry.attach(new McpServer(INFO), { mode: ({ header }) => (header('x') ? 'show-all' : 'hidden') });
  registry.attach(new Server(INFO), { providersFor: async ({ authInfo }) => (authInfo ? [registry] : undefined) });
  registry.attach(new V1McpServer(INFO));
  registry.attach(new V1McpServer(INFO).server, { compact: true });
  // @ts-expect-error no server
  registry.attach({});
  // @ts-expect-error no such mode
  registry.attach(new McpServer(INFO), { mode: 'all' });
  // @ts-expect-error misspelt
  registry.attach(new McpServer(INFO), { providerFor: () => [] });
  // @ts-expect-error misspelt
  new ToolRegistry({ toJSONSchema: () => ({}) });
  // @ts-expect-error misspelt
  new ToolRegistry({ providers: { ttl: 5 } });
  // @ts-expect-error misspelt
  registry.search('x', { max_results: 5 });
  // @ts-expect-error arguments are an object
  registry.callTool('x', 'y');
}

/** What a program may want to name can be imported; checked by the compiler, never run. */
function named(
  limits: ListLimits,
  answer: StaticToolAnswer,
  result: StandardResult<number>,
  written: StandardJsonSchema,
  contexts: [ToolContext, EngineToolContext],
  tools: [ToolSummary, EngineToolSummary],
  config: AnyGptConfig,
): unknown {
  const convert: ToJsonSchema = (schema, { typeMode }) => toJsonSchema(schema, { typeMode });
  new ToolRegistry({ toJsonSchema: convert, providers: { maxTools: limits.maxTools, checkArguments: false } });
  new ToolRegistry({ toJsonSchema });
  new ToolRegistry({ toJsonSchema: (schema: object) => schema });
  return [answer, result, written, contexts, tools, config];
}

it('types are checked by the compiler', () => {
  expect([handlers, providers, sdks, servers, named]).toHaveLength(5);
});
