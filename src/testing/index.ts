/**
 * Exports real MCP servers for the tests of programs that use this package (`@anygpt/discovery/testing`).
 * @module
 */
export {
  startTestServer,
  type TestServer,
  type TestServerOptions,
  type TestTool,
  type TestToolContext,
} from './start-test-server.ts';
