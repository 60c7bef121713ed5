// Runs the commands of a new user who has servers in three clients, and prints what they print. The home folder is a
// temporary one with real client files, the command line is the built one, and the servers are real npm packages.
//
//   node scripts/newcomer.mjs [--write | --json]
//
// --write puts each part into its page, below the comment that names the part; test/newcomer.test.ts compares them.
// Nothing is downloaded: npx finds the servers in this project's node_modules, which the home folder links to.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

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

/** Replaces the folders of this machine by example ones. */
const inPublic = (text, home) =>
  text
    .replaceAll(home, '~')
    .replaceAll(root, '/usr/local/lib/node_modules/@anygpt/discovery/')
    .replaceAll(process.execPath, '/usr/local/bin/node');

/** Runs one command line in a home folder and returns both outputs as a person sees them. */
const runIn =
  (home) =>
  (words, expected = 0) =>
    new Promise((resolve, reject) => {
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
        const text = inPublic(`$ ${command}\n${output.trimEnd()}`, home);
        resolve(text);
      });
    });

/** Runs all parts in order: each part builds on the state that the one before left. */
const story = async () => {
  const { home, write, read } = createHome();
  const run = runIn(home);
  const parts = [];
  /** Runs the commands of one part, which belongs to one page. */
  const tell = async (page, name, ...commands) => {
    const said = [];
    for (const { words, code } of commands) said.push(await run(words, code));
    parts.push({ page, name, text: said.join('\n\n') });
  };
  const command = (...words) => ({ words });
  /** The entry that a command wrote into the file of a client. */
  const show = (page, name, file, key) => {
    const { anygpt } = JSON.parse(read(file))[key];
    parts.push({ page, name, text: inPublic(JSON.stringify({ [key]: { anygpt } }, null, 2), home) });
  };
  try {
    const cursor = read(CURSOR);
    await tell('README.md', 'first', command('init', '--yes'));
    await tell('docs/recipes/cursor.md', 'install', command('install', 'cursor', '--take-over'));
    const execute = ['execute', 'filesystem', 'read_text_file', 'path=~/Documents/shopping.md'];
    const search = command('search', 'read a file', '--limit', '3');
    await tell('docs/recipes/cursor.md', 'check', search, command(...execute), command('stats'));
    await tell('docs/recipes/cursor.md', 'uninstall', command('uninstall', 'cursor'));
    assert.equal(read(CURSOR), cursor, 'uninstall leaves the client as it was');
    await tell('docs/recipes/vs-code.md', 'install', command('install', 'vscode'));
    show('docs/recipes/vs-code.md', 'entry', VSCODE, 'servers');
    write('.claude.json', { mcpServers: {} });
    await tell('docs/recipes/claude-code.md', 'install', command('install', 'claude-code'));
    show('docs/recipes/claude-code.md', 'entry', '.claude.json', 'mcpServers');
    // A server that needs a variable that is not set: it is never started, so it need not be installed.
    const broken = JSON.parse(cursor);
    broken.mcpServers.github = { ...server('github'), env: { GITHUB_TOKEN: '${env:GITHUB_TOKEN}' } };
    write(CURSOR, broken);
    await tell('docs/troubleshooting.md', 'doctor', { words: ['doctor'], code: 3 });
    return parts;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
};

/** A page with one part in its place. */
const withPart = (text, { page, name, text: output }) => {
  const place = new RegExp(`(<!-- scripts/newcomer\\.mjs: ${name} -->\\n\\n\`\`\`\\w+\\n)[^]*?(\`\`\`\\n)`);
  assert.match(text, place, `${page} has no place for "${name}"`);
  return text.replace(place, (_, before, after) => `${before}${output}\n${after}`);
};

const parts = await story();
const [how] = process.argv.slice(2);
if (how === '--write')
  for (const part of parts) {
    const file = join(root, part.page);
    writeFileSync(file, withPart(readFileSync(file, 'utf8'), part));
  }
else
  process.stdout.write(
    how === '--json' ? `${JSON.stringify(parts)}\n` : `${parts.map(({ text }) => text).join('\n\n')}\n`,
  );
