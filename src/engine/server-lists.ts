/**
 * Reads the lists of servers over open connections, without the secrets that the servers were given.
 * @module
 */
import type { Listing } from '../catalog/listing.ts';
import { paced } from '../catalog/paced.ts';
import type { ConnectionPool } from '../connections/connection-pool.ts';
import { fingerprint } from '../connections/fingerprint.ts';
import type { ServerIdentity } from '../connections/handshake.ts';
import { JsonRpcError, METHOD_NOT_FOUND } from '../connections/json-rpc.ts';
import type { McpConnection } from '../connections/mcp-connection.ts';
import type { ToolList } from '../connections/tool-list.ts';
import { itemDefinitions } from '../core/item-definition.ts';
import { DEFAULTS, LIMITS } from '../core/limits.ts';
import { isLocal } from '../core/transport-parts.ts';
import type { Caller, Introduction, RateLimit, ServerDefinition, ServerItems } from '../core/types.ts';
import { TokenBucket } from '../execution/token-bucket.ts';
import { redactData, redactDefinitions } from '../secrets/redact-data.ts';
import type { Redact } from '../secrets/redactor.ts';
import { ConfirmedLists } from './confirmed-lists.ts';
import type { EngineSecrets } from './engine-secrets.ts';
import type { EngineWorld } from './engine-world.ts';

type Introducing = Pick<ServerIdentity, 'serverInfo' | 'instructions'>;

export class ServerLists {
  /** What servers that need approval have listed, by connection. */
  readonly confirmed: ConfirmedLists<ToolList>;
  /** The same for resources, templates and prompts. */
  readonly confirmedItems: ConfirmedLists<Pick<ToolList, 'tools'>>;
  readonly #world: EngineWorld;
  readonly #secrets: EngineSecrets;
  readonly #verdict: ConnectionPool['verdict'];
  readonly #subscribed = new WeakSet<McpConnection>();
  readonly #turns = new Map<string, TokenBucket>();

  /** `verdict` returns what was learnt about the connections of a server. */
  constructor(world: EngineWorld, secrets: EngineSecrets, verdict: ConnectionPool['verdict']) {
    this.#world = world;
    this.#secrets = secrets;
    this.#verdict = verdict;
    this.confirmed = new ConfirmedLists((connection) => this.#readTools(connection), world.elapsed);
    this.confirmedItems = new ConfirmedLists((connection) => this.#readItems(connection), world.elapsed);
  }

  /**
   * Waits for the turn to ask a server for its list. A local server waits only for a `rate` that a caller gives, which
   * holds until another one is given.
   */
  async turn({ name, connection }: ServerDefinition, rate?: RateLimit): Promise<void> {
    const known = this.#turns.get(name);
    if (known === undefined && rate === undefined && isLocal(connection)) return;
    const now = this.#world.elapsed();
    const bucket = known ?? new TokenBucket(rate ?? DEFAULTS.listing, now);
    if (known && rate) known.change(rate, now);
    this.#turns.set(name, bucket);
    const wait = bucket.take(now, Number.POSITIVE_INFINITY) ?? 0;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait).unref());
  }

  /** Reads a server's tools, resources and prompts. */
  async read(connection: McpConnection, definition: ServerDefinition, caller?: Caller): Promise<Listing> {
    try {
      const { serverInfo } = connection.identity;
      const { known, redact: redactWords } = this.#secrets;
      const { redact } = known;
      const tools = this.readTools(connection, definition);
      const [list, { skipped, ...items }] = await Promise.all([tools, connection.listItems()]);
      return {
        server: definition.name,
        fingerprint: fingerprint(definition.connection),
        fetchedAt: this.#world.now(),
        ...list,
        items: await redactItems(items, redact),
        skipped: redactData([...list.skipped, ...skipped], redactWords),
        incomplete: list.incomplete && redactWords(list.incomplete),
        serverVersion:
          typeof serverInfo.version === 'string' ? redact.cut(serverInfo.version, LIMITS.names.shown) : undefined,
        introduction: this.introduction(connection.identity),
        verdict: this.#verdict(definition),
        ...(caller?.ask && { interactive: true }),
      };
    } catch (error) {
      throw this.#secrets.hideIn(error, definition.name);
    }
  }

  /** What a server says of itself: all but its name and version, or the beginning of title and instructions if it is long. */
  introduction({ serverInfo, instructions }: Introducing): Introduction | undefined {
    const { name: _name, version: _version, ...about } = serverInfo;
    const { redact } = this.#secrets.known;
    const said = redactData({ ...about, ...(instructions !== undefined && { instructions }) }, redact);
    if (JSON.stringify(said).length > LIMITS.approvals.keptDefinition) {
      const cut = (text: unknown) => redact.cut(String(text ?? ''), LIMITS.text.description);
      return { title: cut(about.title), instructions: cut(instructions) };
    }
    return Object.keys(said).length > 0 ? said : undefined;
  }

  /** Reads a server's tools. */
  readTools(connection: McpConnection, { approval }: ServerDefinition): Promise<ToolList> {
    return approval ? this.confirmed.read(connection) : this.#readTools(connection);
  }

  async #readTools(connection: McpConnection): Promise<ToolList> {
    // Subscribe first, so that no change between listing and subscribing is missed.
    this.subscribe(connection);
    const list = await listTools(connection);
    return { ...list, tools: await paced(redactDefinitions(list.tools, this.#secrets.known.redact)) };
  }

  async #readItems(connection: McpConnection): Promise<Pick<ToolList, 'tools'>> {
    this.subscribe(connection);
    const { skipped: _skipped, ...items } = await connection.listItems();
    return { tools: itemDefinitions(await redactItems(items, this.#secrets.known.redact)) };
  }

  /** Asks a server to announce changed lists, once for each connection. */
  subscribe(connection: McpConnection): void {
    if (this.#subscribed.has(connection)) return;
    this.#subscribed.add(connection);
    const { resources, prompts } = connection.identity.capabilities;
    connection.subscribe({
      toolsListChanged: true,
      ...(resources !== undefined && { resourcesListChanged: true }),
      ...(prompts !== undefined && { promptsListChanged: true }),
    });
  }
}

async function redactItems(items: Partial<ServerItems>, redact: Redact): Promise<Partial<ServerItems>> {
  const lists = Object.entries(items).map(
    async ([list, entries]) => [list, await paced(redactDefinitions<object>(entries, redact))] as const,
  );
  return Object.fromEntries(await Promise.all(lists));
}

/** Lists tools. A server that does not know `tools/list` has none. */
async function listTools(connection: McpConnection) {
  try {
    return await connection.listTools();
  } catch (error) {
    if (error instanceof JsonRpcError && error.code === METHOD_NOT_FOUND)
      return { tools: [], skipped: [], incomplete: undefined };
    throw error;
  }
}
