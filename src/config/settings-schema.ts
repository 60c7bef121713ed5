/**
 * Defines the schema of the settings other than servers, sources and rules: cache, limits, retry, audit, log,
 * validation. Parsing fills in every default. The descriptions are the text of docs/configuration.md.
 * @module
 */
import * as z from 'zod/mini';
import {
  bytes,
  bytesOrNone,
  count,
  described,
  flag,
  group,
  LONGEST_WAIT,
  milliseconds,
  optional,
  path,
  setting,
  textUpTo,
  wholeNumber,
} from './fields.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const cacheSchema = z.strictObject({
  enabled: setting(flag, true, 'Keep tool lists on disk. `false`: in memory only.'),
  ttl: setting(
    z.number().check(z.gte(0), z.lte(LONGEST_WAIT)).register(z.globalRegistry, { unit: 'seconds' }),
    3600,
    'The age at which a tool list is refreshed. `ANYGPT_CACHE_TTL` overrides.',
  ),
  dir: optional(path, 'Folder of the cache. Default `<state folder>/cache`. `ANYGPT_CACHE_DIR` overrides.'),
});

const breakerSchema = z.strictObject({
  failures: setting(count, 5, 'Failures in a row that open the breaker.'),
  rate: setting(
    z.number().check(z.gt(0), z.lte(1)),
    0.5,
    'Share of failed calls within `window` that opens the breaker.',
  ),
  minimum: setting(count, 10, 'Calls within `window` before `rate` counts.'),
  window: setting(milliseconds, 30_000, 'The period over which calls are counted.'),
  open: setting(milliseconds, 30_000, 'How long the breaker stays open before one call may probe.'),
});

/** Every limit of the gateway, with its default. */
export const limitsSchema = z.strictObject({
  result: setting(bytes, 5 * MIB, 'The largest result returned to a client in one piece; larger results are paged.'),
  message: setting(bytes, 16 * MIB, 'The largest single message accepted from a server.'),
  messageValues: setting(
    count,
    200_000,
    'Values in one message from a server of more than 256 KiB; a quarter as many names in one object, five times as many values in one page of a tool list. A message with more is refused without parsing.',
  ),
  callIdle: setting(
    milliseconds,
    60_000,
    'A call without answer or progress for this long times out. A server’s `timeouts.call` overrides.',
  ),
  callCeiling: setting(milliseconds, 600_000, 'The longest a call may take, even with progress.'),
  listPage: setting(milliseconds, 15_000, 'Timeout for one page of a tool list.'),
  list: setting(milliseconds, 60_000, 'Timeout for a whole tool list.'),
  listPages: setting(count, 200, 'Pages of one tool list.'),
  toolsPerServer: setting(count, 10_000, 'Tools of one server.'),
  tools: setting(count, 100_000, 'Tools of all servers together.'),
  definition: setting(bytes, 256 * KIB, 'One tool definition as JSON.'),
  schemaDepth: setting(count, 64, 'Nesting of one tool schema.'),
  schemaNodes: setting(count, 5_000, 'Sub-schemas of one tool schema.'),
  description: setting(bytes, 16 * KIB, 'How much of a tool description is kept.'),
  concurrency: setting(count, 16, 'Calls in flight to one server. A server’s `concurrency` overrides.'),
  queue: setting(count, 64, 'Calls waiting for one server.'),
  queueWait: setting(milliseconds, 10_000, 'The longest a call waits in the queue.'),
  inFlight: setting(count, 512, 'Calls in flight altogether.'),
  inFlightPerClient: setting(count, 64, 'Calls in flight for one client.'),
  validation: setting(milliseconds, 50, 'Timeout for checking arguments or results against a schema.'),
  stderr: setting(bytesOrNone, 64 * KIB, 'How much of a local server’s stderr is kept; 0: nothing.'),
  spawns: setting(count, 5, 'Local servers starting at once.'),
  localServers: setting(
    count,
    32,
    'Local servers open at once; the least recently used closes first, and no single server takes all.',
  ),
  idle: setting(milliseconds, 300_000, 'An unused connection closes after this long.'),
  auditLine: setting(bytes, 8 * KIB, 'One line of the audit log.'),
  drain: setting(milliseconds, 10_000, 'How long calls in flight may take to finish at shutdown.'),
  shutdown: setting(milliseconds, 20_000, 'Timeout for a whole shutdown.'),
  breaker: group(breakerSchema, 'The circuit breaker: when calls to a failing server are refused at once.'),
});

