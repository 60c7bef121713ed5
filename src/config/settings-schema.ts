/**
 * Defines the schema of the settings other than servers, sources and rules: cache, limits, retry, audit, log,
 * validation. Parsing fills in every default. The descriptions are the text of docs/configuration.md.
 * @module
 */
import * as z from 'zod/mini';
import { APPROVAL_MODES } from '../core/approval-mode.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../core/log.ts';
import { ALGORITHMS } from '../core/signature-algorithms.ts';
import {
  bytes,
  bytesOrNone,
  count,
  described,
  flag,
  group,
  milliseconds,
  optional,
  path,
  setting,
  textUpTo,
  wholeNumber,
} from './fields.ts';
import { pinnedSchema, profilesSchema } from './profile-schema.ts';

const { audit, limits, retry } = DEFAULTS;

const cacheSchema = z.strictObject({
  enabled: setting(flag, true, 'Keep tool lists on disk. `false`: in memory only.'),
  ttl: setting(
    z.number().check(z.gte(0), z.lte(LIMITS.time.timer)).register(z.globalRegistry, { unit: 'seconds' }),
    3600,
    'The age at which a tool list is refreshed. `ANYGPT_CACHE_TTL` overrides.',
  ),
  dir: optional(path, 'Folder of the cache. Default `<state folder>/cache`. `ANYGPT_CACHE_DIR` overrides.'),
});

const breakerSchema = z.strictObject({
  failures: setting(count, limits.breaker.failures, 'Failures in a row that open the breaker.'),
  rate: setting(
    z.number().check(z.gt(0), z.lte(1)),
    limits.breaker.rate,
    'Share of failed calls within `window` that opens the breaker.',
  ),
  minimum: setting(count, limits.breaker.minimum, 'Calls within `window` before `rate` counts.'),
  window: setting(milliseconds, limits.breaker.window, 'The period over which calls are counted.'),
  open: setting(milliseconds, limits.breaker.open, 'How long the breaker stays open before one call may probe.'),
});

/** Every limit of the gateway, with its default. */
export const limitsSchema = z.strictObject({
  result: setting(
    bytes,
    limits.result,
    'The largest result returned to a client in one piece; larger results are paged.',
  ),
  message: setting(bytes, limits.message, 'The largest single message accepted from a server.'),
  messageValues: setting(
    count,
    limits.messageValues,
    'Values in one message from a server of more than 256 KiB; a quarter as many names in one object, five times as many values in one page of a tool list. A message with more is refused without parsing.',
  ),
  callIdle: setting(
    milliseconds,
    limits.callIdle,
    'A call without answer or progress for this long times out. A server’s `timeouts.call` overrides.',
  ),
  callCeiling: setting(milliseconds, limits.callCeiling, 'The longest a call may take, even with progress.'),
  listPage: setting(milliseconds, limits.listPage, 'Timeout for one page of a tool list.'),
  list: setting(milliseconds, limits.list, 'Timeout for a whole tool list.'),
  listPages: setting(count, limits.listPages, 'Pages of one tool list.'),
  toolsPerServer: setting(count, limits.toolsPerServer, 'Tools of one server.'),
  tools: setting(count, limits.tools, 'Tools of all servers together.'),
  definition: setting(bytes, limits.definition, 'One tool definition as JSON.'),
  schemaDepth: setting(count, limits.schemaDepth, 'Nesting of one tool schema.'),
  schemaNodes: setting(count, limits.schemaNodes, 'Sub-schemas of one tool schema.'),
  description: setting(bytes, limits.description, 'How much of a tool description is kept.'),
  concurrency: setting(count, limits.concurrency, 'Calls in flight to one server. A server’s `concurrency` overrides.'),
  queue: setting(count, limits.queue, 'Calls waiting for one server.'),
  queueWait: setting(milliseconds, limits.queueWait, 'The longest a call waits in the queue.'),
  inFlight: setting(count, limits.inFlight, 'Calls in flight altogether.'),
  inFlightPerClient: setting(count, limits.inFlightPerClient, 'Calls in flight for one client.'),
  validation: setting(milliseconds, limits.validation, 'Timeout for checking arguments or results against a schema.'),
  stderr: setting(bytesOrNone, limits.stderr, 'How much of a local server’s stderr is kept; 0: nothing.'),
  spawns: setting(count, limits.spawns, 'Local servers starting at once.'),
  localServers: setting(
    count,
    limits.localServers,
    'Local servers open at once; the least recently used closes first, and no single server takes all.',
  ),
  idle: setting(milliseconds, limits.idle, 'An unused connection closes after this long.'),
  auditLine: setting(bytes, limits.auditLine, 'One line of the audit log.'),
  drain: setting(milliseconds, limits.drain, 'How long calls in flight may take to finish at shutdown.'),
  shutdown: setting(milliseconds, limits.shutdown, 'Timeout for a whole shutdown.'),
  breaker: group(breakerSchema, 'The circuit breaker: when calls to a failing server are refused at once.'),
});

