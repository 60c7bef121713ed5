/**
 * Offers the discovered tools of one server as a provider.
 * @module
 */
import { DiscoveryError } from '../core/errors.ts';
import type { ToolProvider } from '../core/tool-provider.ts';
import type { ToolDefinition } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';
import type { DiscoveredTool } from './discover-server.ts';

/** Returns a provider. `discover` finds and registers the tools of the server. */
export function serverProvider(
  name: string,
  engine: () => Promise<EngineCore>,
  discover: () => Promise<readonly DiscoveredTool[]>,
): ToolProvider {
  const listed = async (): Promise<ToolDefinition[]> => {
    const all = await discover();
    // A tool that has changed since it was listed first cannot be called, so it is not shown either.
    const registered = (await engine()).runtime.guests.state(name)?.registered;
    return all.filter(({ provider, pin }) => registered?.hasOther(provider.toolName, pin) !== true).map(toDefinition);
  };
  return {
    name,
    listToolMetadata: listed,
    getTool: async (tool) => (await listed()).find((one) => one.name === tool),
    callTool: async (tool, args, context) => {
      const core = await engine();
      if (!core.runtime.stateOf(name)?.servers.has(name)) await discover();
      const result = await core.call({ server: name, tool, arguments: args, ...context });
      if (result.success) return result.data;
      throw new DiscoveryError(result.error.code, result.error.message, result.error);
    },
  };
}

function toDefinition({ provider, title, description, inputSchema, ...tool }: DiscoveredTool): ToolDefinition {
  // A result is checked against an output schema, so a guessed one stays out.
  const outputSchema = tool.outputInferred ? undefined : tool.outputSchema;
  return { name: provider.toolName, title, description, inputSchema, outputSchema, annotations: tool.annotations };
}
