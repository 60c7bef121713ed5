/**
 * Defines the nouns of the program: plain read-only values that move along the two flows, config → servers →
 * connections → catalog → rules → index → meta-tools, and call → result.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';
import type { ApprovalMode, Unapproved } from './approval-mode.ts';

/** A JSON Schema from a server or a configuration: untrusted data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** How to reach a server. Values may contain `${NAME}` references, which are expanded when a connection opens. */
export type ConnectionDefinition = StdioConnection | RemoteConnection;

/** Variables or headers of each user of the gateway, by principal. */
export type UserTexts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A server that runs as a child process and speaks MCP on stdin and stdout. */
export interface StdioConnection {
  readonly type: 'stdio';
  /** The program; started directly, without a shell. */
  readonly command: string;
  /** Arguments, passed on unchanged. */
  readonly args: readonly string[];
  /** Environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Further variables by principal. */
  readonly userEnv?: UserTexts | undefined;
  /** Names of our own environment variables that the child may see, in addition to the allow-list. */
  readonly inheritEnv: readonly string[];
  /** Absolute folder; undefined means the user's home. */
  readonly cwd: string | undefined;
}

/** A server at a URL. */
export interface RemoteConnection {
  /** `http` is Streamable HTTP and falls back to SSE; `sse` is the legacy transport only. */
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Further headers by principal. */
  readonly userHeaders?: UserTexts | undefined;
  /** `env`: send the bearer token in `<SERVER>_MCP_TOKEN`, else `MCP_AUTH_TOKEN`. */
  readonly auth: 'env' | undefined;
  readonly oauth?: LoginSettings | undefined;
}

/** How to log in to a remote server, where its own metadata do not say or are wrong. */
export interface LoginSettings {
  /** A client that is registered at the authorization server. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  /** The address of a client metadata document, used as the client id where the authorization server reads such. */
  readonly clientMetadataUrl?: string | undefined;
  /** The scopes to ask for, in place of those that the server names. */
  readonly scopes?: string[] | undefined;
  /** The redirect address of the registered client, on this machine. Without a port, any port is used. */
  readonly redirectUri?: string | undefined;
  /** The issuer to use in place of the one that the server names. */
  readonly authorizationServer?: string | undefined;
  /** The `resource` of the token, or false for authorization servers that refuse the parameter (Entra ID). */
  readonly resource?: string | false | undefined;
  /** For authorization servers that support PKCE and do not say so (Entra ID, Cognito). */
  readonly allowMissingPkce?: boolean | undefined;
  /** For authorization servers whose metadata name another issuer. It weakens the protection against mix-ups. */
  readonly allowIssuerMismatch?: boolean | undefined;
  /** Further parameters of the authorization request, such as `access_type: 'offline'` for Google. */
  readonly parameters?: Record<string, string> | undefined;
  /** `client_credentials` logs in as a program, without a person. Default: as a person. */
  readonly grant?: 'client_credentials' | undefined;
  /** A private key in PEM (PKCS #8), in place of a client secret. */
  readonly privateKey?: string | undefined;
  /** The algorithm of the private key. Default `RS256`. */
  readonly keyAlgorithm?: string | undefined;
}

/** One server after all configuration was read, merged and normalised. */
export interface ServerDefinition {
  readonly name: string;
  readonly description: string | undefined;
  readonly enabled: boolean;
  /** How to reach the server. */
  readonly connection: ConnectionDefinition;
  /** Tools known in advance. Keywords and examples stay after discovery. */
  readonly tools: readonly ConfiguredTool[];
  readonly timeouts: { readonly connect: number | undefined; readonly call: number | undefined };
  readonly rateLimit: RateLimit | undefined;
  readonly concurrency: number | undefined;
  /** Whether the server's own hints (readOnlyHint, idempotentHint) count. */
  readonly trusted: boolean;
  /** Globs of tool names whose calls may be retried. */
  readonly idempotent: readonly string[];
  /** Why the server must not be started, and what the user can do about it; undefined: it may be started. */
  readonly refusal?: string | undefined;
  /** Whether a connection over which one caller was asked something may serve other callers. */
  readonly shared?: boolean | undefined;
  /** `user`: each principal has its own credentials, so that connections, lists and failures are its own as well. */
  readonly credentials?: 'user' | undefined;
  /** The server of an MCP registry that the entry was made from: `name@version`. */
  readonly registry?: string | undefined;
  /** What needs approval; absent: nothing, and no definition is pinned. */
  readonly approval?: Exclude<ApprovalMode, 'off'> | undefined;
  /** What all its tools are about, in place of what their names suggest: `github`, `github.issues`. */
  readonly domains?: readonly string[] | undefined;
  /** What all its tools do, in place of what they seem to do: `crud.read`. */
  readonly categories?: readonly string[] | undefined;
  /** The entry came with a project. */
  readonly isProjects?: boolean | undefined;
  /** Where the entry is written, for messages: the file, the path inside it, and the client that owns the file. */
  readonly origin: {
    readonly file: string;
    readonly path: string;
    readonly client?: string | undefined;
    /** The entry's name there, if it was renamed because another server had that name. */
    readonly name?: string | undefined;
    /** The names of the user's own servers that a project's entry is. Rules that deny their tools apply here too. */
    readonly sameAs?: readonly string[] | undefined;
  };
}

