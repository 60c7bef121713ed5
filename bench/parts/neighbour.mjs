// Runs an honest client in its own process: calls the echo tool again and again, in phases that its parent names.
//
// Parent → { id, command, args, env } or { id, url }; ← { to: id, pid? }. Then { id, call: params } ← { to: id } when it
// was answered, and { id, measure: ms } ← { to: id, samples }: the milliseconds of each call.
import { initialize, openLines } from './line-client.mjs';

const ECHO = { name: 'execute_tool', arguments: { server: 'echo', tool: 'echo', arguments: { text: 'hello' } } };
/** Agents think between calls. */
const THINKS_MS = 2;

let request;
const openHttp = async (url) => {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  let id = 0;
  const post = async (message) => {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    headers['mcp-session-id'] ??= response.headers.get('mcp-session-id');
    return response.text();
  };
  await post({
    id: ++id,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } },
  });
  await post({ method: 'notifications/initialized' });
  request = (method, params) => post({ id: ++id, method, params });
};

process.on('message', async ({ id, url, command, args, env, call, measure }) => {
  if (url) await openHttp(url);
  if (command) {
    const lines = openLines(command, args, { env });
    await initialize(lines);
    request = lines.request;
    process.send({ to: id, pid: lines.pid });
  } else if (call) {
    await request('tools/call', call);
    process.send({ to: id });
  } else if (measure) {
    const samples = [];
    for (const end = performance.now() + measure; performance.now() < end; ) {
      const start = performance.now();
      await request('tools/call', ECHO);
      samples.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, THINKS_MS));
    }
    process.send({ to: id, samples });
  } else process.send({ to: id });
});
