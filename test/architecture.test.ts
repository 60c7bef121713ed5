/**
 * Who may import whom, as data, and a few other promises about the shape of the source. To change a direction, change
 * the table and say why in the pull request.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../src/version.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');

/** Root files that wire the folders together. All other root files are vocabulary: everybody may import them. */
const ENGINE = [
  'discovery-engine',
  'downstreams',
  'engine-embeddings',
  'engine-execution',
  'engine-own-tools',
  'engine-runtime',
  'engine-state',
  'engine-world',
  'find-tools',
  'probe-server',
  'read-lists',
  'rule-warnings',
  'server-logs',
  'server-overview',
  'usage-learning',
  'usage-store',
  'watch-config',
];
/** Root files that touch the disk: those may import them whose row says so. */
const DISK = ['file-lock', 'make-folder'];
const PARTS = [
  'audit',
  'cache',
  'catalog',
  'config',
  'connections',
  'embeddings',
  'execution',
  'rules',
  'search',
  'secrets',
];

/** Who may look at the wall clock, and what for. Whoever measures how long something lasts takes `elapsedNow`. */
const WALL_CLOCK: Readonly<Record<string, string>> = {
  'audit/audit-log.ts': 'the date of a line',
  'audit/jsonl-sink.ts': 'the name of a file; the age of a lock on disk',
  'audit/salt-file.ts': 'the age of a file',
  'cache/file-store.ts': 'the age of a file',
  'cache/lookup-counts.ts': 'the day that a count belongs to',
  'cache/sweep-entries.ts': 'the age of files',
  'catalog/catalog-store.ts': 'how often the log is told of a failing disk',
  'cli/age.ts': 'how old something is, for people',
  'cli/commands/stats.ts': 'what --since means',
  'cli/serve-log.ts': 'the date of a line',
  'config/write-atomically.ts': 'the age of a file',
  'connections/guarded-fetch.ts': 'a Retry-After that is a date',
  'embeddings/embedding-index.ts': 'the date of vectors on disk',
  'engine-world.ts': 'the date of a list on disk',
  'execution/steps/audit.ts': 'the date of a call',
  'file-lock.ts': 'the age of a lock on disk',
  'watch-config.ts': 'the date in a stamp file',
};

interface Allowed {
  /** Beside itself. */
  readonly us: readonly string[];
  readonly outside: readonly string[];
}
const MCP = '@modelcontextprotocol';
const FILES = ['node:crypto', 'node:fs', 'node:fs/promises', 'node:path'];