const retrySchema = z.strictObject({
  attempts: setting(
    wholeNumber(0, 100),
    retry.attempts,
    'How often a failed request is retried, if it is safe to retry.',
  ),
  initial: setting(milliseconds, retry.initial, 'The delay before the first retry.'),
  max: setting(milliseconds, retry.max, 'The longest delay between two attempts.'),
  factor: setting(
    z.number().check(z.gte(1), z.lte(100)),
    retry.factor,
    'The factor by which the delay grows with each attempt.',
  ),
  jitter: setting(
    z.number().check(z.gte(0), z.lte(1)),
    retry.jitter,
    'The random share of each delay, so that clients do not retry in step.',
  ),
});

const auditSchema = z.strictObject({
  enabled: setting(flag, true, 'Write one line for every call.'),
  values: setting(flag, false, 'Also write argument values (secrets are still masked).'),
  file: optional(path, 'The audit file. Default `<state folder>/audit/audit.jsonl`.'),
  maxBytes: setting(bytes, audit.maxBytes, 'Size at which a new file is started.'),
  files: setting(
    count,
    audit.files,
    'Files that are kept. Of older files, the newest 100 calls of every tool are kept.',
  ),
  days: setting(count, audit.days, 'Files last written to longer ago are removed.'),
  failClosed: setting(
    flag,
    false,
    'Record each call before it is sent and as soon as it is answered, and refuse calls that cannot be recorded.',
  ),
});

const logSchema = z.strictObject({
  level: setting(z.enum(LOG_LEVELS), 'info', 'The least severe messages that are written.'),
  format: setting(
    z.enum(LOG_FORMATS),
    'text',
    'Lines for people, or one JSON object for each message, with the ids of its trace where there is one.',
  ),
  file: optional(path, 'Write messages to this file. Default: stderr.'),
});

