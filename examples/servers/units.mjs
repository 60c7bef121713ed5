/**
 * Sample MCP server: unit conversion. Speaks MCP on stdio, holds no state, and shows tools with an output schema.
 * @module
 */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

/** Per quantity: what one unit is worth in the first unit listed. */
const FACTORS = {
  length: { m: 1, km: 1000, cm: 0.01, mm: 0.001, mi: 1609.344, yd: 0.9144, ft: 0.3048, in: 0.0254, nmi: 1852 },
  weight: { kg: 1, g: 0.001, mg: 0.000001, t: 1000, lb: 0.45359237, oz: 0.028349523125, st: 6.35029318 },
  volume: { l: 1, ml: 0.001, m3: 1000, gal: 3.785411784, qt: 0.946352946, cup: 0.2365882365, floz: 0.0295735295625 },
  area: { m2: 1, km2: 1e6, cm2: 1e-4, ha: 1e4, acre: 4046.8564224, ft2: 0.09290304, mi2: 2589988.110336 },
  speed: { 'm/s': 1, 'km/h': 1 / 3.6, mph: 0.44704, kn: 1852 / 3600, 'ft/s': 0.3048 },
  data_size: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 },
  duration: { s: 1, ms: 0.001, min: 60, h: 3600, d: 86_400, week: 604_800 },
};

const ABOUT = {
  length: 'Convert a length or distance between metric, imperial and nautical units, for example miles to kilometres.',
  weight: 'Convert a weight or mass, for example pounds to kilograms or ounces to grams.',
  volume: 'Convert a volume, for example US gallons to litres or cups to millilitres when cooking.',
  area: 'Convert an area, for example acres to hectares or square feet to square metres.',
  speed: 'Convert a speed, for example kilometres per hour to miles per hour or knots.',
  data_size: 'Convert an amount of data between decimal (MB, GB) and binary (MiB, GiB) units.',
  duration: 'Convert a length of time, for example weeks to hours.',
};

const TO_CELSIUS = { C: (t) => t, F: (t) => ((t - 32) * 5) / 9, K: (t) => t - 273.15 };
const FROM_CELSIUS = { C: (t) => t, F: (t) => (t * 9) / 5 + 32, K: (t) => t + 273.15 };

const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const outputSchema = z.object({ value: z.number(), unit: z.string() });
const rounded = (value) => Number(value.toPrecision(12));
const answer = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value });

/** Builds one server. */
const build = () => {
  const server = new McpServer(
    { name: 'units', title: 'Unit converter', version: '1.0.0' },
    { instructions: 'Exact unit conversion. Units are written as their usual symbols, for example km, lb, GiB.' },
  );

  for (const [quantity, factors] of Object.entries(FACTORS)) {
    const unit = z.enum(Object.keys(factors));
    server.registerTool(
      `convert_${quantity}`,
      {
        description: ABOUT[quantity],
        inputSchema: z.object({ value: z.number().describe('The number to convert'), from: unit, to: unit }),
        outputSchema,
        annotations: readOnly,
      },
      async ({ value, from, to }) => answer({ value: rounded((value * factors[from]) / factors[to]), unit: to }),
    );
  }

  const degree = z.enum(['C', 'F', 'K']);
  server.registerTool(
    'convert_temperature',
    {
      description: 'Convert a temperature between Celsius, Fahrenheit and Kelvin.',
      inputSchema: z.object({ value: z.number().describe('Degrees'), from: degree, to: degree }),
      outputSchema,
      annotations: readOnly,
    },
    async ({ value, from, to }) => {
      const celsius = TO_CELSIUS[from](value);
      if (celsius < -273.15) {
        return { content: [{ type: 'text', text: 'That is below absolute zero (-273.15 °C).' }], isError: true };
      }
      return answer({ value: rounded(FROM_CELSIUS[to](celsius)), unit: to });
    },
  );

  server.registerTool(
    'list_units',
    {
      description: 'List the units this server knows, by quantity.',
      inputSchema: z.object({}),
      annotations: readOnly,
    },
    async () => {
      const known = Object.entries(FACTORS).map(([quantity, factors]) => [quantity, Object.keys(factors)]);
      return answer(Object.fromEntries([...known, ['temperature', ['C', 'F', 'K']]]));
    },
  );

  return server;
};

serveStdio(build);
