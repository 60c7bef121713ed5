/**
 * Sample MCP server: weather for six cities from canned data, the same on every run. Speaks MCP on stdio.
 * Built on the low-level Server with raw JSON Schema, the way servers look that do not use zod.
 * @module
 */
import { fromJsonSchema, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const CITIES = {
  Berlin: { country: 'DE', celsius: 6, humidity: 82, windKmh: 14, sky: 'overcast', aqi: 38, sun: ['07:24', '16:12'] },
  Cairo: { country: 'EG', celsius: 25, humidity: 41, windKmh: 11, sky: 'clear', aqi: 132, sun: ['06:22', '16:57'] },
  Lima: { country: 'PE', celsius: 19, humidity: 78, windKmh: 16, sky: 'fog', aqi: 71, sun: ['05:33', '18:13'] },
  Oslo: { country: 'NO', celsius: -2, humidity: 88, windKmh: 9, sky: 'snow', aqi: 22, sun: ['08:14', '15:45'] },
  Sydney: { country: 'AU', celsius: 23, humidity: 60, windKmh: 21, sky: 'sunny', aqi: 29, sun: ['05:44', '19:37'] },
  Tokyo: { country: 'JP', celsius: 14, humidity: 55, windKmh: 12, sky: 'clear', aqi: 45, sun: ['06:19', '16:33'] },
};
const ALERTS = [
  {
    city: 'Oslo',
    level: 'yellow',
    event: 'snow',
    text: 'Up to 10 cm of new snow until tomorrow noon; roads may be icy.',
  },
  { city: 'Sydney', level: 'orange', event: 'wind', text: 'Gusts of up to 90 km/h along the coast this evening.' },
];
const SWING = [0, 1, -1, 2, 0, -2, 1];

const city = { type: 'string', enum: Object.keys(CITIES), description: 'Name of the city' };
const object = (properties, required = []) => ({ type: 'object', properties, required, additionalProperties: false });
const current = (name) => {
  const { sun, aqi, ...now } = CITIES[name];
  return { city: name, ...now };
};

const TOOLS = [
  {
    name: 'list_cities',
    description: 'List the cities for which weather is known, with their country codes.',
    inputSchema: object({}),
    run: () => Object.entries(CITIES).map(([name, { country }]) => ({ city: name, country })),
  },
  {
    name: 'current_weather',
    description: 'Tell the weather right now in a city: temperature, humidity, wind and sky.',
    inputSchema: object({ city }, ['city']),
    run: (args) => current(args.city),
  },
  {
    name: 'forecast',
    description: 'Forecast the weather of a city for the next one to seven days.',
    inputSchema: object({ city, days: { type: 'integer', minimum: 1, maximum: 7, default: 3 } }, ['city']),
    run: ({ city: name, days = 3 }) =>
      SWING.slice(0, days).map((swing, day) => ({
        day: day + 1,
        low: CITIES[name].celsius + swing - 4,
        high: CITIES[name].celsius + swing + 3,
        sky: CITIES[name].sky,
      })),
  },
  {
    name: 'compare_weather',
    description: 'Compare the weather now in several cities, warmest first.',
    inputSchema: object({ cities: { type: 'array', items: city, minItems: 2, uniqueItems: true } }, ['cities']),
    run: (args) => args.cities.map(current).sort((a, b) => b.celsius - a.celsius),
  },
  {
    name: 'severe_weather_alerts',
    description: 'List current storm, snow, flood and heat warnings, for one city or for all.',
    inputSchema: object({ city }),
    run: (args) => ALERTS.filter((alert) => args.city === undefined || alert.city === args.city),
  },
  {
    name: 'sunrise_sunset',
    description: 'Tell when the sun rises and sets in a city today, in local time.',
    inputSchema: object({ city }, ['city']),
    run: (args) => ({ city: args.city, sunrise: CITIES[args.city].sun[0], sunset: CITIES[args.city].sun[1] }),
  },
  {
    name: 'air_quality',
    description: 'Report the air quality index (AQI) of a city and whether it is safe to exercise outdoors.',
    inputSchema: object({ city }, ['city']),
    run: (args) => ({ city: args.city, aqi: CITIES[args.city].aqi, outdoorExercise: CITIES[args.city].aqi <= 100 }),
  },
];

const byName = new Map(TOOLS.map((tool) => [tool.name, { ...tool, schema: fromJsonSchema(tool.inputSchema) }]));
const listed = TOOLS.map(({ run, ...tool }) => ({ ...tool, annotations: { readOnlyHint: true } }));
const text = (value) => [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }];

/** Builds one server. */
const build = () => {
  const server = new Server(
    { name: 'weather', title: 'Weather', version: '1.0.0' },
    { capabilities: { tools: {} }, instructions: 'Weather, warnings and air quality for six cities.' },
  );
  server.setRequestHandler('tools/list', async () => ({ tools: listed }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = byName.get(params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    const checked = await tool.schema['~standard'].validate(params.arguments ?? {});
    if (checked.issues) {
      return { content: text(checked.issues.map((issue) => issue.message).join('; ')), isError: true };
    }
    return { content: text(tool.run(checked.value)) };
  });
  return server;
};

serveStdio(build);
