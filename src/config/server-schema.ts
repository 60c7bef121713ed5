/**
 * Defines the schema of one server as people write it: name, connection, tools known in advance, and limits.
 * @module
 */
import * as z from 'zod/mini';
import { RESERVED_NAME } from '../clients/importers/ourselves.ts';
import { APPROVAL_MODES } from '../core/approval-mode.ts';
import { LIMITS } from '../core/limits.ts';
import { hasOwnToken, isLocal } from '../core/transport-parts.ts';
import type { JsonSchema } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { isPlain, plainName } from '../text/plain-text.ts';
import { count, described, flag, milliseconds, NO_NUL, optional, path, text, textUpTo, withoutNul } from './fields.ts';
import { rateLimitSchema } from './rate-limit-schema.ts';

const argument = z.string().check(z.refine(withoutNul, NO_NUL));
const textMap = z.record(
  z
    .string()
    .check(z.refine((name) => name !== '' && withoutNul(name) && !/[\r\n=]/.test(name), 'is not a usable name')),
  argument,
);

/** Texts of each user of the gateway, by principal. */
const perUser = z.record(z.string().check(z.minLength(1), z.maxLength(LIMITS.names.principal)), textMap);

const NOT_PLAIN = 'must not contain invisible characters';

const jsonObject = <T>() => z.custom<T>(isObject, { error: 'expected an object' });

/** Tells whether a name is the gateway's own, in any spelling, or looks like it. */
export const isReservedName = (name: string): boolean => plainName(name).toLowerCase() === RESERVED_NAME;

/** Returns what is wrong with a server name, if anything. */
export function nameProblem(name: string): string | undefined {
  if (name.length === 0) return 'must not be empty';
  if (name.length > LIMITS.names.shown)
    return `must be at most ${LIMITS.names.shown} characters long, but has ${name.length}`;
  if (/\p{Cc}/u.test(name)) return 'must not contain control characters';
  if (!isPlain(name)) return NOT_PLAIN;
  if (isReservedName(name)) return `"${RESERVED_NAME}" is reserved for this gateway; choose another name`;
  return undefined;
}

const nameSchema = z.string().check(
  z.superRefine((name, context) => {
    const problem = nameProblem(name);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  }),
);

const stdioSchema = z.strictObject({
  type: described(z.literal('stdio'), 'A local program that speaks MCP on stdin and stdout.'),
  command: described(
    z.string().check(z.refine(withoutNul, NO_NUL), z.minLength(1)),
    'The program. It is started directly, without a shell. `./…` and `~/…` are resolved like paths.',
  ),
  args: optional(z.array(argument), 'Arguments, passed on unchanged. Default none.'),
  env: optional(textMap, 'Environment variables for the program. `${NAME}` is expanded when the server starts.'),
  userEnv: optional(
    perUser,
    'Further variables by user of the gateway. Each user gets a process of its own; a user without a row is refused.',
  ),
  inheritEnv: optional(
    z.array(z.string().check(z.regex(/^[^=\0]+$/, 'is not the name of an environment variable'))),
    'Names of the gateway’s own environment variables that the program may see, in addition to a standard few.',
  ),
  cwd: optional(
    path,
    'The working folder. Default: your home; in a project’s configuration, the project. `${workspaceFolder}` is the folder the client works in; it requires trust in that folder.',
  ),
});

const webAddress = z
  .string()
  .check(z.refine((url) => url.includes('${') || isWebAddress(url), 'must be an http:// or https:// address'));