const retrySchema = z.strictObject({
  attempts: setting(wholeNumber(0, 100), 3, 'How often a failed request is retried, if it is safe to retry.'),
  initial: setting(milliseconds, 1_000, 'The delay before the first retry.'),
  max: setting(milliseconds, 30_000, 'The longest delay between two attempts.'),
  factor: setting(z.number().check(z.gte(1), z.lte(100)), 2, 'The factor by which the delay grows with each attempt.'),
  jitter: setting(
    z.number().check(z.gte(0), z.lte(1)),
    0.1,
    'The random share of each delay, so that clients do not retry in step.',
  ),
});

const auditSchema = z.strictObject({
  enabled: setting(flag, true, 'Write one line for every call.'),
  values: setting(flag, false, 'Also write argument values (secrets are still masked).'),
  file: optional(path, 'The audit file. Default `<state folder>/audit/audit.jsonl`.'),
  maxBytes: setting(bytes, 10 * MIB, 'Size at which a new file is started.'),
  files: setting(count, 5, 'Files that are kept. Of older files, the newest 100 calls of every tool are kept.'),
  days: setting(count, 90, 'Files last written to longer ago are removed.'),
  failClosed: setting(
    flag,
    false,
    'Refuse calls that cannot be recorded, and write each record as soon as its call is answered.',
  ),
});

/** The log levels, quietest last. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

const logSchema = z.strictObject({
  level: setting(z.enum(LOG_LEVELS), 'info', 'The least severe messages that are written.'),
  file: optional(path, 'Write messages to this file. Default: stderr.'),
});

const validationSchema = z.strictObject({
  output: setting(
    z.enum(['off', 'warn', 'strict']),
    'warn',
    'What happens when a result breaks its tool’s output schema: nothing, a note in the audit log, or an error.',
  ),
});

/** A service that turns texts into vectors, replacing the built-in vectors. */
const embedderSchema = z.strictObject({
  type: described(
    z.enum(['openai', 'ollama']),
    'The API of the service: OpenAI’s `/embeddings`, as many others do, or Ollama’s `/api/embed`.',
  ),
  url: optional(
    textUpTo(4096, 1),
    'The URL of the service. Default `https://api.openai.com/v1`, for Ollama `http://localhost:11434`.',
  ),
  model: described(textUpTo(500, 1), 'The model, as the service calls it.'),
  apiKey: optional(textUpTo(10_000), 'Sent as a bearer token; write `${OPENAI_API_KEY}`.'),
  dimensions: optional(
    wholeNumber(1, 65_536),
    'Requests vectors of this length and refuses others. Default: the model’s length.',
  ),
  queryPrefix: optional(textUpTo(1000), 'The prefix the model expects before a query, e.g. `search_query: `.'),
  toolPrefix: optional(textUpTo(1000), 'The prefix the model expects before a tool, e.g. `search_document: `.'),
  timeoutMs: setting(
    milliseconds,
    600,
    'How long a search waits for the vector of its query. After that the search continues without it.',
  ),
});

const searchSchema = z.strictObject({
  meaning: setting(flag, true, 'Also find tools by meaning, with the built-in vectors. `false`: by words alone.'),
  phrases: setting(
    z.union([flag, textUpTo(4096, 1)]),
    true,
    'Further search phrases for the tools of widely used servers. `false`: none. A path: your own instead, a JSON file `{"version": 1, "tools": {"server:tool": ["a phrase"]}}`.',
  ),
  learn: setting(
    flag,
    true,
    'Learn from use: a tool that was used after a query ranks higher for similar queries of the same user. Kept in `<state folder>/usage`, never sent anywhere.',
  ),
  keepQueries: setting(flag, false, 'Also keep the text of queries there. `false`: only hashes of their words.'),
  embedder: optional(
    embedderSchema,
    'A service that replaces the built-in vectors. Names and descriptions of all tools, and every query, are sent to it. Default: none.',
  ),
});

/** The settings as fields: optional in one file, complete after merging. */
export const settingsShape = {
  enabled: setting(flag, true, '`false`: no servers; the five meta-tools say why.'),
  cache: group(cacheSchema, 'How long tool lists are cached, and where.'),
  rulePrecedence: setting(
    z.enum(['first-match', 'deny-wins']),
    'first-match',
    '`first-match`: the first matching rule with `enabled` decides. `deny-wins`: any matching disable does.',
  ),
  search: group(searchSchema, 'How tools are found.'),
  validation: group(validationSchema, 'How strictly results are checked.'),
  limits: group(limitsSchema, 'Every limit of the gateway.'),
  retry: group(retrySchema, 'How requests that are safe to retry are retried.'),
  audit: group(auditSchema, 'The record of every call.'),
  log: group(logSchema, 'Messages for people.'),
};

/** The merged settings, complete. */
export const settingsSchema = z.strictObject(settingsShape);

/** The settings with every default filled in. */
export type Settings = z.output<typeof settingsSchema>;
