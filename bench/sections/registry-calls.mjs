// Measures what a call through a registry costs beside the handler itself, one call at a time, as a median.
import { z } from 'zod/v4';
import { ToolRegistry, withRequestProviders } from '../../dist/registry.js';
import { median, percentile } from '../parts/statistics.mjs';

export const title = 'Calls through ToolRegistry, in µs';

const CALLS = 20_000;
const BATCH = 100;
const ARGUMENTS = { to: 'user@example.com', subject: 'Hello', body: 'World' };
const SCHEMA = {
  type: 'object',
  properties: { to: { type: 'string' }, subject: { type: 'string' }, body: { type: 'string' } },
  required: ['to', 'subject', 'body'],
};

/** Microseconds of one call, averaged over small batches: a single one is too short for the clock. */
const measureCalls = async (call) => {
  for (let warm = 0; warm < 2_000; warm++) await call();
  const samples = [];
  for (let batch = 0; batch < CALLS / BATCH; batch++) {
    const start = performance.now();
    for (let one = 0; one < BATCH; one++) await call();
    samples.push(((performance.now() - start) * 1_000) / BATCH);
  }
  return samples;
};

export const measure = async () => {
  const handler = ({ to }) => ({ content: [{ type: 'text', text: `Email sent to ${to}` }] });
  const registry = new ToolRegistry();
  const add = (name, inputSchema) => registry.registerTool({ name, description: name, inputSchema }, handler);
  add('plain', undefined);
  add('zod', z.object({ to: z.string(), subject: z.string(), body: z.string() }));
  add('json_schema', SCHEMA);
  const provider = new ToolRegistry();
  provider.registerTool({ name: 'provided', description: 'Provided', inputSchema: SCHEMA }, handler);
  registry.addProvider(provider);
  const stored = [{ name: 'stored', description: 'Stored', inputSchema: SCHEMA }];
  registry.addProvider({
    listToolMetadata: () => stored,
    getTool: () => undefined,
    callTool: (_name, args) => handler(args),
  });
  const request = new ToolRegistry();
  request.registerTool({ name: 'of_request', description: 'Of the request', inputSchema: SCHEMA }, handler);
  await registry.search('provided');
  await withRequestProviders(request, () => registry.search('request'));

  const direct = median(await measureCalls(async () => handler(ARGUMENTS)));
  const cases = [
    ['no schema', () => registry.callTool('plain', ARGUMENTS)],
    ['zod', () => registry.callTool('zod', ARGUMENTS)],
    ['raw JSON Schema', () => registry.callTool('json_schema', ARGUMENTS)],
    ['of a provider (another registry)', () => registry.callTool('provided', ARGUMENTS)],
    ['of a provider, arguments checked', () => registry.callTool('stored', ARGUMENTS)],
    ['of the request', () => withRequestProviders(request, () => registry.callTool('of_request', ARGUMENTS))],
  ];
  const lines = [{ what: 'handler alone', value: direct, unit: 'µs' }];
  for (const [what, call] of cases) {
    const samples = await measureCalls(call);
    lines.push({
      what: `added by the registry: ${what}`,
      value: Math.max(0, median(samples) - direct),
      unit: 'µs',
      budget: 50,
      note: `p99 of batches ${percentile(samples, 0.99).toFixed(1)} µs`,
    });
  }
  await registry.close();
  return lines;
};
