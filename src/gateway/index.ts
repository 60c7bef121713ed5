/**
 * Exports the public API of `@anygpt/discovery/gateway`, which serves an engine to agents.
 * @module
 */

export { exposedSurface } from './exposed-server.ts';
export { exposedServersSurface } from './exposed-servers.ts';
export { type ServedHttp, type ServeHttpOptions, serveGatewayOnHttp } from './serve-http.ts';
export { type ServedGateway, type ServeStdioOptions, type Surface, serveGatewayOnStdio } from './serve-stdio.ts';
