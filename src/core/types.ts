/**
 * The nouns of the program. Plain read-only values that move along the two flows:
 * config → servers → connections → catalog → rules → index → meta-tools, and call → result.
 * @module
 */
import type { CallSignal } from '../async/cancellation.ts';

/** A JSON Schema as it came from a server or a configuration: data, never trusted. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** How to reach a server. Values may still hold `${NAME}` references; they are expanded when a connection opens. */
export type ConnectionDefinition = StdioConnection | RemoteConnection;

/** A server that runs as a child process and is spoken to on its stdin and stdout. */
export interface StdioConnection {
  readonly kind: 'stdio';
  /** The program; started directly, never through a shell. */
  readonly command: string;
  /** Its arguments, passed on exactly. */
  readonly args: readonly string[];
  /** Environment variables for it. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of our own environment variables that the child may see beside the allow-list. */
  readonly inheritEnv: readonly string[];
  /** Absolute folder; undefined means the user's home. */
  readonly cwd: string | undefined;
}

/** A server at an address. */
export interface RemoteConnection {
  /** `http` is Streamable HTTP and falls back to SSE; `sse` is the legacy transport only. */
  readonly kind: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `env`: send the bearer token found in `<SERVER>_MCP_TOKEN`, else `MCP_AUTH_TOKEN`. */
  readonly auth: 'env' | undefined;
}

/** One server after all configuration was read, merged and normalised. */
export interface ServerDefinition {
  readonly name: string;
  readonly description: string | undefined;
  readonly enabled: boolean;
  /** How to reach it. */
  readonly connection: ConnectionDefinition;
  /** Tools known before the server ever ran. Keywords and examples outlive discovery. */
  readonly tools: readonly ConfiguredTool[];
  readonly timeouts: { readonly connect: number | undefined; readonly call: number | undefined };
  readonly rateLimit: RateLimit | undefined;
  readonly concurrency: number | undefined;
  /** Whether the server's own hints (readOnlyHint, idempotentHint) count. */
  readonly trusted: boolean;
  /** Globs of tool names that may be repeated. */
  readonly idempotent: readonly string[];
  /** Why it must not be started here and now, and what a person can do about it; undefined: nothing is in the way. */
  readonly refusal?: string | undefined;
  /** Whether a connection over which one caller was asked may serve others. */
  readonly shared?: boolean | undefined;
  /** Where the entry was written: file and path inside it, and the client whose file it is, for messages. */
  readonly origin: {
    readonly file: string;
    readonly path: string;
    readonly client?: string | undefined;
    /** What it is called there, where another server had that name here. */
    readonly name?: string | undefined;
  };
}

/** How many calls a server gets: so many a second, and so many at once after a pause. */
export interface RateLimit {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** A tool as a configuration lists it; whatever the server says later completes it. */
export interface ConfiguredTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: JsonSchema | undefined;
  readonly keywords?: readonly string[] | undefined;
  readonly examples?: readonly ToolExample[] | undefined;
}

/** Arguments that a tool can be called with. */
export interface ToolExample {
  readonly description?: string | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** True when we made the example up from the schema. */
  readonly generated?: boolean | undefined;
}

/** A tool as its server lists it, every field kept. Only `name` and `inputSchema` have been checked. */
export interface ToolDefinition {
  readonly name: string;
  /** What clients show people in place of the name. */
  readonly title?: string | undefined;
  /** What it does, and when to use it: models choose by this. */
  readonly description?: string | undefined;
  /** JSON Schema of its arguments. */
  readonly inputSchema: JsonSchema;
  /** JSON Schema of its `structuredContent`. */
  readonly outputSchema?: JsonSchema | undefined;
  /** What it claims about itself: whether it only reads, whether it destroys, whether it may be repeated. */
  readonly annotations?: ToolAnnotations | undefined;
  readonly [key: string]: unknown;
}

/** What a server claims about a tool. Hints, to be believed only of a server that is trusted. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
  readonly [key: string]: unknown;
}

/** A tool is addressed by this pair, always. */
export interface ToolRef {
  readonly server: string;
  readonly tool: string;
}

/** A tool after the rules have spoken: what listing, searching and describing work on. */
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

/** One search hit, in the shape `search_tools` shows. */
export interface SearchResult {
  readonly server: string;
  readonly tool: string;
  readonly summary: string;
  /** In [0, 1], comparable from query to query. */
  readonly relevance: number;
  readonly tags: readonly string[];
  readonly args?: string | undefined;
}

/** A figure for one tool. */
export interface ToolScore {
  readonly server: string;
  readonly tool: string;
  readonly score: number;
}

/** What a search may be told. */
export interface SearchOptions {
  /** Only tools of this server. */
  readonly server?: string | undefined;
  /** At most this many hits. Default 10, fewer where relevance falls off. */
  readonly limit?: number | undefined;
  readonly includeDisabled?: boolean | undefined;
  /** What was learnt from use: how much each of these tools is raised for this query, 0 to 1. */
  readonly learnt?: readonly ToolScore[] | undefined;
  /** How alike these tools are to the query by another embedder, 1 for the same, 0 for anything, down to -1; in place of the built-in vectors. */
  readonly similar?: readonly ToolScore[] | undefined;
}