const loginSchema = z
  .strictObject({
    clientId: optional(textUpTo(2_000, 1), 'A client that is registered at the authorization server.'),
    clientSecret: optional(textUpTo(10_000, 1), 'Its secret; write `${NAME}` or `${file:…}`.'),
    clientMetadataUrl: optional(
      webAddress,
      'The address of a client metadata document. It is the client id where the authorization server reads such documents.',
    ),
    scopes: optional(z.array(textUpTo(500, 1)), 'The scopes to ask for, in place of those that the server names.'),
    redirectUri: optional(
      z
        .string()
        .check(z.refine(isLoopback, 'must be an http:// address of this machine: localhost, 127.0.0.1 or [::1]')),
      'The redirect address of the registered client, on this machine. Without a port, any port is used.',
    ),
    authorizationServer: optional(webAddress, 'The issuer to use in place of the one that the server names.'),
    resource: optional(
      z.union([textUpTo(2_000, 1), z.literal(false)]),
      'The `resource` of the token. `false`: none, for authorization servers that refuse the parameter (Entra ID).',
    ),
    allowMissingPkce: optional(
      flag,
      'For authorization servers that support PKCE and do not say so (Entra ID, Cognito). Default `false`.',
    ),
    allowIssuerMismatch: optional(
      flag,
      'For authorization servers whose metadata name another issuer. It weakens the protection against mix-ups. Default `false`.',
    ),
    parameters: optional(
      textMap,
      'Further parameters of the authorization request. Google wants `{"access_type": "offline", "prompt": "consent"}`.',
    ),
    grant: optional(
      z.literal('client_credentials'),
      'Log in as a program, with `clientId` and `clientSecret` or `privateKey`. Default: as a person.',
    ),
    privateKey: optional(textUpTo(20_000, 1), 'A private key in PEM (PKCS #8), in place of a client secret.'),
    keyAlgorithm: optional(textUpTo(20, 1), 'The algorithm of the private key. Default `RS256`.'),
  })
  .check(
    z.superRefine((login, context) => {
      const missing = (['clientId', 'authorizationServer'] as const).find((key) => login[key] === undefined);
      // The secret of a program goes only to an authorization server that the user has named.
      if (login.grant !== undefined && missing !== undefined)
        context.addIssue({ code: 'custom', path: [missing], message: 'is needed for grant "client_credentials"' });
      if (login.clientSecret !== undefined && login.clientId === undefined)
        context.addIssue({ code: 'custom', path: ['clientSecret'], message: 'needs `clientId`' });
    }),
  );

const remoteSchema = z
  .strictObject({
    type: described(
      z.enum(['http', 'sse']),
      '`http` is Streamable HTTP and falls back to SSE; `sse` is the legacy transport only.',
    ),
    url: described(webAddress.check(z.refine(withoutNul, NO_NUL), z.minLength(1)), 'The address of the server.'),
    headers: optional(textMap, 'Headers sent with every request. `${NAME}` is expanded when connecting.'),
    userHeaders: optional(
      perUser,
      'Further headers by user of the gateway. Each user gets a connection of its own; a user without a row is refused.',
    ),
    auth: optional(z.literal('env'), 'Send the bearer token in `<SERVER>_MCP_TOKEN`, else `MCP_AUTH_TOKEN`.'),
    oauth: optional(
      loginSchema,
      'Settings of `anygpt mcp login`. Most servers need none: their own metadata say where to log in.',
    ),
  })
  .check(
    z.superRefine((remote, context) => {
      const header = Object.keys(remote.headers ?? {}).find((name) => name.toLowerCase() === 'authorization');
      if (remote.auth !== undefined && header !== undefined) {
        const message = `contradicts the header \`${header}\`; keep one of the two`;
        context.addIssue({ code: 'custom', path: ['auth'], message });
      }
    }),
  );

function isWebAddress(url: string): boolean {
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: '' };
  return protocol === 'http:' || protocol === 'https:';
}

