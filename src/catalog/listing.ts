/**
 * Defines one server's tool list as last read, and converts its tools for listing and search.
 * @module
 */

import { isProvider, type SourceDefinition } from '../core/tool-provider.ts';
import type { TransportType } from '../core/transport-parts.ts';
import type { Introduction, ServerItems, ToolDefinition, ToolMetadata } from '../core/types.ts';
import type { ToolPolicy } from '../rules/tool-policy.ts';
import { firstSentence, oneLine, shorten } from '../text/plain-text.ts';
import { signature } from './signature.ts';

/** A tool list with what was learnt while reading it. Saved to disk in this form. */
export interface Listing {
  readonly server: string;
  /** Identifies the connection the list came from. A list of another connection does not count. */
  readonly fingerprint: string;
  /** Milliseconds since 1970; 0 if the list comes only from the configuration. */
  readonly fetchedAt: number;
  readonly tools: readonly ToolDefinition[];
  /** Resources and prompts. A list that is absent could not be read: what is known of it stays. */
  readonly items?: Partial<ServerItems> | undefined;
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  readonly incomplete?: string | undefined;
  /** Whether the list is incomplete because of a limit of ours. */
  readonly isCut?: boolean | undefined;
  /** Listed for a client that can be asked questions. Some servers show such clients more tools. */
  readonly interactive?: boolean | undefined;
  /** The version that the server gives itself. */
  readonly serverVersion?: string | undefined;
  readonly introduction?: Introduction | undefined;
  readonly verdict?: { readonly era: 'legacy' | 'modern'; readonly transport: TransportType } | undefined;
}

const EMPTY_SCHEMA = Object.freeze({ type: 'object' });

/** The list given by the configuration, for a server that was never listed. */
export function configuredListing(definition: SourceDefinition, fingerprint: string): Listing {
  return {
    server: definition.name,
    fingerprint,
    fetchedAt: 0,
    skipped: [],
    tools: definition.tools.map(({ name, description, inputSchema }) => ({
      name,
      ...(description !== undefined && { description }),
      inputSchema: inputSchema ?? EMPTY_SCHEMA,
    })),
  };
}

/** Rebuilds a list from its index entry and tools. */
export function listingOf(
  known: Omit<Listing, 'server' | 'tools' | 'items' | 'introduction' | 'skipped'> & { readonly name: string },
  parts: Pick<Listing, 'tools' | 'items' | 'introduction'>,
): Listing {
  const { name: server, fingerprint, fetchedAt, serverVersion } = known;
  const { verdict, incomplete, interactive } = known;
  const about = { serverVersion, verdict, incomplete, interactive };
  return { server, fingerprint, fetchedAt, ...about, ...parts, skipped: [] };
}

/**
 * Converts a list's tools for listing and search, with the decision on each and the texts of the configuration.
 */
export function toMetadata(
  { server }: Pick<Listing, 'server'>,
  definition: SourceDefinition,
  policy: Pick<ToolPolicy, 'decide'>,
): (tool: ToolDefinition) => ToolMetadata {
  // A provider's keywords are checked; extra keys of a server's definitions are not.
  const isOwn = isProvider(definition);
  const configured = new Map(definition.tools.map((tool) => [tool.name, tool]));
  return (tool) => {
    const { enabled, tags, approval, isNameOnly } = policy.decide(server, tool);
    if (isNameOnly) return { server, name: tool.name, summary: '', enabled, tags };
    const own = configured.get(tool.name);
    const description = tool.description ?? own?.description;
    const title = tool.title ?? titleOf(tool);
    return {
      server,
      name: tool.name,
      summary: firstSentence(description ?? title ?? ''),
      signature: signature(tool.inputSchema),
      title,
      description,
      inputSchema: tool.inputSchema,
      outputSchema: tool.outputSchema,
      annotations: tool.annotations,
      keywords: own?.keywords ?? (isOwn ? (tool.keywords as readonly string[] | undefined) : undefined),
      examples: own?.examples,
      enabled,
      ...(approval && { approval }),
      tags,
    };
  };
}

/** Annotations of servers are unchecked. */
function titleOf({ annotations }: ToolDefinition): string | undefined {
  const title: unknown = annotations?.title;
  return typeof title === 'string' ? title : undefined;
}

/** The title and the beginning of the instructions of a server. */
export interface Words {
  readonly title?: string | undefined;
  readonly instructions?: string | undefined;
}

/** Returns the words of an introduction that an index keeps. */
export function wordsOf({ title, instructions }: Introduction): Words {
  const text = (value: unknown) => (typeof value === 'string' ? shorten(value, 500) : undefined);
  return { title: text(title), instructions: text(instructions) };
}

/** A server's description in one line: the configured one, else its title, else the start of its instructions. */
export function about(definition: SourceDefinition, { title, instructions }: Words): string {
  return oneLine(definition.description ?? title ?? (instructions ? firstSentence(instructions) : ''), 120);
}
