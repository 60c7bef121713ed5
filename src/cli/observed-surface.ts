/**
 * Wraps what a gateway shows in traces, and counts the sessions of its clients.
 * @module
 */
import type { Surface } from '../gateway/serve-stdio.ts';
import type { GatewayTelemetry } from '../telemetry/gateway-telemetry.ts';

/** Returns the surface with its requests traced. */
export function observed(surface: Surface, telemetry: GatewayTelemetry, isHttp: boolean): Surface {
  if (isHttp) telemetry.overHttp();
  return {
    ...surface,
    run: telemetry.serving(surface.run),
    createServer: async (handler, identity) => {
      const server = await surface.createServer(handler, { ...identity, traced: telemetry.request });
      // On stdio, one client is there for as long as the gateway runs.
      if (!isHttp || identity.era !== 'legacy') return server;
      const ended = telemetry.session();
      const close = server.onclose;
      server.onclose = () => {
        close?.();
        ended();
      };
      return server;
    },
  };
}
