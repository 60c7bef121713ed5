// Makes calls with an id each and keeps what came back for every id, so that nothing can be lost unnoticed.
import { randomUUID } from 'node:crypto';
import { Agent, request as send } from 'node:http';
import { META, MODERN } from './http-clients.mjs';

const GREETING = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'load', version: '1' } };
/** A call without any answer for so long is lost. */
const LOST_MS = 60_000;

const post = (url, agent, headers, message) =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify(message);
    const request = send(
      url,
      {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => resolve({ response, text: Buffer.concat(chunks).toString() }));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });

/** The message in a body: JSON, or the last event of a stream that is an answer. */
const messageIn = ({ response, text }) => {
  if (!response.headers['content-type']?.startsWith('text/event-stream')) return JSON.parse(text);
  const messages = [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data));
  return messages.findLast(({ result, error }) => result ?? error);
};

/** What an answer says about a call: `ok`, `crossed`, `not_sent`, `unknown`, `failed` or `gone` (the session ended). */
const verdictOf = (answer, id) => {
  if (answer.response.statusCode === 404) return 'gone';
  if (answer.response.statusCode !== 200) return 'unknown';
  const message = messageIn(answer);
  // A stream that ends without an answer.
  if (!message) return 'unknown';
  if (message.id !== id) return 'crossed';
  const text = message.result?.content?.[0]?.text;
  if (text === undefined) return 'unknown';
  const said = JSON.parse(text);
  if (message.result.isError) return said.error?.outcome ?? NOTHING_DONE.get(said.error?.code) ?? 'unknown';
  return said.id === id ? 'ok' : 'crossed';
};
/** Codes that say that nothing was sent. */
const NOTHING_DONE = new Map(
  ['SERVER_BUSY', 'SERVER_UNAVAILABLE', 'RATE_LIMITED', 'SHUTTING_DOWN', 'TOOL_NOT_FOUND'].map((code) => [
    code,
    'not_sent',
  ]),
);

const openSession = async (url, agent) => {
  const opened = await post(url, agent, {}, { jsonrpc: '2.0', id: 0, method: 'initialize', params: GREETING });
  const id = opened.response.headers['mcp-session-id'];
  if (id === undefined) throw new Error(`no session: ${opened.response.statusCode}`);
  const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
  await post(url, agent, headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
  return headers;
};

/**
 * Makes `calls` calls over `connections` connections, every fifth of them with a session of the old protocol, until they
 * are made or `until` has passed. `toolOf` names server and tool of a call. Returns the verdict on each id.
 */
export const accountedLoad = async ({ address, calls, connections, until, toolOf, onProgress }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const verdicts = new Map();
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const client = async (_, index) => {
    const isLegacy = index % 5 === 0;
    let session;
    while (verdicts.size < calls && performance.now() < until) {
      try {
        if (isLegacy) session ??= await openSession(address, agent);
      } catch {
        await pause(200);
        continue;
      }
      const id = randomUUID();
      verdicts.set(id, 'lost');
      if (verdicts.size % 10_000 === 0) onProgress?.(verdicts.size);
      const params = {
        name: 'execute_tool',
        arguments: { ...toolOf(), arguments: { id } },
        ...(!isLegacy && { _meta: META }),
      };
      const asked = post(address, agent, isLegacy ? session : MODERN, {
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params,
      });
      const answered = asked.then((answer) => verdictOf(answer, id)).catch(() => 'unknown');
      let timer;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, LOST_MS, 'lost');
      });
      const verdict = await Promise.race([answered, late]);
      clearTimeout(timer);
      verdicts.set(id, verdict);
      if (verdict === 'gone') session = undefined;
      if (verdict === 'unknown') await pause(20);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  return verdicts;
};
