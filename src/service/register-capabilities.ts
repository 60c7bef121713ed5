/**
 * Registers capabilities: with the marketplace and the catalogue of a program, or with the engine.
 * @module
 */
import type { EngineRuntime } from '../engine/engine-runtime.ts';
import type { Registration } from '../engine/guest-tools.ts';
import type { DiscoveredTool } from './discover-server.ts';
import type { CapabilityManifest } from './manifest.ts';

/** Takes capabilities that are registered. */
export interface CapabilityPort {
  register(manifest: CapabilityManifest): void | Promise<void>;
}

/** Where registered capabilities go. */
export interface ServicePorts {
  /** Calls capabilities. Default: the engine. */
  readonly marketplace?: CapabilityPort | undefined;
  /** Finds capabilities. Default: the engine. */
  readonly catalog?: CapabilityPort | undefined;
}

/**
 * Registers capabilities.
 * @param isStanding the program has not reviewed these tools, so that earlier registrations stay as they were
 */
export async function registerCapabilities(
  manifests: readonly CapabilityManifest[],
  { marketplace, catalog }: ServicePorts,
  runtime: EngineRuntime,
  isStanding = false,
): Promise<void> {
  if (marketplace === undefined || catalog === undefined) await registerHere(manifests, runtime, isStanding);
  for (const port of new Set([marketplace, catalog]))
    for (const manifest of manifests) await port?.register(manifestOf(manifest));
}

/** The engine as marketplace and catalogue. Tools of configured servers are found and called anyway. */
async function registerHere(
  manifests: readonly CapabilityManifest[],
  runtime: EngineRuntime,
  isStanding: boolean,
): Promise<void> {
  const { state } = await runtime.ready();
  const tools = new Map<string, Registration[]>();
  for (const { provider, pin } of manifests) {
    const { server: name, serverUrl: url, toolName } = provider;
    if (state.servers.has(name)) continue;
    // A capability that was written down says where its server is. It gets no token and no variable: files can be forged.
    if (runtime.guests.state(name) === undefined && url !== undefined && !url.includes('${'))
      await runtime.admit(await runtime.world.resolveServer({ name, connection: { type: 'http', url } }));
    if (isStanding && runtime.guests.state(name)?.registered.has(toolName)) continue;
    tools.set(name, [...(tools.get(name) ?? []), { tool: toolName, pin }]);
  }
  for (const [name, registrations] of tools) await runtime.register(name, registrations);
}

/** A capability without what a discovery adds. */
export const manifestOf = (tool: CapabilityManifest): CapabilityManifest => {
  const { inputType: _input, outputType: _output, problems: _problems, ...manifest } = tool as DiscoveredTool;
  return manifest;
};