const TABLE: Readonly<Record<string, Allowed>> = {
  vocabulary: { us: [], outside: ['node:crypto'] },
  // What is secret, and how it is kept out of every text. Whoever says something to somebody asks here.
  secrets: { us: ['vocabulary'], outside: [] },
  disk: { us: ['vocabulary'], outside: FILES },
  rules: { us: ['vocabulary'], outside: ['re2js'] },
  // Files: only what ships with the package, in one place.
  search: { us: ['vocabulary'], outside: ['node:crypto', 'node:fs'] },
  cache: { us: ['vocabulary', 'disk'], outside: FILES },
  audit: { us: ['vocabulary', 'disk', 'secrets'], outside: FILES },
  // A rule that cannot be compiled is a mistake in a file, and is said with the others.
  config: {
    us: ['vocabulary', 'disk', 'rules', 'secrets'],
    // Code of a project is loaded by a loader of our own, which knows what was hashed.
    outside: [
      ...FILES,
      'node:module',
      'node:os',
      'node:url',
      'node:util',
      'node:vm',
      'node:zlib',
      'jiti',
      'smol-toml',
      'yaml',
      'zod/mini',
    ],
  },
  connections: {
    us: ['vocabulary', 'secrets'],
    outside: [
      ...FILES,
      `${MCP}/client`,
      'cross-spawn',
      'node:child_process',
      'node:events',
      'node:http',
      'node:https',
      'node:net',
      // The home folder, where servers start.
      'node:os',
      'node:stream',
      'node:stream/web',
      'node:string_decoder',
      'node:util',
      'node:zlib',
    ],
  },
  catalog: { us: ['vocabulary', 'rules', 'search'], outside: ['node:crypto', 'node:timers/promises'] },
  // Speaks HTTP as connections do, and reads tools as search does.
  embeddings: { us: ['vocabulary', 'catalog', 'connections', 'search', 'secrets'], outside: ['node:crypto'] },
  execution: {
    us: ['vocabulary', 'audit', 'secrets'],
    outside: ['node:crypto', 'node:module', 'node:worker_threads', 're2js'],
  },
  engine: { us: ['vocabulary', 'disk', ...PARTS], outside: FILES },
  'meta-tools': { us: ['vocabulary', 'engine'], outside: [] },
  gateway: {
    // The JSON-RPC shapes and the line reader serve both legs of the gateway.
    us: ['vocabulary', 'engine', 'connections', 'meta-tools'],
    outside: [
      `${MCP}/node`,
      `${MCP}/server`,
      `${MCP}/server/stdio`,
      'node:crypto',
      'node:http',
      'node:net',
      'node:stream',
      'zod/v4',
    ],
  },
  // Judges entries before they are started, and explains why starting them failed.
  doctor: { us: ['vocabulary', 'engine', 'config', 'connections', 'embeddings', 'secrets'], outside: FILES },
  lint: { us: ['vocabulary'], outside: [] },
  // The servers it is attached to are known by their shape: no SDK is imported.
  registry: { us: ['vocabulary', 'catalog', 'execution', 'search', 'secrets'], outside: ['node:async_hooks'] },
  formats: { us: ['vocabulary', 'engine', 'meta-tools'], outside: ['node:crypto'] },
  // One registry for an agent loop: makes an engine of entries when a server is first needed, and not before.
  unified: {
    us: ['vocabulary', 'catalog', 'config', 'engine', 'execution', 'formats', 'registry', 'secrets'],
    outside: [],
  },
  testing: { us: ['vocabulary'], outside: [`${MCP}/node`, `${MCP}/server`, 'node:http', 'node:net'] },
  index: { us: ['vocabulary', 'engine', ...PARTS, 'formats', 'registry', 'unified'], outside: [] },
  // Arguments are read from files, and pictures saved to them, where a person says so. `eval` judges rankings with search's
  // own figures. Of connections only how pipes are read and written: stdin and stdout may be some.
  cli: {
    us: [
      'vocabulary',
      'engine',
      'config',
      'connections',
      'gateway',
      'meta-tools',
      'doctor',
      'lint',
      'audit',
      'search',
      'secrets',
    ],
    outside: [
      'node:fs',
      'node:fs/promises',
      'node:path',
      'node:readline/promises',
      'node:v8',
      'node:stream',
      'node:url',
      'node:util',
    ],
  },
};

const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .sort();
const read = (path: string): string => readFileSync(join(src, path), 'utf8');

function moduleOf(path: string): string {
  const [first = '', ...rest] = path.split('/');
  if (rest.length > 0) return first;
  const name = first.replace(/\.ts$/, '');
  if (name === 'index' || name === 'library') return 'index';
  if (DISK.includes(name)) return 'disk';
  return ENGINE.includes(name) ? 'engine' : 'vocabulary';
}

function importsOf(path: string): { readonly name: string; readonly types: boolean }[] {
  // What stands in a template is text for somebody else.
  const text = read(path).replace(/`(?:\\.|[^`\\])*`/g, '');
  const statements = text.matchAll(/^(?:import|export)( type)?\b[^'"`;]*?from '([^']+)';/gms);
  const bare = text.matchAll(/^()import '([^']+)';/gm);
  const dynamic = text.matchAll(/\b()import\('([^']+)'\)/g);
  return [...statements, ...bare, ...dynamic].map(([, types, name]) => ({ name: String(name), types: Boolean(types) }));
}

