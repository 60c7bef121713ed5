// Requests that clients of both protocols make for the echo tool behind a gateway.
/** The envelope of a request of the new protocol. */
export const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };

/** Headers of a call of the new protocol. */
export const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'execute_tool' };

export const message = (id, method, params) => JSON.stringify({ jsonrpc: '2.0', id, method, params });

const execute = (n) => ({
  name: 'execute_tool',
  arguments: { server: 'echo', tool: 'echo', arguments: { text: `text ${n}` } },
});

/** A call of the new protocol, and one in a session of the old one. */
export const modernCall = (n) => message(n, 'tools/call', { ...execute(n), _meta: META });
export const sessionCall = (n) => message(n, 'tools/call', execute(n));

/** Opens a session of the old protocol and returns its headers. */
export const openSession = async (address, headers = {}) => {
  const post = (body, more) =>
    fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
        ...more,
      },
      body,
    });
  const opened = await post(message(1, 'initialize', INITIALIZE));
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id'), 'mcp-protocol-version': '2025-11-25' };
  await opened.text();
  await (await post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), session)).text();
  return session;
};
