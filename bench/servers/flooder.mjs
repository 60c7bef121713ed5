// Attacks as a hostile server on stdio or HTTP, written without an SDK. It is quiet until its tool `flood` is called
// with { kind, ms }; then it answers and attacks for that long. Its tool `answer` { kind } answers with something
// large.
import { once } from 'node:events';
import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';

const TOOLS = ['flood', 'answer'].map((name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { kind: { type: 'string' }, ms: { type: 'number' } } },
}));
const MANY_TOOLS = Array.from({ length: 10_000 }, (_, at) => ({ ...TOOLS[0], name: `tool_${at}` }));
const names = (count) => `{${Array.from({ length: count }, (_, at) => `"key${at}":${at}`).join(',')}}`;
const repeated = (text, bytes) => text.repeat(Math.ceil(bytes / text.length));
const notification = (method, params) => `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;
const question = (method, params = '{}') => `{"jsonrpc":"2.0","id":"q","method":"${method}","params":${params}}`;

/** What is written again and again, as chunks of about 64 KiB or one message. */
const FLOODS = {
  ping: () => repeated(`${question('ping')}\n`, 65_536),
  sampling: () => repeated(`${question('sampling/createMessage', '{"messages":[],"maxTokens":1}')}\n`, 65_536),
  elicitation: () => repeated(`${question('elicitation/create', '{"message":"?","requestedSchema":{}}')}\n`, 65_536),
  roots: () => repeated(`${question('roots/list')}\n`, 65_536),
  log: () => repeated(`${notification('notifications/message', '{"level":"info","data":"x"}')}\n`, 65_536),
  progress: () => repeated(`${notification('notifications/progress', '{"progressToken":1,"progress":1}')}\n`, 65_536),
  'list changed': () => repeated(`${notification('notifications/tools/list_changed', '{}')}\n`, 65_536),
  'answers to nothing': () => repeated('{"jsonrpc":"2.0","id":99999999,"result":{}}\n', 65_536),
  'malformed lines': () => repeated('{"jsonrpc":"2.0","id":1,"result":{\n', 65_536),
  'plain text': () => repeated('not a message at all\n', 65_536),
  'a line without end': () => repeated('x', 65_536),
  '1-byte lines': () => repeated('{\n', 65_536),
  'notification of 700,000 names': () => `${notification('notifications/message', names(700_000))}\n`,
  'notification of 40,000 names': () => `${notification('notifications/message', names(40_000))}\n`,
  'notifications of 3,000 names': () => `${notification('notifications/message', `{"data":${names(3_000)}}`)}\n`,
  'notifications of 8 MiB': () => `${notification('notifications/message', `{"data":"${'x'.repeat(8 * 2 ** 20)}"}`)}\n`,
  'answer to nothing of 700,000 names': () => `{"jsonrpc":"2.0","id":99999999,"result":${names(700_000)}}\n`,
  'notifications of 250 KB': () => `${notification('notifications/message', `{"data":"${'x'.repeat(250_000)}"}`)}\n`,
};

/** Results that are legal and large. */
const ANSWERS = {
  'names 700,000': () => `{"content":[],"structuredContent":${names(700_000)}}`,
  'names 45,000 in four objects': () =>
    `{"content":[],"structuredContent":{"a":${names(45_000)},"b":${names(45_000)},"c":${names(45_000)},"d":${names(45_000)}}}`,
  'blocks 200,000': () =>
    `{"content":[${Array.from({ length: 200_000 }, () => '{"type":"text","text":"x"}').join(',')}]}`,
  'blocks 60,000': () =>
    `{"content":[${Array.from({ length: 60_000 }, () => '{"type":"text","text":"x"}').join(',')}]}`,
  'text 15.9 MiB': () => `{"content":[{"type":"text","text":"${'x'.repeat(15.9 * 2 ** 20)}"}]}`,
  'escapes 15.9 MiB': () => `{"content":[{"type":"text","text":"${'\\"\\n'.repeat(3.97 * 2 ** 20)}"}]}`,
  'euro signs 15.9 MiB': () => `{"content":[{"type":"text","text":"${'€'.repeat(5.3 * 2 ** 20)}"}]}`,
  'text 4 MB': () => `{"content":[{"type":"text","text":"${'x'.repeat(4e6)}"}]}`,
};

const lasting = new Map();
const made = (table, kind) => {
  if (!lasting.has(kind)) lasting.set(kind, table[kind]());
  return lasting.get(kind);
};

let isChatty = false;

/** The answer to one request, as the text of a result. */
const resultOf = ({ method, params }, flood) => {
  if (method === 'initialize')
    return JSON.stringify({
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'flooder', version: '1.0.0' },
    });
  if (method === 'tools/list') return JSON.stringify({ tools: isChatty ? MANY_TOOLS : TOOLS });
  if (method !== 'tools/call') return '{}';
  const { kind, ms } = params.arguments;
  if (params.name === 'answer') return made(ANSWERS, kind);
  flood(kind, Date.now() + ms);
  return '{"content":[]}';
};

const NULL = openSync('/dev/null', 'w');
const onStdio = () => {
  const pause = () => new Promise((resolve) => setImmediate(resolve));
  const flood = async (kind, until) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const write = async (stream, text) => stream.write(text) || new Promise((resolve) => stream.once('drain', resolve));
    const text = kind in FLOODS ? made(FLOODS, kind) : '';
    while (Date.now() < until) {
      if (kind === 'nothing at all') return;
      if (kind === 'to /dev/null') writeSync(NULL, repeated('x', 65_536));
      else if (kind === 'stderr') await write(process.stderr, repeated('a line of stderr\n', 65_536));
      else if (kind === 'stderr without lines') await write(process.stderr, repeated('x', 65_536));
      else if (kind === 'one byte at a time') await write(process.stdout, ' ');
      else if (kind === 'list changed, 10,000 tools each') {
        isChatty = true;
        await write(process.stdout, `${notification('notifications/tools/list_changed', '{}')}\n`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      } else await write(process.stdout, text);
      await pause();
    }
    if (text !== '' && !text.endsWith('\n')) process.stdout.write('\n');
  };
  let rest = '';
  process.stdin.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.method === undefined || message.id === undefined) continue;
      process.stdout.write(`{"jsonrpc":"2.0","id":${message.id},"result":${resultOf(message, flood)}}\n`);
    }
  });
  process.stdin.on('end', () => process.exit());
};

