// The first minutes of somebody with servers in three clients: a home folder of its own with real client files, the built
// command line, and real npm servers. Prints every command with what it printed, the home folder as ~, and the time.
//
//   node scripts/newcomer.mjs [--write | --json]
//
// --write puts the output into README.md, below the comments that name its parts; test/newcomer.test.ts holds it there.
// Nothing is fetched: npx finds the servers in this project's node_modules, which the home folder links to.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const README = join(root, 'README.md');

const SETTINGS = { darwin: 'Library/Application Support', win32: 'AppData/Roaming' }[process.platform] ?? '.config';
const CLAUDE = `${SETTINGS}/Claude/claude_desktop_config.json`;
const CURSOR = '.cursor/mcp.json';
const VSCODE = `${SETTINGS}/Code/User/mcp.json`;

const server = (name, ...args) => ({ command: 'npx', args: ['-y', `@modelcontextprotocol/server-${name}`, ...args] });

/** A home folder with three clients, two of which have the same server. */
const createHome = () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'newcomer-')));
  const write = (path, content) => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  };
  const filesystem = server('filesystem', join(home, 'Documents'));
  write('Documents/shopping.md', '# Saturday\n\n- bread\n- apples\n');
  write(CLAUDE, { mcpServers: { filesystem, memory: server('memory') } });
  write(CURSOR, { mcpServers: { filesystem, thinking: server('sequential-thinking') } });
  write(VSCODE, { servers: { everything: { type: 'stdio', ...server('everything') } } });
  write('.npmrc', 'offline=true\nupdate-notifier=false\n');
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'), 'junction');
  return { home, write, read: (path) => readFileSync(join(home, path), 'utf8') };
};

/** Runs one command line of ours in a home folder; both of its outputs as a person sees them. */
const runIn =
  (home) =>
  (words, expected = 0) =>
    new Promise((resolve, reject) => {
      const start = performance.now();
      const { PATH, SystemRoot } = process.env;
      const env = { PATH, SystemRoot, HOME: home, USERPROFILE: home, APPDATA: join(home, SETTINGS) };
      const child = spawn(process.execPath, [join(root, 'dist/bin/anygpt.js'), 'mcp', ...words], {
        cwd: home,
        env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk) => {
          output += chunk;
        });
      child.once('error', reject);
      child.once('close', (code) => {
        const command = ['anygpt', 'mcp', ...words.map((word) => (/\s/.test(word) ? `"${word}"` : word))].join(' ');
        if (code !== expected) return reject(new Error(`${command} ended with ${code}:\n${output}`));
        const text = `$ ${command}\n${output.trimEnd()}`.replaceAll(home, '~');
        resolve({ text, ms: performance.now() - start });
      });
    });

const inSeconds = (ran) => `${(ran.reduce((sum, { ms }) => sum + ms, 0) / 1000).toFixed(1)} s`;
const joined = (ran) => ran.map(({ text }) => text).join('\n\n');

/** Both parts: from nothing to an agent that has the gateway, and what comes later. */
const story = async () => {
  const { home, write, read } = createHome();
  const run = runIn(home);
  try {
    const cursor = read(CURSOR);
    const first = [
      await run(['init']),
      await run(['list', '--tools']),
      await run(['search', 'read a file', '--limit', '3']),
      await run(['execute', 'filesystem', 'read_text_file', 'path=~/Documents/shopping.md']),
      await run(['install', 'cursor', '--take-over']),
    ];
    const later = [await run(['stats']), await run(['lint']), await run(['uninstall', 'cursor'])];
    assert.equal(read(CURSOR), cursor, 'uninstall leaves the client as it was');
    // A server that needs what is not there: it is never started, so it need not be installed.
    const broken = JSON.parse(cursor);
    broken.mcpServers.github = { ...server('github'), env: { GITHUB_TOKEN: '${env:GITHUB_TOKEN}' } };
    write(CURSOR, broken);
    later.push(await run(['doctor'], 3));
    return { first: `${joined(first)}\n\n# ${inSeconds(first)} in all, four servers started`, later: joined(later) };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
};

/** README with the parts in their places. */
const withParts = (text, parts) =>
  Object.entries(parts).reduce((page, [name, output]) => {
    const place = new RegExp(`(<!-- scripts/newcomer\\.mjs: ${name} -->\\n\\n\`\`\`console\\n)[^]*?(\`\`\`\\n)`);
    assert.match(page, place, `README.md has no place for "${name}"`);
    return page.replace(place, (_, before, after) => `${before}${output}\n${after}`);
  }, text);

const parts = await story();
const [how] = process.argv.slice(2);
if (how === '--write') writeFileSync(README, withParts(readFileSync(README, 'utf8'), parts));
else process.stdout.write(how === '--json' ? `${JSON.stringify(parts)}\n` : `${Object.values(parts).join('\n\n')}\n`);
