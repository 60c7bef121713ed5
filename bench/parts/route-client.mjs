// Connects to a route and calls its tool, in its own process, as every agent does. The first message from the parent
// says where to connect and what to call; the answer is {connectMs, firstMs}. Each further number is answered with
// {times, cpuMs}: the milliseconds of that many calls, one at a time, and the CPU time that the process at the other
// end of stdio spent on them. 0 ends it.
import { once } from 'node:events';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { cpuOf } from './line-client.mjs';
import { timed } from './statistics.mjs';

const ERAS = { legacy: 'legacy', modern: { pin: '2026-07-28' } };

const [{ name, era, url, command, args, env, params, text, lists }] = await once(process, 'message');
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url))
  : new StdioClientTransport({ command, args, env: { PATH: process.env.PATH, ...env }, stderr: 'inherit' });
const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: ERAS[era] } });

const call = async () => {
  const { content } = await client.callTool(params);
  if (content[0]?.text !== text) throw new Error(`${name} answered ${JSON.stringify(content).slice(0, 300)}`);
};

process.on('message', async (calls) => {
  if (calls === 0) {
    await client.close();
    process.exit();
  }
  const before = cpuOf(transport.pid);
  const times = [];
  for (let at = 0; at < calls; at++) times.push(await timed(call));
  process.send({ times, cpuMs: cpuOf(transport.pid) - before });
});
// An agent lists the tools of the gateway before it calls one. With the new protocol, that is also the first request to
// this process: the SDK's client asks another one for its protocol, ends it and starts this one. A direct call is
// measured with all that comes before it, so a list would only make it slower.
const connectMs = await timed(async () => {
  await client.connect(transport);
  if (lists) await client.listTools();
});
process.send({ connectMs, firstMs: await timed(call) });