/** The rate limit of a server: calls per second, and calls at once after a pause. */
export interface RateLimit {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** A tool as listed in a configuration; the server's own definition completes it later. */
export interface ConfiguredTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: JsonSchema | undefined;
  readonly keywords?: readonly string[] | undefined;
  readonly examples?: readonly ToolExample[] | undefined;
  /** What the tool is about, in place of what its name suggests. */
  readonly domains?: readonly string[] | undefined;
  /** What the tool does, in place of what it seems to do. */
  readonly categories?: readonly string[] | undefined;
}

/** Example arguments of a tool. */
export interface ToolExample {
  readonly description?: string | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** True when the example was generated from the schema. */
  readonly generated?: boolean | undefined;
}

/** A tool as its server lists it, with every field. Fields that the protocol types have that type. */
export interface ToolDefinition {
  readonly name: string;
  /** The display name. */
  readonly title?: string | undefined;
  /** What the tool does and when to use it. Models choose by this text. */
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonSchema;
  /** JSON Schema of `structuredContent`. */
  readonly outputSchema?: JsonSchema | undefined;
  /** The tool's claims about itself: read-only, destructive, repeatable. */
  readonly annotations?: ToolAnnotations | undefined;
  readonly [key: string]: unknown;
}

/** A server's claims about a tool. Hints; believe them only for a trusted server. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
  readonly [key: string]: unknown;
}

/** A resource as its server lists it. Only `uri` and the texts have been checked. */
export interface ResourceDefinition {
  /** A locator that only its server understands. It is never fetched by us. */
  readonly uri: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly [key: string]: unknown;
}

/** A family of resources: a URI with `{variables}`. */
export interface ResourceTemplateDefinition {
  readonly uriTemplate: string;
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly [key: string]: unknown;
}

/** A prompt as its server lists it. Only `name`, the texts and the arguments have been checked. */
export interface PromptDefinition {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments?: readonly PromptArgument[] | undefined;
  readonly [key: string]: unknown;
}

/** One argument of a prompt; its value is a text. */
export interface PromptArgument {
  readonly name: string;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly [key: string]: unknown;
}

/** What a server offers beside tools. */
export interface ServerItems {
  readonly resources: readonly ResourceDefinition[];
  readonly resourceTemplates: readonly ResourceTemplateDefinition[];
  readonly prompts: readonly PromptDefinition[];
}

/** What a server says of itself: title, description, icons, website and instructions. */
export type Introduction = Readonly<Record<string, unknown>>;

/** What an item is, in search hits, rules and calls. A template is a resource. */
export type ItemKind = 'resource' | 'prompt';

/** Identifies a resource by its URI, or a prompt by its name, on its server. */
export interface ItemRef {
  readonly kind: ItemKind;
  readonly id: string;
  /** The result is the server's own answer, not that of a tool. */
  readonly isRaw?: boolean | undefined;
}

/** Identifies a tool. */
export interface ToolRef {
  readonly server: string;
  readonly tool: string;
}

/** A tool after the rules were applied: the input of listing, searching and describing. */
export interface ToolMetadata {
  readonly server: string;
  readonly name: string;
  /** One short sentence, plain text. */
  readonly summary: string;
  /** Compact signature: `repo, title, body?, labels?: string[]`. */
  readonly signature?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: JsonSchema | undefined;
  readonly outputSchema?: JsonSchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly parameters?: readonly ToolParameter[] | undefined;
  readonly examples?: readonly ToolExample[] | undefined;
  readonly keywords?: readonly string[] | undefined;
  readonly enabled: boolean;
  /** Set if a person has to approve the definition first. Such a tool is not shown and cannot be called. */
  readonly approval?: Unapproved | undefined;
  readonly tags: readonly string[];
}

