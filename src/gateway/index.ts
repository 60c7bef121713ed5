/**
 * The gateway's public surface: an engine served to agents.
 * @module
 */

export { META_TOOL_NAMES, metaToolDefinitions } from '../meta-tools/meta-tools.ts';
export { exposedSurface } from './exposed-server.ts';
export { type ServedHttp, type ServeHttpOptions, serveGatewayOnHttp } from './serve-http.ts';
export {
  discoverySurface,
  type ServedGateway,
  type ServeStdioOptions,
  type Surface,
  serveGatewayOnStdio,
} from './serve-stdio.ts';