/** Writes the text again and again, each byte as a chunk of its own. */
const drip = async (response, text, until) => {
  for (let at = 0; Date.now() < until && !response.destroyed; ) {
    let isFull = false;
    for (const end = at + 300; at < end; at++) isFull = !response.write(text[at % text.length]);
    if (isFull) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/**
 * Streamable HTTP of the old protocol: answers as JSON, floods over the event stream of a GET, or with the answer
 * itself.
 */
const onHttp = () => {
  const streams = new Set();
  const flood = async (kind, until) => {
    const event = (line) => `data: ${line}\n\n`;
    if (kind === 'events one byte at a time')
      return Promise.all([...streams].map((stream) => drip(stream, event(question('ping')), until)));
    if (!(kind in FLOODS)) return;
    const text = made(FLOODS, kind);
    const events = text
      .trimEnd()
      .split('\n')
      .map((line) => event(line))
      .join('');
    while (Date.now() < until && streams.size > 0) {
      for (const stream of streams)
        if (!stream.write(events)) await new Promise((resolve) => stream.once('drain', resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const http = createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const message = JSON.parse(body || '{}');
      if (message.method === 'server/discover') {
        response.writeHead(200, { 'content-type': 'application/json' });
        return response.end(`{"jsonrpc":"2.0","id":${message.id},"error":{"code":-32601,"message":"no"}}`);
      }
      if (message.method === undefined || message.id === undefined) return response.writeHead(202).end();
      const { kind, ms } = message.params?.arguments ?? {};
      const status = kind === 'error one byte at a time' ? 500 : 200;
      response.writeHead(status, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
      if (kind === 'answers without end') {
        response.write(`{"jsonrpc":"2.0","id":${message.id},"result":{"content":[{"type":"text","text":"`);
        response.write('x'.repeat(15_000_000));
        return;
      }
      if (kind === 'answer one byte at a time' || status !== 200)
        return drip(response, ' ', Date.now() + ms).then(() =>
          response.end(`{"jsonrpc":"2.0","id":${message.id},"result":{"content":[]}}`),
        );
      response.end(`{"jsonrpc":"2.0","id":${message.id},"result":${resultOf(message, flood)}}`);
    });
  });
  http.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${http.address().port}/mcp\n`));
  process.stdin.on('end', () => process.exit()).resume();
};

if (process.argv[2] === '--http') onHttp();
else onStdio();