/** One parameter of a tool, in short. */
export interface ToolParameter {
  readonly name: string;
  /** Short TypeScript: `string`, `'open'|'closed'`, `{name: string, size?: number}[]`. */
  readonly type: string;
  readonly description: string;
  readonly required: boolean;
}

/** One search hit, as `search_tools` shows it. */
export interface SearchResult {
  readonly server: string;
  readonly tool: string;
  readonly summary: string;
  /** In [0, 1], comparable across queries. */
  readonly relevance: number;
  readonly tags: readonly string[];
  readonly args?: string | undefined;
  /** What `tool` names, if not a tool: the URI of a resource, or a prompt. */
  readonly kind?: ItemKind | undefined;
}

export interface ToolScore {
  readonly server: string;
  readonly tool: string;
  readonly score: number;
}

/** Options of a search. */
export interface SearchOptions {
  /** Only tools of this server. */
  readonly server?: string | undefined;
  /** At most this many hits. Default 10; fewer if relevance drops. */
  readonly limit?: number | undefined;
  readonly includeDisabled?: boolean | undefined;
  /** What was learnt from use: how much each of these tools is raised for this query, 0 to 1. */
  readonly learnt?: readonly ToolScore[] | undefined;
  /**
   * Similarity of these tools to the query by another embedder, from 1 (identical) over 0 (unrelated) to -1. Replaces
   * the built-in vectors.
   */
  readonly similar?: readonly ToolScore[] | undefined;
}

