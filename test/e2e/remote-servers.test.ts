/**
 * The reference server over the network: Streamable HTTP, legacy SSE named as such, and SSE found out by trying.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Agent, connect, serveArgs, textOf } from './gateway.ts';
import { freePort, Sandbox, until } from './sandbox.ts';
import { installed } from './servers.ts';

/** Starts the server on a free port and waits until it listens. */
const start = async (transport: 'streamableHttp' | 'sse'): Promise<{ child: ChildProcess; port: number }> => {
  const port = await freePort();
  const child = spawn(process.execPath, [installed('everything'), transport], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  await until(`${transport} listens`, () =>
    fetch(`http://127.0.0.1:${port}/nothing`).then(
      () => true,
      () => false,
    ),
  );
  return { child, port };
};

const started: ChildProcess[] = [];
let sandbox: Sandbox;
let agent: Agent;

beforeAll(async () => {
  sandbox = new Sandbox();
  const [http, sse] = await Promise.all([start('streamableHttp'), start('sse')]);
  started.push(http.child, sse.child);
  const headers = { 'x-token': '${E2E_SECRET}' };
  const config = {
    servers: [
      { name: 'http', connection: { type: 'http', url: `http://127.0.0.1:${http.port}/mcp`, headers } },
      { name: 'sse', connection: { type: 'sse', url: `http://127.0.0.1:${sse.port}/sse`, headers } },
      { name: 'found-out', connection: { type: 'http', url: `http://127.0.0.1:${sse.port}/sse` } },
    ],
  };
  agent = await connect('v1 stdio', sandbox, serveArgs(sandbox.write(config)), {
    elicitation: () => ({ action: 'accept', content: { name: 'Ada', check: true } }),
  });
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  for (const child of started) if (child.kill('SIGKILL')) await once(child, 'exit');
});

describe.each(['http', 'sse', 'found-out'])('%s', (server) => {
  it('lists, calls and sends images', async () => {
    const { tools } = (await agent.ask('list_tools', { server })) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'trigger-elicitation-request']));
    expect(textOf(await agent.execute(server, 'echo', { message: 'über das Netz' }))).toBe('Echo: über das Netz');
    const { content } = await agent.execute(server, 'get-tiny-image');
    expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
  });

  it('hears progress and answers questions', async () => {
    const heard: number[] = [];
    const args = { duration: 0.3, steps: 3 };
    const onProgress = ({ progress }: { progress: number }) => heard.push(progress);
    const done = await agent.execute(server, 'trigger-long-running-operation', args, { onProgress });
    expect(textOf(done)).toContain('completed');
    expect(heard.length).toBeGreaterThan(0);
    expect(JSON.stringify(await agent.execute(server, 'trigger-elicitation-request'))).toContain('Ada');
  });
});

it('a server that went away is said to be away, and its tools are still known', async () => {
  const [http] = started;
  http?.kill('SIGKILL');
  await until('it has gone', () => http?.signalCode !== null);
  const failed = await agent.execute('http', 'echo', { message: 'anybody?' });
  expect(failed.isError).toBe(true);
  expect(textOf(failed)).toMatch(/SERVER_|TOOL_EXECUTION_ERROR/);
  const { results } = (await agent.ask('search_tools', { query: 'echo', server: 'http' })) as { results: unknown[] };
  expect(results).toEqual(expect.arrayContaining([expect.objectContaining({ tool: 'echo' })]));
  expect(textOf(await agent.execute('sse', 'echo', { message: 'still here' }))).toBe('Echo: still here');
});
