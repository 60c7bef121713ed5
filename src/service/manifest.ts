/**
 * Makes capability manifests of tools: what a tool is called, takes, returns, belongs to and does. Pure.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { addressWords, isLocal } from '../core/transport-parts.ts';
import type { JsonSchema, ServerDefinition, ToolAnnotations, ToolMetadata } from '../core/types.ts';
import { isObject } from '../json/plain-object.ts';
import { maskSecrets } from '../secrets/credential-patterns.ts';
import { REDACTED } from '../secrets/redactor.ts';
import { secretParts } from '../secrets/secret-values.ts';
import { shorten } from '../text/plain-text.ts';
import { type ClassedServer, categoriesOf, domainsOf } from './infer/classes-of.ts';

/** How a capability is reached. */
export interface CapabilityProvider {
  readonly type: 'mcp';
  /** The server's name, as the gateway knows it. */
  readonly server: string;
  /** The server's address without credentials; absent for a local program. */
  readonly serverUrl?: string | undefined;
  readonly toolName: string;
}

/** One tool as a capability. */
export interface CapabilityManifest {
  /** `mcp.<server>.<tool>` */
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Undefined: not known. */
  readonly outputSchema?: JsonSchema | undefined;
  /** The output schema was inferred from results, so it refuses nothing. */
  readonly outputInferred?: boolean | undefined;
  readonly provider: CapabilityProvider;
  /** The widest first: `github`, `github.issues`. */
  readonly domains: readonly string[];
  readonly categories: readonly string[];
  readonly title?: string | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** SHA-256 of the definition that the server listed. A registered tool is called only while it is this one. */
  readonly pin?: string | undefined;
}

/** The parts of a tool that a manifest needs; a `ToolDefinition` has them, too. */
export type ManifestTool = Pick<
  ToolMetadata,
  'name' | 'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
>;

/** The parts of a server's definition that a manifest needs. */
interface ManifestServer extends ClassedServer {
  readonly connection?: ServerDefinition['connection'] | undefined;
  /** The server's version, from `initialize` or a registry. */
  readonly version?: string | undefined;
}

/** MCP tools have no versions. */
const FIRST_VERSION = '1.0.0';

/** Returns the manifest of a tool, with configured or inferred domains and categories. Takes any definition and never throws. */
export function toolToManifest(tool: ManifestTool, server: ManifestServer): CapabilityManifest {
  const { name, title, inputSchema, outputSchema } = tool;
  const said = textIn(tool.description) ?? textIn(title);
  const annotations = isObject(tool.annotations) ? tool.annotations : undefined;
  const serverUrl = addressOf(server);
  return {
    id: `mcp.${server.name}.${name}`,
    version: server.version ?? FIRST_VERSION,
    description: shorten(said ?? name, LIMITS.text.description),
    inputSchema: isObject(inputSchema) ? inputSchema : { type: 'object' },
    ...(isObject(outputSchema) && { outputSchema }),
    provider: { type: 'mcp', server: server.name, ...(serverUrl !== undefined && { serverUrl }), toolName: name },
    domains: domainsOf(server, name),
    categories: categoriesOf(server, { name, annotations, description: said }),
    ...(textIn(title) !== undefined && { title }),
    ...(annotations && { annotations }),
  };
}

/** The URL without user, password, query and whatever looks like a key in its path. References stay as written. */
function addressOf({ connection }: ManifestServer): string | undefined {
  if (connection === undefined || isLocal(connection)) return undefined;
  const [url = ''] = addressWords(connection);
  const plain = url.replace(/[?#].*$/s, '').replace(/^(\w+:\/\/)[^/]*@/, '$1');
  const secrets = [plain, ...plain.split('/')].flatMap((part) => secretParts(part.replace(/\$\{[^}]*\}/g, ''), ''));
  return maskSecrets(secrets.reduce((text, secret) => text.replaceAll(secret, REDACTED), plain));
}

const textIn = (text: unknown): string | undefined =>
  typeof text === 'string' && text.trim() !== '' ? text : undefined;