/** The purpose of a vector; some models need to know it. */
export interface EmbedOptions {
  readonly purpose?: 'query' | 'tool' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Turns texts into vectors, one for each, in order. Results are checked, so a bad vector does no harm. */
export interface Embedder {
  /** Identifies the model and everything else its vectors depend on; vectors are stored under it. */
  readonly id: string;
  /** Gets at most 64 texts at once. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]>;
}

/** The progress of an embedder, and why it is not used, if so. */
export interface EmbedderStatus {
  readonly id: string;
  /** All tools, and those that have a vector. */
  readonly tools: number;
  readonly embedded: number;
  readonly problem?: string | undefined;
}

/** Whether a server is connected, not needed yet, or could not be reached. */
export type ServerStatus = 'connected' | 'disconnected' | 'error';

/** A server and its state. */
export interface ServerMetadata {
  readonly name: string;
  readonly description: string;
  readonly toolCount: number;
  readonly enabledCount: number;
  /** Tools that wait for approval; absent: none. */
  readonly unapprovedCount?: number | undefined;
  readonly status: ServerStatus;
  /** The reason for the status, when it is not obvious. */
  readonly reason?: string | undefined;
  /** True when the tool list is stale. */
  readonly stale?: boolean | undefined;
  /** When the server last listed its tools, in milliseconds since 1970; undefined when it never did. */
  readonly listedAt?: number | undefined;
  /** The client whose file the server was imported from, such as `cursor`; absent for other entries. */
  readonly client?: string | undefined;
  /** How it is reached; undefined for a provider of the program itself. */
  readonly config?: ConnectionDefinition | undefined;
}

/** A rule that enables, disables or tags tools by name. */
export interface ToolRule {
  readonly pattern: readonly string[];
  readonly server?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Only tools of this domain or one below it: `github`, `cloud.aws`. */
  readonly domain?: string | undefined;
  /** Only tools of this category or one below it: `crud`, `crud.delete`. */
  readonly category?: string | undefined;
  /** Only tools that a server with `trusted: true` marks as read-only, or only others. */
  readonly readOnly?: boolean | undefined;
  /** Whether new and changed definitions are approved without a person: if the scanner finds nothing, or always. */
  readonly approve?: boolean | 'always' | undefined;
  /** The rule applies to the server with exactly this name, not to a renamed one. Cannot be set in a file. */
  readonly exact?: boolean | undefined;
}

/** Which rule decides: the first matching one with `enabled`, or any matching deny. */
export type RulePrecedence = 'first-match' | 'deny-wins';

/** The result of a `tools/call`, unchanged. */
export interface CallToolResult {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  readonly [key: string]: unknown;
}

/** One part of a result: text, an image, a resource, or a later addition to the protocol. */
export interface ContentBlock {
  readonly type: string;
  /** Of a `text` block. */
  readonly text?: string | undefined;
  readonly [key: string]: unknown;
}

/** The progress of a call. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** A request of a downstream server to the agent: elicitation, sampling or roots. */
export interface ServerRequest {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** The caller, and how to ask it something while a call runs. */
export interface Caller {
  /** An authenticated identity, if any. Never sent downstream. */
  readonly principal?: string | undefined;
  /** The profile that the front door selected for this request; undefined for the default one. */
  readonly profile?: string | undefined;
  /** One long-lived client connection. Absent for stateless requests. */
  readonly session?: string | undefined;
  /** The socket of a stateless request. Used to count calls and to match late questions; it proves nothing. */
  readonly socket?: string | undefined;
  /** The name that a network client gives itself. All clients of one name share a limit of calls; it proves nothing. */
  readonly clientName?: string | undefined;
  /** The client's declared capabilities (`elicitation`, `sampling`, `roots`). */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** Forwards a server's question to the agent and returns its answer. Absent: the caller cannot be asked. */
  readonly ask?: ((request: ServerRequest, signal?: AbortSignal) => Promise<Record<string, unknown>>) | undefined;
  /** The caller's protocol revision; results are adapted to it. Unknown: the newest. */
  readonly revision?: string | undefined;
  /** The caller relays a server 1:1 and needs a connection of its own, for the notifications. */
  readonly exclusive?: boolean | undefined;
  /** The caller understands `input_required` results (protocol 2026-07-28), so they are passed on unchanged. */
  readonly acceptsInputRequired?: boolean | undefined;
}

/** The MCP request that a list, a search or a call belongs to, whichever SDK it came through. */
export interface ToolRequest {
  /** The value of an HTTP header, by any spelling of its name; undefined on stdio. */
  header(name: string): string | undefined;
  /** What the SDK's authorization found out (`AuthInfo`), when there was any. */
  readonly authInfo?: unknown;
  readonly sessionId?: string | undefined;
  /** The SDK's own object: `extra` of version 1, `ctx` of version 2. */
  readonly sdk: unknown;
}

/** One call on its way through the pipeline. Immutable; a step that changes something passes a copy on. */
export interface ToolCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly traceId: string;
  readonly caller: Caller;
  readonly signal: CallSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Receives notifications other than progress, if the connection is the caller's own. */
  readonly onNotification?: ((method: string, params: Readonly<Record<string, unknown>>) => void) | undefined;
  /** `_meta` entries to pass on (trace context). */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Answers to an earlier `input_required` result of a modern server, passed on verbatim. */
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: string | undefined;
  /** Under which name it is counted by breakers, slots and rates: the server's, or that of one request's provider. */
  readonly gate?: string | undefined;
  /** The MCP request that the call came with, for handlers of own tools. */
  readonly request?: ToolRequest | undefined;
  /** When the caller stops waiting, on the execution clock (`performance.now()`); it replaces the usual timeouts. */
  readonly deadline?: number | undefined;
  /** The idle clock, once a step has set one. */
  readonly idleClock?: IdleClock | undefined;
  /** The tool, once a step has looked it up. */
  readonly definition?: ToolDefinition | undefined;
  /** The resource or prompt that is read instead of a tool being called. */
  readonly item?: ItemRef | undefined;
  /** Facts about the result, recorded by steps for the audit log. */
  readonly notes?: CallNotes | undefined;
}

/**
 * Measures the idle time of one call. The clock is paused while a server waits for the caller's answer to a question.
 */
export interface IdleClock {
  /** Stops the clock until `resume` was called as often. */
  pause(): void;
  /** Restarts the clock from zero. */
  resume(): void;
}

/** Facts about the result of one call. */
export interface CallNotes {
  /** Size as JSON, in bytes; if it was counted, of the whole message. */
  bytes?: number | undefined;
  /** Milliseconds the call waited for a connection, where none was open: the start of a server, mostly. */
  connectMs?: number | undefined;
  /** Flags an operator should see, for example `invalid_schema` or `invalid_output`. */
  flags?: readonly string[] | undefined;
}

/** Logs messages for people. A subset of pino's interface. */
export interface Logger {
  debug(fields: object, message?: string): void;
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}
