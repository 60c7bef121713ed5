/**
 * Greets a server: `initialize` up to protocol 2025-11-25, `server/discover` from 2026-07-28 on.
 * @module
 */

import { isObject } from '../json/plain-object.ts';
import { JsonRpcError, type Wire } from './json-rpc.ts';
import type { Peer } from './peer.ts';
import { inVersion } from './version-retry.ts';

export type ProtocolEra = 'legacy' | 'modern';

export const MODERN_VERSION = '2026-07-28';
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const;

export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const;

/** What a server says about itself. Shown to people; never used to identify it. */
export interface ServerIdentity {
  readonly era: ProtocolEra;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly serverInfo: Readonly<Record<string, unknown>>;
  readonly instructions: string | undefined;
}

export interface ClientIdentity {
  readonly name: string;
  readonly version: string;
}

const record = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Performs the handshake of protocol 2025-11-25 and before. */
export async function initialize(
  peer: Peer,
  wire: Wire,
  client: ClientIdentity,
  capabilities: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<ServerIdentity> {
  const { result } = await peer.request(
    'initialize',
    { protocolVersion: LEGACY_VERSIONS[0], capabilities, clientInfo: client },
    { signal },
  );
  const version = text(result.protocolVersion);
  if (!version || !(LEGACY_VERSIONS as readonly string[]).includes(version)) {
    throw new Error(
      `the server answered with protocol version ${JSON.stringify(result.protocolVersion ?? null)}, which is not supported`,
    );
  }
  wire.setProtocolVersion?.(version);
  peer.notify('notifications/initialized');
  return {
    era: 'legacy',
    protocolVersion: version,
    capabilities: record(result.capabilities),
    serverInfo: record(result.serverInfo),
    instructions: text(result.instructions),
  };
}

/** Performs the opening of protocol 2026-07-28: one request, then an envelope on every request. */
export async function discover(
  peer: Peer,
  wire: Wire,
  client: ClientIdentity,
  capabilities: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<ServerIdentity> {
  const before = peer.envelope;
  peer.envelope = {
    [META.protocolVersion]: MODERN_VERSION,
    [META.clientInfo]: client,
    [META.clientCapabilities]: capabilities,
  };
  try {
    const { result } = await inVersion(MODERN_VERSION, () => peer.request('server/discover', {}, { signal }));
    const versions = Array.isArray(result.supportedVersions) ? result.supportedVersions : [];
    if (!versions.includes(MODERN_VERSION)) {
      throw new JsonRpcError(-32022, `the server supports ${versions.join(', ') || 'no known version'}`);
    }
    wire.setProtocolVersion?.(MODERN_VERSION);
    return {
      era: 'modern',
      protocolVersion: MODERN_VERSION,
      capabilities: record(result.capabilities),
      serverInfo: record(record(result._meta)[META.serverInfo] ?? result.serverInfo),
      instructions: text(result.instructions),
    };
  } catch (error) {
    peer.envelope = before;
    throw error;
  }
}