describe('modules import only what the table allows', () => {
  it.each(Object.keys(TABLE))('%s', (module) => {
    const allowed = TABLE[module] as Allowed;
    const wrong = sources
      .filter((path) => moduleOf(path) === module)
      .flatMap((path) =>
        importsOf(path)
          .filter(({ name }) => {
            if (!name.startsWith('.')) return !allowed.outside.includes(name);
            const target = moduleOf(relative(src, resolve(src, dirname(path), name)));
            return target !== module && !allowed.us.includes(target);
          })
          .map(({ name }) => `${path} imports ${name}`),
      );
    expect(wrong).toEqual([]);
  });

  it('knows every module there is', () => {
    expect([...new Set(sources.map(moduleOf))].filter((module) => !(module in TABLE))).toEqual([]);
    expect(ENGINE.filter((name) => !sources.includes(`${name}.ts`))).toEqual([]);
  });

  it('imports with the extension, so that files run as they are', () => {
    const wrong = sources.flatMap((path) =>
      importsOf(path)
        .filter(({ name }) => name.startsWith('.') && !/\.(ts|js)$/.test(name))
        .map(({ name }) => `${path}: ${name}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the source', () => {
  it('writes to stdout only from the command line and the gateway on stdio', () => {
    const allowed = (path: string) => path.startsWith('cli/') || path === 'gateway/serve-stdio.ts';
    expect(sources.filter((path) => !allowed(path) && read(path).includes('process.stdout'))).toEqual([]);
  });

  it('never prints with console', () => {
    expect(sources.filter((path) => /^(?!\s*(\*|\/\/)).*\bconsole\.\w+\(/m.test(read(path)))).toEqual([]);
  });

  it('lets a configuration file load in a blink: ./config imports nothing at run time', () => {
    expect(importsOf('config/define-config.ts').filter(({ types }) => !types)).toEqual([]);
  });

  it('measures time with a clock that never jumps, and dates only what people and files read', () => {
    const [clock] = sources.filter((path) => path === 'clock.ts');
    expect(clock).toBeDefined();
    const code = (path: string) => read(path).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const asks = (path: string) => /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)/.test(code(path));
    expect(sources.filter(asks)).toEqual(['clock.ts']);
    const dates = sources.filter((path) => path !== 'clock.ts' && /\bwallNow\b/.test(code(path)));
    expect(dates.filter((path) => !(path in WALL_CLOCK))).toEqual([]);
    expect(Object.keys(WALL_CLOCK).filter((path) => !dates.includes(path))).toEqual([]);
  });

  it('keeps files short enough to read in one sitting', () => {
    expect(sources.filter((path) => read(path).split('\n').length > 420)).toEqual([]);
  });

  it('opens every file with what goes in and out', () => {
    expect(sources.filter((path) => !/^(#!.*\n)?\/\*\*[\s\S]*?@module/.test(read(path)))).toEqual([]);
  });

  it('has no drawer named utils', () => {
    expect(sources.filter((path) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.)/.test(path))).toEqual([]);
  });

  it('carries the version of package.json', () => {
    expect(VERSION).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
  });
});

describe('AGENTS.md', () => {
  /** Paths in the tree: two spaces of indent per level, several names on a line, then at least two spaces. */
  function treeOf(text: string): string[] {
    const block = /```\n(src\/[\s\S]*?)```/.exec(text)?.[1] ?? '';
    const folders: string[] = [];
    return block.split('\n').flatMap((line) => {
      const [, indent = '', names = ''] = /^( *)(\S+(?: \S+)*)/.exec(line) ?? [];
      if (names === '') return [];
      const level = indent.length / 2;
      const parent = folders.slice(0, level).join('');
      if (names.endsWith('/')) folders[level] = names;
      return names.split(' ').map((name) => parent + name);
    });
  }
  const tree = treeOf(readFileSync(join(root, 'AGENTS.md'), 'utf8'));

  it('shows the folders and root files of src as they are on disk', () => {
    const onDisk = readdirSync(src, { withFileTypes: true })
      .map((entry) => `src/${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .filter((path) => !path.endsWith('.test.ts'));
    expect(tree.filter((path) => /^src\/./.test(path)).sort()).toEqual(onDisk.sort());
  });

  it('names only what exists elsewhere', () => {
    const missing = tree
      .filter((path) => !path.startsWith('src/'))
      .filter((path) => !readdirSync(join(root, dirname(path))).includes(path.split('/').filter(Boolean).at(-1) ?? ''));
    expect(missing).toEqual([]);
  });

  it('fits on one screen', () => {
    expect(readFileSync(join(root, 'AGENTS.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(70);
  });
});