function isLoopback(url: string): boolean {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** How a server is reached, as people write it. */
const connectionSchema = z.discriminatedUnion('type', [stdioSchema, remoteSchema]);

const exampleSchema = z.strictObject({
  description: optional(text, 'What the example does.'),
  parameters: described(jsonObject<Record<string, unknown>>(), 'The arguments of the call.', 'object'),
});

const classes = z
  .array(
    textUpTo(200, 1).check(
      z.regex(/^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*$/u, 'must be words joined by dots'),
      z.lowercase(),
    ),
  )
  .check(z.minLength(1), z.maxLength(20));

const toolSchema = z.strictObject({
  name: described(textUpTo(10_000, 1).check(z.refine(isPlain, NOT_PLAIN)), 'The tool’s name on its server.'),
  description: optional(text, 'What the tool does. Search uses this text until the server has been asked.'),
  inputSchema: z.optional(described(jsonObject<JsonSchema>(), 'JSON Schema of its arguments.', 'JSON Schema')),
  keywords: optional(z.array(text), 'Additional search words. They stay after discovery.'),
  examples: optional(z.array(exampleSchema), 'Example calls. They stay after discovery.'),
  domains: optional(classes, 'What the tool is about, in place of what its name suggests.'),
  categories: optional(classes, 'What the tool does, in place of what it seems to do: `crud.read`, `search`, `send`.'),
});

const timeoutsSchema = z.strictObject({
  connect: optional(milliseconds, 'Timeout for connecting. Default 30 s for local servers, 5 s for remote ones.'),
  call: optional(milliseconds, 'A call without answer or progress for this long times out. Default `limits.callIdle`.'),
});

/** One server as people write it in `discovery.servers`. */
export const serverSchema = z.strictObject({
  name: described(nameSchema, 'The name agents use: 1 to 200 characters, unique, not `anygpt`.'),
  description: optional(textUpTo(10_000), 'One sentence on what the server is for. Agents see it.'),
  enabled: optional(flag, '`false` switches the server off, as does `<SERVER>_MCP_ENABLED=false`. Default `true`.'),
  connection: optional(
    connectionSchema,
    'How to reach the server. Optional if an extended file or a source has a server of this name.',
  ),
  tools: optional(z.array(toolSchema), 'Tools known in advance, so that search finds them before the server has run.'),
  timeouts: optional(timeoutsSchema, 'Timeouts of this server.'),
  rateLimit: optional(rateLimitSchema, 'The rate limit for requests. Default: none.'),
  concurrency: optional(count, 'Calls in flight at once. Default `limits.concurrency`.'),
  registry: optional(
    textUpTo(500, 1),
    'The server of an MCP registry that the entry was made from, with its version: `name@version`. `anygpt mcp add` writes it; `anygpt mcp update` compares and changes it.',
  ),
  approval: optional(
    z.enum(APPROVAL_MODES),
    'Which tool definitions of this server wait for `anygpt mcp approve`, instead of what `discovery.approval` says. In a project’s file it can only be stricter.',
  ),
  credentials: optional(
    z.literal('user'),
    'Each user of the gateway has its own login to the server, and its own connections and list of tools: `anygpt mcp login <server> --as <user>`. Default: all use the same. `userHeaders` and `userEnv` imply it.',
  ),
  domains: optional(
    classes,
    'What all its tools are about, in place of what their names suggest: `github`, `cloud.aws`.',
  ),
  categories: optional(classes, 'What all its tools do, in place of what they seem to do: `crud.read`, `search`.'),
  trusted: optional(flag, 'Whether the server’s own hints (`readOnlyHint`, `idempotentHint`) count. Default `false`.'),
  idempotent: optional(z.array(text), 'Globs of tool names whose calls may be retried after a failure.'),
  shared: optional(
    flag,
    'Whether a process that has asked one client something (elicitation, sampling, other roots) may serve the next client without a session. `false`: the process is restarted for the next client. Default `false`.',
  ),
});

/** The same, checked for contradictions. */
export const consistentServerSchema = serverSchema.check(
  z.superRefine(({ credentials, connection }, context) => {
    if (credentials === undefined || connection === undefined || isLocal(connection) || !hasOwnToken(connection))
      return;
    const message = 'contradicts the entry, which sends one token for all users; remove `auth` and Authorization';
    context.addIssue({ code: 'custom', path: ['credentials'], message });
  }),
);

/** A server entry that passed the schema. */
export type ServerEntry = z.output<typeof serverSchema>;
