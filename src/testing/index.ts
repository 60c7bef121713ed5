/**
 * `@anygpt/discovery/testing`: real MCP servers for the tests of programs that use this package.
 * @module
 */
export {
  startTestServer,
  type TestServer,
  type TestServerOptions,
  type TestTool,
  type TestToolContext,
} from './start-test-server.ts';
