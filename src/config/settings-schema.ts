/**
 * The settings that are not servers, sources or rules: cache, limits, retry, audit, log, validation. What people write
 * goes in, the same with every default filled in comes out. Descriptions here are the text of docs/configuration.md.
 * @module
 */
import * as z from 'zod/v4';

/** `setTimeout` takes no more than this; a longer wait would fire at once. */
const LONGEST_WAIT = 2_147_483_647;
const KIB = 1024;
const MIB = 1024 * KIB;

/** A duration in milliseconds. */
export const milliseconds = (description: string) =>
  z.int().min(1).max(LONGEST_WAIT).meta({ description, unit: 'milliseconds' });

/** A whole number of things, at least one. */
export const count = (description: string) => z.int().min(1).max(1_000_000_000).meta({ description });

const bytes = (description: string) => z.int().min(1).max(1_000_000_000_000).meta({ description, unit: 'bytes' });

/** Text that can name a file or folder. */
export const pathText = (description: string) =>
  z
    .string()
    .min(1)
    .max(4096)
    .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
    .meta({ description, unit: 'path' });

const cacheSchema = z.strictObject({
  enabled: z.boolean().default(true).describe('Keep tool lists on disk. `false`: in memory only.'),
  ttl: z.number().min(0).max(LONGEST_WAIT).default(3600).meta({
    description: 'How old a tool list may be before it is refreshed. `ANYGPT_CACHE_TTL` overrides.',
    unit: 'seconds',
  }),
  dir: pathText('Folder of the cache. Default `<state folder>/cache`. `ANYGPT_CACHE_DIR` overrides.').optional(),
});

const breakerSchema = z.strictObject({
  failures: count('Failures in a row that open the breaker.').default(5),
  rate: z.number().gt(0).max(1).default(0.5).describe('Share of failed calls within `window` that opens the breaker.'),
  minimum: count('Calls within `window` before `rate` counts.').default(10),
  window: milliseconds('The time over which calls are counted.').default(30_000),
  open: milliseconds('How long the breaker stays open before one call may probe.').default(30_000),
});

/** Every bound the gateway keeps, with its default. */
export const limitsSchema = z.strictObject({
  result: bytes('The largest result handed to a client in one piece; larger ones are cut and paged.').default(5 * MIB),
  message: bytes('The largest single message accepted from a server.').default(16 * MIB),
  callIdle: milliseconds(
    'A call without answer or progress for this long has timed out. A server’s `timeouts.call` overrides.',
  ).default(60_000),
  callCeiling: milliseconds('The longest a call may take, whatever its progress.').default(600_000),
  listPage: milliseconds('The longest one page of a tool list may take.').default(15_000),
  list: milliseconds('The longest a whole tool list may take.').default(60_000),
  listPages: count('Pages of one tool list.').default(200),
  toolsPerServer: count('Tools of one server.').default(10_000),
  tools: count('Tools of all servers together.').default(100_000),
  definition: bytes('One tool definition as JSON.').default(256 * KIB),
  schemaDepth: count('Nesting of one tool schema.').default(64),
  schemaNodes: count('Sub-schemas of one tool schema.').default(5_000),
  description: bytes('How much of a tool description is kept.').default(16 * KIB),
  concurrency: count('Calls in flight to one server. A server’s `concurrency` overrides.').default(16),
  queue: count('Calls waiting for one server.').default(64),
  queueWait: milliseconds('The longest a call waits for its turn.').default(10_000),
  inFlight: count('Calls in flight altogether.').default(512),
  inFlightPerClient: count('Calls in flight for one client.').default(64),
  validation: milliseconds('The longest the check of arguments or results against a schema may take.').default(50),
  stderr: bytes('How much of a local server’s stderr is kept.').default(64 * KIB),
  spawns: count('Local servers starting at once.').default(5),
  localServers: count('Local servers open at once; the least recently used closes first.').default(32),
  idle: milliseconds('An unused connection closes after this long.').default(300_000),
  auditLine: bytes('One line of the audit log.').default(8 * KIB),
  drain: milliseconds('How long calls in flight may finish at shutdown.').default(10_000),
  shutdown: milliseconds('The longest a whole shutdown may take.').default(20_000),
  breaker: breakerSchema.prefault({}).describe('When calls to a failing server are refused at once.'),
});

const retrySchema = z.strictObject({
  attempts: z.int().min(0).max(100).default(3).describe('How often a failed request that may be repeated is repeated.'),
  initial: milliseconds('The wait before the first repetition.').default(1_000),
  max: milliseconds('The longest wait between two attempts.').default(30_000),
  factor: z.number().min(1).max(100).default(2).describe('How the wait grows from attempt to attempt.'),
  jitter: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe('The random share of each wait, so that clients do not move in step.'),
});

const auditSchema = z.strictObject({
  enabled: z.boolean().default(true).describe('Write one line for every call.'),
  values: z.boolean().default(false).describe('Also write argument values (secrets are still masked).'),
  file: pathText('The audit file. Default `<state folder>/audit/audit.jsonl`.').optional(),
  maxBytes: bytes('Size at which a new file is begun.').default(10 * MIB),
  files: count('Files that are kept.').default(5),
  failClosed: z.boolean().default(false).describe('Refuse calls that cannot be recorded.'),
});

/** The levels a log may be set to, quietest last. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

const logSchema = z.strictObject({
  level: z.enum(LOG_LEVELS).default('info').describe('The least important messages that are still written.'),
  file: pathText('Write messages to this file. Default: stderr.').optional(),
});

const validationSchema = z.strictObject({
  output: z
    .enum(['off', 'warn', 'strict'])
    .default('warn')
    .describe(
      'What happens when a result breaks its tool’s output schema: nothing, a note in the audit log, or an error.',
    ),
});

/** The settings as fields, so that one file can hold them partly and the merged whole completely. */
export const settingsShape = {
  enabled: z.boolean().default(true).describe('`false`: no servers; the five tools say why.'),
  cache: cacheSchema.prefault({}).describe('How long tool lists are remembered, and where.'),
  rulePrecedence: z
    .enum(['first-match', 'deny-wins'])
    .default('first-match')
    .describe('`first-match`: the first matching rule with `enabled` decides. `deny-wins`: any matching disable does.'),
  search: z.strictObject({}).prefault({}).describe('Reserved for search settings; there are none yet.'),
  validation: validationSchema.prefault({}).describe('How strictly results are checked.'),
  limits: limitsSchema.prefault({}).describe('Every bound the gateway keeps.'),
  retry: retrySchema.prefault({}).describe('How requests that are safe to repeat are repeated.'),
  audit: auditSchema.prefault({}).describe('The record of every call.'),
  log: logSchema.prefault({}).describe('Messages for people.'),
};

/** The merged settings, complete. */
export const settingsSchema = z.strictObject(settingsShape);

/** The settings with every default filled in. */
export type Settings = z.output<typeof settingsSchema>;