/** What a text is turned into a vector for; some models want to be told. */
export interface EmbedOptions {
  readonly purpose?: 'query' | 'tool' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Turns texts into vectors, one for each, in order. What comes back is checked, so a bad vector spoils nothing. */
export interface Embedder {
  /** Names the model and what else its vectors depend on: they are kept under this name. */
  readonly id: string;
  /** Gets at most 64 texts at once. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly Float32Array[]>;
}

/** How far an embedder has come, and why it is not used if it is not. */
export interface EmbedderStatus {
  readonly id: string;
  /** Tools there are, and those that have a vector. */
  readonly tools: number;
  readonly embedded: number;
  readonly problem?: string | undefined;
}

/** Whether a server is connected now, not needed yet, or could not be reached. */
export type ServerStatus = 'connected' | 'disconnected' | 'error';

/** A server and what is known of it. */
export interface ServerMetadata {
  readonly name: string;
  readonly description: string;
  readonly toolCount: number;
  readonly enabledCount: number;
  readonly status: ServerStatus;
  /** Why the status is what it is, when that is not obvious. */
  readonly reason?: string | undefined;
  /** True when the tool list is older than we may vouch for. */
  readonly stale?: boolean | undefined;
  /** When it last listed its tools, in milliseconds since 1970; undefined when it never did. */
  readonly listedAt?: number | undefined;
  /** The client whose file the server was imported from, such as `cursor`; absent for other entries. */
  readonly client?: string | undefined;
  readonly config: ConnectionDefinition;
}

/** A rule that enables, disables or tags tools by name. */
export interface ToolRule {
  readonly pattern: readonly string[];
  readonly server?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  /** It was made for the server of this name, and for none that has the name elsewhere. No file can say it. */
  readonly exact?: boolean | undefined;
}

/** Which rule decides: the first that matches and says `enabled`, or any that says no. */
export type RulePrecedence = 'first-match' | 'deny-wins';

/** What a `tools/call` returned, unchanged. */
export interface CallToolResult {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  readonly [key: string]: unknown;
}

/** One part of a result: text, an image, a resource, or what later revisions bring. */
export interface ContentBlock {
  readonly type: string;
  /** Of a `text` block. */
  readonly text?: string | undefined;
  readonly [key: string]: unknown;
}

/** How far a call has come. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** What a downstream server asks of the agent: elicitation, sampling or roots. */
export interface ServerRequest {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** Who is calling, and how they can be asked something while a call runs. */
export interface Caller {
  /** An authenticated identity, when there is one. Never sent downstream. */
  readonly principal?: string | undefined;
  /** One long-lived client connection. Absent for stateless requests. */
  readonly session?: string | undefined;
  /** The socket a stateless request came on. Calls are counted by it, and late questions told apart; it proves nothing. */
  readonly socket?: string | undefined;
  /** What a client on the network calls itself. All that say the same share a ceiling of calls; it proves nothing. */
  readonly clientName?: string | undefined;
  /** The client's own capabilities as it declared them (`elicitation`, `sampling`, `roots`). */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** Puts a server's question to the agent and gives back its answer. Absent: nobody can be asked. */
  readonly ask?: ((request: ServerRequest, signal?: AbortSignal) => Promise<Record<string, unknown>>) | undefined;
  /** The protocol revision the caller speaks; results are fitted to it. Unknown: the newest. */
  readonly revision?: string | undefined;
  /** The caller relays a server 1:1 and needs a connection whose notifications are all its own. */
  readonly exclusive?: boolean | undefined;
  /** The caller understands `input_required` results (protocol 2026-07-28), so they are handed on as they are. */
  readonly acceptsInputRequired?: boolean | undefined;
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
  /** Gets what the server says beside progress, where the connection is the caller's own. */
  readonly onNotification?: ((method: string, params: Readonly<Record<string, unknown>>) => void) | undefined;
  /** `_meta` entries to hand on (trace context). */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** Answers to an earlier `input_required` result of a modern server, handed on verbatim. */
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: string | undefined;
  /** When the caller stops waiting, on the execution clock (`performance.now()`); it replaces the usual time-outs. */
  readonly deadline?: number | undefined;
  /** What times its silence, once a step does. */
  readonly idleClock?: IdleClock | undefined;
  /** The tool, once a step has looked it up. */
  readonly definition?: ToolDefinition | undefined;
  /** What steps write down about the result, for the audit log. */
  readonly notes?: CallNotes | undefined;
}

/** Times the silence of one call. A server that waits for the caller's answer to a question is not silent: the clock stands still meanwhile. */
export interface IdleClock {
  /** Stops it until `resume` was called as often. */
  pause(): void;
  /** Starts it from zero. */
  resume(): void;
}

/** Facts about the result of one call. */
export interface CallNotes {
  /** Size as JSON, in bytes; of the message it came in, where that was counted. */
  bytes?: number | undefined;
  /** Milliseconds the call waited for a connection, where none was open: the start of a server, mostly. */
  connectMs?: number | undefined;
  /** Things an operator should see, for example `invalid_schema` or `invalid_output`. */
  flags?: readonly string[] | undefined;
}

/** Where messages for people go. Pino-compatible subset. */
export interface Logger {
  debug(fields: object, message?: string): void;
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}
