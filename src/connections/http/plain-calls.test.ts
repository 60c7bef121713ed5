import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openOptions, remote, serve, toolCall } from '../../../test/fixtures/connections/harness.ts';
import { LIMITS } from '../../core/limits.ts';
import { openConnection } from '../open-connection.ts';

type Write = (response: ServerResponse, text: string) => unknown;

const JSON_TYPE = { 'content-type': 'application/json' };
const GREETINGS = {
  initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } },
  'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
};

/** A server of one era that answers calls as `write` says, and what it has heard. */
async function server(era: 'legacy' | 'modern', write: Write) {
  const heard: { method: string; headers: IncomingHttpHeaders }[] = [];
  const served = await serve((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method } = JSON.parse(text);
      heard.push({ method, headers: request.headers });
      if (id === undefined) return void response.writeHead(202).end();
      const greeting = method === (era === 'legacy' ? 'initialize' : 'server/discover');
      const list = method === 'tools/list' && { tools: [] };
      const result = greeting ? GREETINGS[method as keyof typeof GREETINGS] : list;
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: result || { content: [], of: 'the call' } });
      if (method === 'tools/call') return void write(response, answer);
      if (!result) return void response.writeHead(404).end();
      response.writeHead(200, { ...JSON_TYPE, ...(greeting && era === 'legacy' && { 'mcp-session-id': 's 1' }) });
      response.end(answer);
    });
  });
  const of = (method: string) => heard.filter((one) => one.method === method).map(({ headers }) => headers);
  return { url: served.url, of, [Symbol.asyncDispose]: served[Symbol.asyncDispose] };
}

async function open(url: string, headers: Record<string, string> = {}) {
  const { connection } = await openConnection(remote(url, { headers }), openOptions());
  return { connection, [Symbol.asyncDispose]: () => connection.close() };
}

const answers: readonly (readonly [string, Write])[] = [
  ['in one piece', (response, text) => response.writeHead(200, JSON_TYPE).end(text)],
  [
    'in many pieces',
    async (response, text) => {
      response.writeHead(200, JSON_TYPE);
      for (const piece of text) {
        response.write(piece);
        await sleep(2);
      }
      response.end();
    },
  ],
  [
    'that is long',
    (response, text) => response.writeHead(200, JSON_TYPE).end(`${text}${' '.repeat(LIMITS.wire.large)}`),
  ],
  [
    'that is compressed',
    (response, text) => response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(gzipSync(text)),
  ],
  [
    'on a stream',
    (response, text) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${text}\n\n`),
  ],
  ['in a batch', (response, text) => response.writeHead(200, JSON_TYPE).end(`[${text}]`)],
  ['with status 400', (response, text) => response.writeHead(400, JSON_TYPE).end(text)],
];

describe.each(['legacy', 'modern'] as const)('a call to a %s server', (era) => {
  it.each(answers)('is sent once and gets an answer %s', async (_, write) => {
    await using own = await server(era, write);
    await using opened = await open(own.url);
    expect(await opened.connection.callTool(...toolCall('x'))).toEqual({ content: [], of: 'the call' });
    expect(own.of('tools/call')).toHaveLength(1);
  });

  it.each<[string, Write]>([
    ['is no JSON', (response) => response.writeHead(200, JSON_TYPE).end('{')],
    ['is no message', (response) => response.writeHead(200, JSON_TYPE).end('{"jsonrpc":"2.0"}')],
    [
      'answers another request',
      (response) => response.writeHead(200, JSON_TYPE).end('{"jsonrpc":"2.0","id":999,"result":{}}'),
    ],
    ['is of another type', (response, text) => response.writeHead(200, { 'content-type': 'text/plain' }).end(text)],
    ['has no body', (response) => response.writeHead(204).end()],
    [
      'breaks off',
      (response, text) =>
        response.writeHead(200, { ...JSON_TYPE, 'content-length': 1_000 }).write(text, () => response.destroy()),
    ],
    ['has a status that does not exist', (response, text) => response.writeHead(999, JSON_TYPE).end(text)],
  ])('is sent once and fails with an unknown outcome if its answer %s', async (_, write) => {
    await using own = await server(era, write);
    await using opened = await open(own.url);
    await expect(opened.connection.callTool(...toolCall('x'))).rejects.toMatchObject({
      details: { outcome: 'unknown' },
    });
    expect(own.of('tools/call')).toHaveLength(1);
    expect(opened.connection.closed).toBe(false);
  });

  it('has the headers that any request has, and those that the protocol wants', async () => {
    await using own = await server(era, (response, text) => response.writeHead(200, JSON_TYPE).end(text));
    await using opened = await open(own.url, { Accept: 'text/html', 'X-Own': 'mine', 'Mcp-Session-Id': 'not mine' });
    await opened.connection.listTools();
    await opened.connection.callTool(...toolCall('größe'));
    const [listed] = own.of('tools/list');
    const [called] = own.of('tools/call');
    expect(called).toEqual({
      ...listed,
      'content-length': expect.any(String),
      ...(era === 'modern' && { 'mcp-method': 'tools/call', 'mcp-name': '=?base64?Z3LDtsOfZQ==?=' }),
    });
    expect(called).toMatchObject({ 'x-own': 'mine', accept: 'text/html, application/json, text/event-stream' });
  });
});
