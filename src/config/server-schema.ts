/**
 * One server as people write it: name, connection, tools known beforehand, limits of its own.
 * @module
 */
import * as z from 'zod/v4';
import type { JsonSchema } from '../types.ts';
import { isObject } from './plain-object.ts';
import { count, milliseconds, pathText } from './settings-schema.ts';

const NO_NUL = 'must not contain a NUL character';
const withoutNul = (text: string) => !text.includes('\0');
const text = () => z.string().refine(withoutNul, NO_NUL);
const textMap = () =>
  z.record(
    z
      .string()
      .min(1)
      .refine((name) => withoutNul(name) && !/[\r\n=]/.test(name), 'is not a usable name'),
    text(),
  );

const jsonObject = <T>(description: string, unit: string) =>
  z.custom<T>(isObject, { error: 'expected an object' }).meta({ description, unit });

/** The name this package keeps for itself. */
export const RESERVED_NAME = 'anygpt';

/** Whether a server may not carry this name because it is ours, in any spelling. */
export const isReservedName = (name: string): boolean => name.toLowerCase() === RESERVED_NAME;

/** What is wrong with a server name, if anything. */
export function nameProblem(name: string): string | undefined {
  if (name.length === 0) return 'must not be empty';
  if (name.length > 200) return `must be at most 200 characters long, this one has ${name.length}`;
  if (/\p{Cc}/u.test(name)) return 'must not contain control characters';
  if (isReservedName(name)) return `"${RESERVED_NAME}" is reserved for this gateway, choose another name`;
  return undefined;
}

const nameSchema = z.string().superRefine((name, context) => {
  const problem = nameProblem(name);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const stdioSchema = z.strictObject({
  type: z.literal('stdio').describe('A local program that speaks MCP on stdin and stdout.'),
  command: text()
    .min(1)
    .describe('The program. It is started directly, never through a shell. `./…` and `~/…` are resolved like paths.'),
  args: z.array(text()).optional().describe('Its arguments, passed on exactly. Default none.'),
  env: textMap()
    .optional()
    .describe('Environment variables for the program. `${NAME}` is looked up when the server starts.'),
  inheritEnv: z
    .array(z.string().regex(/^[^=\0]+$/, 'is not the name of an environment variable'))
    .optional()
    .describe('Names of our own environment variables that the program may see beside the usual few.'),
  cwd: pathText('The folder it runs in. Default: ours.').optional(),
});

const remoteSchema = z
  .strictObject({
    type: z
      .enum(['http', 'sse'])
      .describe('`http` is Streamable HTTP and falls back to SSE; `sse` is the legacy transport only.'),
    url: text()
      .min(1)
      .refine((url) => url.includes('${') || isWebAddress(url), 'must be an http:// or https:// address')
      .describe('The address of the server.'),
    headers: textMap().optional().describe('Headers sent with every request. `${NAME}` is looked up when connecting.'),
    auth: z.literal('env').optional().describe('Send the bearer token in `<SERVER>_MCP_TOKEN`, else `MCP_AUTH_TOKEN`.'),
  })
  .superRefine((remote, context) => {
    const header = Object.keys(remote.headers ?? {}).find((name) => name.toLowerCase() === 'authorization');
    if (remote.auth !== undefined && header !== undefined) {
      const message = `contradicts the header \`${header}\`; keep one of the two`;
      context.addIssue({ code: 'custom', path: ['auth'], message });
    }
  });

function isWebAddress(url: string): boolean {
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: '' };
  return protocol === 'http:' || protocol === 'https:';
}

/** How a server is reached, as people write it. */
export const connectionSchema = z.discriminatedUnion('type', [stdioSchema, remoteSchema]);

const exampleSchema = z.strictObject({
  description: z.string().optional().describe('What the example does.'),
  parameters: jsonObject<Record<string, unknown>>('The arguments of the call.', 'object'),
});

const toolSchema = z.strictObject({
  name: z.string().min(1).max(10_000).describe('The tool’s name on its server.'),
  description: z.string().optional().describe('What it does. Until the server was asked, this is what search finds.'),
  inputSchema: jsonObject<JsonSchema>('JSON Schema of its arguments.', 'JSON Schema').optional(),
  keywords: z.array(z.string()).optional().describe('More words it should be found by. They stay after discovery.'),
  examples: z.array(exampleSchema).optional().describe('Example calls. They stay after discovery.'),
});

const rateLimitSchema = z.strictObject({
  requestsPerSecond: z.number().gt(0).max(1_000_000).describe('Requests per second in the long run.'),
  burst: count('Requests that may come at once. Default: twice the rate.').optional(),
});

const timeoutsSchema = z.strictObject({
  connect: milliseconds(
    'The longest connecting may take. Default 30 s for local servers, 5 s for remote ones.',
  ).optional(),
  call: milliseconds(
    'A call without answer or progress for this long has timed out. Default `limits.callIdle`.',
  ).optional(),
});

/** One server as people write it in `discovery.servers`. */
export const serverSchema = z.strictObject({
  name: nameSchema.describe('What agents call it: 1 to 200 characters, unique, not `anygpt`.'),
  description: z.string().max(10_000).optional().describe('One sentence on what it is for; agents see it.'),
  enabled: z
    .boolean()
    .optional()
    .describe('`false` switches it off, and so does `<SERVER>_MCP_ENABLED=false`. Default `true`.'),
  connection: connectionSchema
    .optional()
    .describe('How to reach it. May be left out where an extended file or a source has a server of this name.'),
  tools: z.array(toolSchema).optional().describe('Tools known before the server ever ran; they can be found at once.'),
  timeouts: timeoutsSchema.optional().describe('Time-outs of its own.'),
  rateLimit: rateLimitSchema.optional().describe('How fast it may be asked. Default: calls are not limited.'),
  concurrency: count('Calls in flight at once. Default `limits.concurrency`.').optional(),
  trusted: z
    .boolean()
    .optional()
    .describe('Whether its own hints (`readOnlyHint`, `idempotentHint`) count. Default `false`.'),
  idempotent: z.array(z.string()).optional().describe('Globs of tool names that may be repeated after a failure.'),
});

/** A server entry that passed the schema. */
export type ServerEntry = z.output<typeof serverSchema>;
