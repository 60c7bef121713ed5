// Counts how often one `search_tools` and one `execute_tool` pass from a function in one file of src/ to one in
// another: how many files a reader has to follow. Runs an instrumented copy of dist/ as a gateway on stdio in front of
// a real server.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'file-switches-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** Yields the bodies of all functions of a program: blocks, and the expressions of short arrow functions. */
function* bodies(node) {
  if (Array.isArray(node)) {
    for (const one of node) yield* bodies(one);
    return;
  }
  if (node === null || typeof node !== 'object') return;
  const { type, body } = node;
  if (/^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type) && body) yield body;
  for (const value of Object.values(node)) yield* bodies(value);
}

/** Puts a call of `__at(file)` at the start of every function. */
function marked(code, file) {
  const mark = `globalThis.__at(${JSON.stringify(file)})`;
  const edits = [...bodies(parseAst(code))].flatMap(({ type, start, end }) =>
    type === 'BlockStatement'
      ? [{ at: start + 1, text: `${mark};` }]
      : [
          { at: start, text: `(${mark},` },
          { at: end, text: ')' },
        ],
  );
  let result = code;
  for (const { at, text } of edits.sort((a, b) => b.at - a.at)) result = result.slice(0, at) + text + result.slice(at);
  return result;
}

const dist = join(home, 'dist');
cpSync(join(root, 'dist'), dist, { recursive: true, filter: (path) => !/[\\/]dist[\\/]bin$/.test(path) });
for (const entry of ['node_modules', 'models', 'package.json']) symlinkSync(join(root, entry), join(home, entry));
for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (!path.endsWith('.js')) continue;
  const file = join(dist, path);
  writeFileSync(file, marked(readFileSync(file, 'utf8'), path));
}
const counter = join(home, 'counter.mjs');
writeFileSync(
  counter,
  `let last, path = [];
  globalThis.__at = (file) => { if (file !== last) path.push(last = file); };
  process.on('message', () => { process.send(path); last = undefined; path = []; });
  process.channel.unref();`,
);
const config = join(home, 'mcp.json');
const echo = { type: 'stdio', command: process.execPath, args: [join(root, 'bench/servers/echo-stdio.mjs')] };
writeFileSync(config, JSON.stringify({ discovery: { servers: [{ name: 'echo', connection: echo }] } }));

const args = ['--import', counter, join(dist, 'cli/bin.js'), 'mcp', 'serve', '--config', config];
const gateway = spawn(process.execPath, args, {
  stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  env: { ...process.env, HOME: home, ANYGPT_HOME: join(home, 'state') },
});
const lines = createInterface({ input: gateway.stdout })[Symbol.asyncIterator]();
let id = 0;
const request = async (method, params) => {
  gateway.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })}\n`);
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error('the gateway has gone');
    const message = JSON.parse(value);
    if (message.id === id) return message.result;
  }
};
const filesEntered = () =>
  new Promise((resolve) => {
    gateway.once('message', resolve);
    gateway.send('read');
  });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const clientInfo = { name: 'file-switches', version: '1' };
await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
gateway.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
const calls = {
  search_tools: { query: 'say a text back' },
  execute_tool: { server: 'echo', tool: 'echo', arguments: { text: 'hello' } },
};
const report = {};
for (const [name, input] of Object.entries(calls)) {
  // The first call loads modules and lists; the second is the path that a reader would follow.
  const answers = [];
  for (let time = 0; time < 2; time++) {
    await pause(500);
    await filesEntered();
    answers.push(await request('tools/call', { name, arguments: input }));
    report[name] = await filesEntered();
  }
  if (answers.at(-1)?.isError) throw new Error(`${name} failed: ${JSON.stringify(answers.at(-1))}`);
}
gateway.stdin.end();
for (const [name, path] of Object.entries(report)) {
  console.log(`${name}: ${path.length} switches between ${new Set(path).size} files`);
  if (process.argv.includes('--path')) console.log(path.join('\n'));
}
