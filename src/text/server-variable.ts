/**
 * Names the environment variables that belong to a server.
 * @module
 */

/** `my-server` and `MCP_TOKEN` give `MY_SERVER_MCP_TOKEN`. */
export const serverVariable = (server: string, suffix: string): string =>
  `${server.toUpperCase().replace(/[^A-Z0-9]/gu, '_')}_${suffix}`;
