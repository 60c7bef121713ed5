/**
 * How the gateway introduces itself, and the answers a client of the old protocol gets first. They are the SDK's own, given
 * without it: loading the SDK takes longer than the rest of a start (`npm run bench:gateway -- --only start`), and most
 * clients never ask for anything else. What is not as plain as it mostly is, is left to the SDK.
 * @module
 */
import { LEGACY_VERSIONS } from '../connections/handshake.ts';
import type { ToolDefinition } from '../core/types.ts';
import { IDENTITY } from '../core/version.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import { isObject } from '../json/plain-object.ts';
import { metaToolDefinitions } from '../meta-tools/meta-tools.ts';

/** What a server says of itself, and the tools it lists. */
export interface Introduction {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly capabilities: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly instructions: string;
  listTools(): Promise<readonly ToolDefinition[]>;
}

/** A client that was answered: what it can do, and the protocol revision spoken with it. */
export interface Greeting {
  readonly revision: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
}

type Params = Readonly<Record<string, unknown>> | undefined;

/** The gateway with its five meta-tools. */
export const introductionOf = (engine: EngineCore): Introduction => ({
  serverInfo: IDENTITY,
  capabilities: { tools: { listChanged: true } },
  instructions:
    'Tools of many servers stand behind these five. Find one with search_tools, then call it with execute_tool.',
  // Asked for anew each time: the servers it names change on reload. Without a configuration the tools are there to say so.
  listTools: async () => metaToolDefinitions(await engine.serverNames().catch(() => [])),
});

/** Answers `initialize`, where the request is plain. */
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

/** The work of answering a request that comes after `initialize`, if it is one that needs no SDK. */
export function earlyAnswer(
  { listTools }: Introduction,
  method: string | undefined,
  params: Params,
): (() => Promise<Record<string, unknown>>) | undefined {
  if (method === 'ping') return async () => ({});
  const isWholeList = method === 'tools/list' && Object.keys(params ?? {}).every((key) => key === '_meta');
  return isWholeList ? async () => ({ tools: await listTools() }) : undefined;
}

function isPlainGreeting({
  protocolVersion,
  capabilities,
  clientInfo,
  _meta,
}: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof protocolVersion === 'string' &&
    isObject(capabilities) &&
    Object.entries(capabilities).every(isPlainCapability) &&
    isObject(clientInfo) &&
    typeof clientInfo.name === 'string' &&
    typeof clientInfo.version === 'string' &&
    Object.entries(clientInfo).every(([key, value]) => typeof value === 'string' && key !== 'icons') &&
    // Envelopes belong to the new protocol.
    _meta === undefined
  );
}

/** What is inside of these is for nobody to judge. */
const OPEN_ENDED = ['experimental', 'extensions'];

const isPlainCapability = ([name, capability]: [string, unknown]): boolean =>
  isObject(capability) &&
  Object.entries(capability).every(([key, value]) => {
    if (name === 'roots' && key === 'listChanged') return typeof value === 'boolean';
    return isObject(value) && (OPEN_ENDED.includes(name) || Object.keys(value).length === 0);
  });