const validationSchema = z.strictObject({
  output: setting(
    z.enum(['off', 'warn', 'strict']),
    'warn',
    'What happens when a result breaks its tool’s output schema: nothing, a note in the audit log, or an error.',
  ),
  observe: setting(
    flag,
    false,
    'Infer what tools without an output schema return from their first results. `get_tool_details` shows it as inferred, to every caller; it holds names of fields, no values. No result is checked against it.',
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
    wholeNumber(1, LIMITS.embeddings.dimensions),
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

/** Addresses that people can look servers up at. */
const registrySchema = z.strictObject({
  name: optional(textUpTo(LIMITS.names.shown, 1), 'What to call it. Default: the host of `url`.'),
  url: described(
    textUpTo(4096, 1).check(z.refine((url) => /^https?:\/\//i.test(url), 'must be an http:// or https:// address')),
    'The address before `/v0.1/servers`.',
  ),
  headers: optional(
    z.record(textUpTo(200, 1), textUpTo(10_000)),
    'Headers of every request. `${NAME}` is expanded when it is sent.',
  ),
});

/** The registry that is used unless the configuration names others. */
const OFFICIAL_REGISTRY = { url: 'https://registry.modelcontextprotocol.io' };

const webAddress = textUpTo(4096, 1).check(
  z.refine(
    (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol),
    'must be an http:// or https:// address',
  ),
);

const introspectionSchema = z.strictObject({
  url: optional(webAddress, 'The introspection endpoint. Default: the one that the metadata of `issuer` name.'),
  clientId: described(textUpTo(1000, 1), 'Our own id at the identity provider.'),
  clientSecret: described(textUpTo(10_000, 1), 'Our own secret there; write `${NAME}`.'),
});

/** How the tokens of an identity provider are checked. */
const authSchema = z.strictObject({
  issuer: described(webAddress, 'The identity provider, exactly as its tokens name it.'),
  audience: described(
    z.union([textUpTo(1000, 1), z.array(textUpTo(1000, 1)).check(z.minLength(1), z.maxLength(20))]),
    'What a token must be meant for (`aud`), usually the public address of this gateway. A token for something else is refused.',
  ),
  jwksUri: optional(webAddress, 'Where the keys of the identity provider are. Default: what its metadata say.'),
  algorithms: optional(
    z.array(z.enum(ALGORITHMS)).check(z.minLength(1)),
    'The signatures that are accepted. Default: all of these.',
  ),
  introspection: optional(
    introspectionSchema,
    'Asks the identity provider about each token, instead of checking its signature. An answer counts for a minute at most.',
  ),
  scopes: optional(z.array(textUpTo(200, 1)).check(z.maxLength(50)), 'Scopes that a token needs. Default: none.'),
  principalClaim: optional(textUpTo(200, 1), 'The claim that names the user. Default `sub`.'),
  profileClaim: optional(
    textUpTo(200, 1),
    'The claim that names the user’s profile. A token without it gets the profile `default`, whatever the path says, and is refused if there is none.',
  ),
  resource: optional(
    webAddress,
    'The public address of the gateway, if it differs from the `Host` that clients send, e.g. `https://tools.example.com/mcp`.',
  ),
});

/** How replicas of one gateway find each other. */
const clusterSchema = z.strictObject({
  redis: optional(
    textUpTo(2_000, 1),
    'Redis or Valkey: `redis://host:6379`, `rediss://…` with TLS, `redis+sentinel://host,host/name`, `redis+cluster://host,host`. `${NAME}` works. Default: `ANYGPT_REDIS_URL`.',
  ),
  key: optional(
    textUpTo(10_000, 1),
    'The secret that replicas share: it encrypts what they keep in Redis and say to each other. Write `${NAME}`. Several, separated by commas, while a key is replaced: the first one encrypts. Default: `ANYGPT_CLUSTER_KEY`.',
  ),
  prefix: setting(
    z.string().check(z.regex(/^[\w.-]{1,64}$/)),
    'anygpt',
    'What all keys and channels begin with. Gateways with another prefix do not meet.',
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
  approval: optional(
    z.enum(APPROVAL_MODES),
    'Which tool definitions wait for `anygpt mcp approve`. `all`: every one. `new`: those that were not in the server’s first list, and changed ones. `changed`: only changed ones. `off`: none. Default: `all` for servers of a registry or a project, `new` for servers of another client, `off` for servers written here. A value makes servers stricter, except that `off` switches approvals off.',
  ),
  profiles: setting(
    profilesSchema,
    {},
    'Parts of this configuration for groups of users, by name. A profile can only narrow what the configuration allows. Users without a profile have `default`, if there is one, else everything; a client on stdio has everything unless `serve --profile` names one.',
  ),
  pinned: setting(
    pinnedSchema,
    [],
    'Tools that clients see beside the five, as `server:tool`; globs work. They are called directly, as `server__tool`.',
  ),
  search: group(searchSchema, 'How tools are found.'),
  registries: setting(
    z.array(registrySchema).check(z.maxLength(LIMITS.registry.registries)),
    [OFFICIAL_REGISTRY],
    'MCP registries, in order of precedence. Only `anygpt mcp registry`, `add` and `update` ask them.',
  ),
  validation: group(validationSchema, 'How strictly results are checked.'),
  limits: group(limitsSchema, 'Every limit of the gateway.'),
  retry: group(retrySchema, 'How requests that are safe to retry are retried.'),
  audit: group(auditSchema, 'The record of every call.'),
  log: group(logSchema, 'Messages for people.'),
  cluster: optional(
    clusterSchema,
    'Several gateways that work as one, over Redis. Without this, and without `ANYGPT_REDIS_URL`, a gateway stands alone.',
  ),
  auth: optional(
    authSchema,
    'The identity provider whose tokens let people in over HTTP. Static tokens (`anygpt mcp token`) need none.',
  ),
};

/** The merged settings, complete. */
export const settingsSchema = z.strictObject(settingsShape);

/** The settings with every default filled in. */
export type Settings = z.output<typeof settingsSchema>;
