/**
 * Answers the first requests of a client as the SDK would, without loading it. Loading the SDK takes longer than the
 * rest of a start (`npm run bench:gateway -- --only start`), and most clients never ask for anything else. Anything
 * unusual goes to the SDK.
 * @module
 */
import { LEGACY_VERSIONS, META, MODERN_VERSION, type ProtocolEra } from '../connections/handshake.ts';
import { LIMITS } from '../core/limits.ts';
import type { Caller, ToolDefinition } from '../core/types.ts';
import { IDENTITY } from '../core/version.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { isObject } from '../json/plain-object.ts';
import { metaToolDefinitions } from '../meta-tools/meta-tools.ts';
import { isClientsOwn } from './request-fault.ts';

/** How a server introduces itself, and the tools it lists. */
export interface Introduction {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly capabilities: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly instructions: string;
  /** Whether the list of tools is one caller's own. */
  readonly isPersonal: boolean;
  listTools(): Promise<readonly ToolDefinition[]>;
}

/** A greeted client: its capabilities, the protocol revision, and the answer it gets. */
interface Greeting {
  readonly revision: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
}

type Params = Readonly<Record<string, unknown>> | undefined;

/** Introduces the gateway to a caller: with its five meta-tools, and those that are pinned. */
export const introductionOf = (engine: EngineCore, caller?: Caller): Introduction => ({
  serverInfo: IDENTITY,
  capabilities: { tools: { listChanged: true } },
  instructions:
    'These five tools give access to the tools of many servers. Find one with search_tools, then call it with execute_tool.',
  isPersonal: caller?.principal !== undefined || caller?.profile !== undefined,
  // Built for each request, because the server names change on reload. Without a configuration the tools are still
  // listed, and their answers say why.
  listTools: async () => {
    const names = await engine.serverNames({ caller }).catch(() => []);
    const pinned = await engine.pinned({ caller }).catch(() => undefined);
    const five = metaToolDefinitions(names);
    return pinned?.size ? [...five, ...[...pinned.values()].map(({ definition }) => definition)] : five;
  },
});

/** Answers a plain `initialize`; undefined for any other. */
export function greet({ serverInfo, capabilities, instructions }: Introduction, params: Params): Greeting | undefined {
  if (params === undefined || !isPlainGreeting(params)) return undefined;
  const wanted = LEGACY_VERSIONS.find((version) => version === params.protocolVersion);
  const revision = wanted ?? LEGACY_VERSIONS[0];
  return {
    revision,
    capabilities: params.capabilities as Readonly<Record<string, unknown>>,
    result: { protocolVersion: revision, capabilities, serverInfo, instructions },
  };
}

/** How long a client of the new protocol may cache the list of tools, and whether others may use that. */
export const toolListAge = ({ isPersonal }: Introduction): { ttlMs: number; cacheScope: 'private' | 'public' } => ({
  ttlMs: LIMITS.age.metaTools,
  cacheScope: isPersonal ? 'private' : 'public',
});

/** The answer to a request other than `initialize`, if it needs no SDK. */
export function earlyAnswer(
  introduction: Introduction,
  era: ProtocolEra,
  method: string | undefined,
  params: Params,
): (() => Promise<Record<string, unknown>>) | undefined {
  const { capabilities, instructions, listTools } = introduction;
  const isModern = era === 'modern';
  if (method === 'ping' && !isModern) return async () => ({});
  if (isModern && !isPlainEnvelope(params)) return undefined;
  if (!Object.keys(params ?? {}).every((key) => key === '_meta')) return undefined;
  if (method === 'tools/list')
    return async () => ({ tools: await listTools(), ...(isModern && toolListAge(introduction)) });
  if (method !== 'server/discover' || !isModern) return undefined;
  return async () => ({
    supportedVersions: [MODERN_VERSION],
    capabilities,
    instructions,
    ttlMs: 0,
    cacheScope: 'private',
  });
}

/** Tells whether a request of the new protocol comes with an envelope that the SDK would accept. */
export function isPlainEnvelope(params: Params): boolean {
  if (!isObject(params?._meta)) return false;
  const {
    [META.protocolVersion]: protocolVersion,
    [META.clientCapabilities]: capabilities,
    [META.clientInfo]: clientInfo,
    ...own
  } = params._meta;
  return (
    protocolVersion === MODERN_VERSION &&
    isPlainClient(capabilities, clientInfo) &&
    Object.keys(own).every(isClientsOwn)
  );
}

const isPlainGreeting = ({ protocolVersion, capabilities, clientInfo, _meta }: NonNullable<Params>): boolean =>
  // Envelopes belong to the new protocol.
  typeof protocolVersion === 'string' && isPlainClient(capabilities, clientInfo) && _meta === undefined;

const isPlainClient = (capabilities: unknown, clientInfo: unknown): boolean =>
  isObject(capabilities) &&
  Object.entries(capabilities).every(isPlainCapability) &&
  isObject(clientInfo) &&
  typeof clientInfo.name === 'string' &&
  typeof clientInfo.version === 'string' &&
  Object.entries(clientInfo).every(([key, value]) => typeof value === 'string' && key !== 'icons');

/** The content of these capabilities is not checked. */
const OPEN_ENDED = ['experimental', 'extensions'];

const isPlainCapability = ([name, capability]: [string, unknown]): boolean =>
  isObject(capability) &&
  Object.entries(capability).every(([key, value]) => {
    if (name === 'roots' && key === 'listChanged') return typeof value === 'boolean';
    return isObject(value) && (OPEN_ENDED.includes(name) || Object.keys(value).length === 0);
  });
