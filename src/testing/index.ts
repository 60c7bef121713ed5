/**
 * Exports real MCP servers for the tests of programs that use this package (`@anygpt/discovery/testing`).
 * @module
 */
export {
  startTestServer,
  type TestServer,
  type TestTool,
} from './start-test-server.ts';
