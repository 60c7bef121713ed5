/**
 * Who may import whom, as data, and a few other promises about the shape of the source. To change a direction, change
 * the table and say why in the pull request.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../src/core/limits.ts';
import { VERSION } from '../src/core/version.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');

/** The files that may look at the wall clock, and what for. Durations are measured with `elapsedNow`. */
const WALL_CLOCK: Readonly<Record<string, string>> = {
  'audit/audit-log.ts': 'the date of a line',
  'auth/authenticator.ts': 'when a token expires',
  'auth/jwt-checker.ts': 'when a token expires',
  'auth/static-tokens.ts': 'when a token expires',
  'audit/jsonl-sink.ts': 'the name of a file; the age of a lock on disk',
  'audit/salt-file.ts': 'the age of a file',
  'cache/file-store.ts': 'the age of a file',
  'cache/lookup-counts.ts': 'the day that a count belongs to',
  'cache/sweep-entries.ts': 'the age of files',
  'catalog/catalog-store.ts': 'how often the log is told of a failing disk',
  'cli/commands/list.ts': 'how old something is, for people',
  'cli/commands/token.ts': 'when a token expires',
  'cli/commands/stats.ts': 'what --since means',
  'cli/serve-log.ts': 'the date of a line',
  'disk/write-atomically.ts': 'the age of a file',
  'connections/http/guarded-fetch.ts': 'a Retry-After that is a date',
  'embeddings/embedding-index.ts': 'the date of vectors on disk',
  'gateway/access-log.ts': 'the date of a line',
  'engine/engine-world.ts': 'the date of a list on disk',
  'execution/result-pages.ts': 'when a result of another replica expires',
  'execution/steps/audit.ts': 'the date of a call',
  'disk/file-lock.ts': 'the age of a lock on disk',
  'logins/saved-login.ts': 'when a token expires',
  'logins/server-login.ts': 'when a token expires',
  'logins/token-request.ts': 'when a token expires',
  'mcp-registry/mcp-registries.ts': 'the age of what was synced',
  'mcp-registry/sync-registry.ts': 'the date of a sync',
  'engine/watch-config.ts': 'the date in a stamp file',
};

/** Numbers that look like bounds or durations although they are none. All others are in core/limits.ts. */
const NO_BOUNDS: Readonly<Record<string, string>> = {
  'audit/audit-log.ts CHUNK_BYTES': 'size of one write',
  'audit/latency-histogram.ts LONGEST': 'end of the scale',
  'audit/retention.ts DAY_MS': 'a unit',
  'audit/salt-file.ts SALT_BYTES': 'size of a key',
  'auth/static-tokens.ts ID_BYTES': 'length of an id',
  'auth/static-tokens.ts SECRET_BYTES': 'size of a key',
  'clients/installers/gateway-entry.ts timeout': 'written into the file of another program',
  'cluster/key-ring.ts KEY_BYTES': 'given by AES-GCM',
  'cluster/redis-lease.ts HOLDER_BYTES': 'length of an id',
  'cluster/replica-bus.ts ID_BYTES': 'length of an id',
  'cluster/sealed-store.ts HEAD_BYTES': 'part of a format',
  'cluster/sealed-store.ts STAMP_BYTES': 'length of an id',
  'connections/http/event-reader.ts EVENT_MS': 'measured cost',
  'connections/http/event-reader.ts MEGABYTE_MS': 'measured cost',
  'connections/http/event-reader.ts VALUE_MS': 'measured cost',
  'connections/http/http-fetch.ts CHUNK_MS': 'measured cost',
  'connections/http/http-fetch.ts status': 'status of an answer without one',
  'connections/large-json.ts DECODED_AT_ONCE': 'size of one step',
  'connections/line-reader.ts LINES_AT_ONCE': 'size of one step',
  'connections/stdio/stdio-transport.ts CHUNK_MS': 'measured cost',
  'connections/stdio/stdio-transport.ts MEGABYTE_MS': 'measured cost',
  'connections/stdio/stdio-transport.ts VALUE_MS': 'measured cost',
  'core/call-notes.ts LEAST_CONNECT_MS': 'shortest time that is worth a figure',
  'disk/sealed-bytes.ts NONCE_BYTES': 'given by AES-GCM',
  'disk/sealed-bytes.ts TAG_BYTES': 'given by AES-GCM',
  'engine/shared-lists.ts DATE_BYTES': 'part of a format',
  'execution/trace-id.ts RANDOM_CHARS': 'length of an id',
  'gateway/request-body.ts MEGABYTE_MS': 'measured cost',
  'gateway/request-body.ts VALUE_MS': 'measured cost',
  'gateway/session-events.ts VALUE_BYTES': 'estimated size',
  'lint/lint-tools.ts HUGE_TOKENS': 'threshold of a lint rule',
  'search/bootstrap.ts resamples': 'shape of an estimate',
  'search/expansion.ts MAX_GUESSES': 'ranking',
  'search/live-index.ts MOST_TELLING': 'ranking',
  'search/meaning-ranker.ts MOST_ALIKE': 'ranking',
  'search/meaning-text.ts MOST_PARAMETERS': 'ranking',
  'search/open-model.ts FIRST_BYTES': 'size of one step',
  'search/open-model.ts MOST_ALONE': 'size of one step',
  'search/selection.ts MOST_SHARED': 'ranking',
  'search/spelling.ts MOST_CORRECTED': 'ranking',
  'search/usage-record.ts HALF_LIFE_MS': 'ranking',
  'search/usage-record.ts MOST_TOOLS': 'ranking',
  'search/words-ranker.ts MAX_GUESSED_TERMS': 'ranking',
};

interface Allowed {
  /** Beside itself. */
  readonly us: readonly string[];
  readonly outside: readonly string[];
}
const MCP = '@modelcontextprotocol';
const FILES = ['node:crypto', 'node:fs', 'node:fs/promises', 'node:path'];

const WORDS = ['core', 'async', 'json', 'schema', 'text'];

const TABLE: Readonly<Record<string, Allowed>> = {
  // Small words that every folder may use.
  text: { us: ['core'], outside: [] },
  // Only Node can tell what a proxy is.
  json: { us: ['core'], outside: ['node:util'] },
  async: { us: ['core'], outside: [] },
  core: { us: ['async', 'text'], outside: ['node:crypto'] },
  schema: { us: ['core', 'json', 'text'], outside: [] },
  // Decides what is secret and keeps it out of every text.
  secrets: { us: WORDS, outside: [] },
  disk: { us: WORDS, outside: FILES },
  rules: { us: WORDS, outside: ['re2js'] },
  approvals: { us: [...WORDS, 'disk'], outside: FILES },
  // Reads only files that ship with the package, in one place.
  search: { us: WORDS, outside: ['node:crypto', 'node:fs'] },
  cache: { us: [...WORDS, 'disk'], outside: FILES },
  audit: { us: [...WORDS, 'disk', 'secrets'], outside: FILES },
  // A rule that does not compile is a mistake in a file and is reported with the others.
  config: {
    us: [...WORDS, 'clients', 'disk', 'rules', 'secrets'],
    outside: [
      ...FILES,
      // A project's code is run by a loader of our own, which knows what was hashed.
      'node:module',
      'node:os',
      'node:url',
      'node:util',
      'node:vm',
      'jiti',
      'jsonc-parser',
      'smol-toml',
      'yaml',
      'zod/mini',
    ],
  },
  // A client's file is one source of a configuration, and is parsed with the same words.
  clients: {
    us: [...WORDS, 'config', 'disk', 'secrets'],
    outside: [
      ...FILES,
      'jsonc-parser',
      'node:stream/consumers',
      'node:url',
      'node:util',
      'smol-toml',
      'yaml',
      'yauzl',
      'zod/mini',
    ],
  },
  connections: {
    us: [...WORDS, 'secrets'],
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
      'node:url',
      'node:util',
      'node:zlib',
    ],
  },
  // Sends requests as connections do, and gives them its tokens through a port of theirs.
  logins: {
    us: [...WORDS, 'connections', 'disk'],
    outside: [
      ...FILES,
      `${MCP}/client`,
      '@napi-rs/keyring',
      'node:child_process',
      'node:dns/promises',
      'node:http',
      'node:net',
      'node:timers/promises',
    ],
  },
  // Who is asking: knows requests by their head, and nothing of what they ask for.
  auth: { us: [...WORDS, 'disk'], outside: [...FILES, 'jose', 'node:http'] },
  catalog: {
    us: [...WORDS, 'cache', 'rules', 'search'],
    outside: ['node:crypto', 'node:timers/promises', 'node:util'],
  },
  // Speaks HTTP as connections do, and reads tools as search does.
  embeddings: { us: [...WORDS, 'catalog', 'connections', 'search', 'secrets'], outside: ['node:crypto'] },
  // Speaks HTTP as connections do, keeps files as the cache does, and finds servers as search finds tools.
  'mcp-registry': {
    us: [...WORDS, 'cache', 'connections', 'disk', 'search', 'secrets'],
    outside: ['node:crypto', 'node:fs/promises', 'node:path', 'node:timers/promises', 'yauzl'],
  },
  execution: {
    us: [...WORDS, 'audit', 'secrets'],
    outside: ['node:crypto', 'node:module', 'node:worker_threads', 're2js'],
  },
  // What replicas share. Knows Redis, and nothing of what is shared but its bytes.
  cluster: { us: [...WORDS, 'disk'], outside: ['ioredis', 'node:crypto', 'node:events', 'node:timers/promises'] },
  usage: { us: [...WORDS, 'cache', 'config', 'disk', 'execution', 'search'], outside: FILES },
  engine: {
    us: [
      ...WORDS,
      'approvals',
      'audit',
      'cache',
      'catalog',
      // Opened where the configuration names Redis.
      'cluster',
      'config',
      'connections',
      'disk',
      'embeddings',
      'execution',
      'logins',
      'rules',
      'search',
      'secrets',
      'usage',
      // The engine writes its tools for APIs, and its own meta-tools are among them.
      'agent',
      'meta-tools',
      // Loaded for a search by domain or category.
      'service',
      // Loaded for a search that finds nothing, if a registry was synced.
      'mcp-registry',
    ],
    outside: FILES,
  },
  'meta-tools': { us: [...WORDS, 'engine'], outside: [] },
  // Watches an engine from outside; the engine knows only a port.
  telemetry: {
    us: [...WORDS, 'audit', 'cluster', 'engine', 'execution', 'meta-tools'],
    outside: [
      '@opentelemetry/api',
      '@opentelemetry/sdk-node',
      'node:crypto',
      // The list of open descriptors.
      'node:fs',
      'node:http',
      'node:net',
      'node:perf_hooks',
    ],
  },
  gateway: {
    // The JSON-RPC shapes and the line reader serve both legs of the gateway.
    us: [...WORDS, 'auth', 'cluster', 'connections', 'engine', 'meta-tools'],
    outside: [
      `${MCP}/node`,
      `${MCP}/server`,
      `${MCP}/server/stdio`,
      'node:crypto',
      'node:http',
      'node:https',
      'node:net',
      'node:stream',
      'zod/v4',
    ],
  },
  // Judges entries before they are started, and explains why starting them failed.
  doctor: {
    us: [...WORDS, 'clients', 'config', 'connections', 'embeddings', 'engine', 'secrets'],
    outside: FILES,
  },
  lint: { us: WORDS, outside: [] },
  // The MCP servers that tools are attached to are known by their shape: no SDK is imported.
  agent: {
    us: [...WORDS, 'catalog', 'config', 'engine', 'execution', 'meta-tools', 'search', 'secrets'],
    outside: ['node:async_hooks', 'node:crypto'],
  },
  // Reads schemas as the validation of calls does, and writes definitions as agents get them.
  service: {
    us: [
      ...WORDS,
      'agent',
      'approvals',
      'catalog',
      'config',
      'disk',
      // The discovery service is a view of the engine.
      'engine',
      'execution',
      'mcp-registry',
      'rules',
      'search',
      'secrets',
    ],
    outside: ['node:crypto', 'node:fs/promises', 'node:path', 'node:timers/promises'],
  },
  testing: { us: WORDS, outside: [`${MCP}/node`, `${MCP}/server`, 'node:http', 'node:net'] },
  // The public surfaces, at the root of src.
  surface: {
    us: [...WORDS, 'agent', 'audit', 'cache', 'catalog', 'config', 'engine', 'execution', 'rules', 'search', 'service'],
    outside: [],
  },
  // `eval` judges rankings with search's own figures. Of connections only the pipes: stdin and stdout may be some.
  cli: {
    us: [
      ...WORDS,
      'approvals',
      'audit',
      'auth',
      'clients',
      'config',
      'connections',
      'disk',
      'doctor',
      'engine',
      'gateway',
      'lint',
      'logins',
      'mcp-registry',
      'meta-tools',
      'search',
      'secrets',
      'service',
      'telemetry',
      'usage',
    ],
    outside: [
      'node:fs',
      'node:fs/promises',
      'node:net',
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

/** A file without its comments. */
const code = (path: string): string => read(path).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

const moduleOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : 'surface');

function importsOf(path: string): { readonly name: string; readonly types: boolean; readonly late: boolean }[] {
  // What stands in a template is text for somebody else.
  const text = read(path).replace(/`(?:\\.|[^`\\])*`/g, '');
  const statements = text.matchAll(/^(?:import|export)( type)?\b[^'"`;]*?from '([^']+)';/gms);
  const bare = text.matchAll(/^()import '([^']+)';/gm);
  const dynamic = text.matchAll(/\b()import\('([^']+)'\)/g);
  return [...statements, ...bare, ...dynamic].map(([text, types, name]) => ({
    name: String(name),
    types: Boolean(types),
    late: text.startsWith('import('),
  }));
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
  });

  it('has only public surfaces at the root', () => {
    expect(sources.filter((path) => !path.includes('/'))).toEqual(['index.ts', 'registry.ts']);
  });

  it('gives no two files one name, entry points of folders aside', () => {
    const names = sources.map((path) => path.slice(path.lastIndexOf('/') + 1)).filter((name) => name !== 'index.ts');
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('has no import cycles, types and what is loaded on demand aside', () => {
    const cycles: string[] = [];
    const finished = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      if (finished.has(path)) return;
      if (trail.includes(path)) {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
        return;
      }
      for (const { name, types, late } of importsOf(path))
        if (name.startsWith('.') && !types && !late)
          visit(relative(src, resolve(src, dirname(path), name)), [...trail, path]);
      finished.add(path);
    };
    for (const path of sources) visit(path, []);
    expect(cycles).toEqual([]);
  });

  /** `http` of `connections/http/open-http.ts`; undefined for files that all transports share. */
  const transportOf = (path: string) => /^connections\/(\w+)\//.exec(path)?.[1];

  it('keeps transports apart: none imports another, and what they share imports none but to open it', () => {
    const wrong = sources
      .filter((path) => path.startsWith('connections/'))
      .flatMap((path) =>
        importsOf(path)
          .filter(({ name }) => name.startsWith('.'))
          .map(({ name }) => relative(src, resolve(src, dirname(path), name)))
          .filter((target) => transportOf(target) !== undefined && transportOf(target) !== transportOf(path))
          .map((target) => `${path} imports ${target}`),
      );
    expect(wrong).toEqual([
      'connections/open-connection.ts imports connections/http/open-http.ts',
      'connections/open-connection.ts imports connections/stdio/open-stdio.ts',
    ]);
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
    const asks = (path: string) => /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)/.test(code(path));
    expect(sources.filter(asks)).toEqual(['async/clock.ts']);
    const dates = sources.filter((path) => path !== 'async/clock.ts' && /\bwallNow\b/.test(code(path)));
    expect(dates.filter((path) => !(path in WALL_CLOCK))).toEqual([]);
    expect(Object.keys(WALL_CLOCK).filter((path) => !dates.includes(path))).toEqual([]);
  });

  it('opens every file with what goes in and out', () => {
    expect(sources.filter((path) => !/^(#!.*\n)?\/\*\*[\s\S]*?@module/.test(read(path)))).toEqual([]);
  });

  it('has no drawer named utils', () => {
    expect(sources.filter((path) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.)/.test(path))).toEqual([]);
  });

  it('asks core/transport-parts.ts about a connection instead of comparing its type', () => {
    // A registry's documents have transports of their own, which become connections there.
    const isAllowed = (path: string) =>
      path === 'core/transport-parts.ts' || /^(?:connections\/\w+|mcp-registry)\//.test(path);
    // `gateway.type` is the entry of this gateway itself, which is a program or an address.
    const COMPARISON =
      /^.*(?<!gateway\.)\b(?:type|transport)\s*[!=]==?\s*'(?:stdio|http|sse)'|\bcase '(?:stdio|http|sse)':/gm;
    const found = sources
      .filter((path) => !isAllowed(path))
      .flatMap((path) => [...read(path).matchAll(COMPARISON)].map(([line]) => `${path}:${line}`));
    expect(found).toEqual([]);
  });

  it('carries the version of package.json', () => {
    expect(VERSION).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
  });
});

describe('core/limits.ts', () => {
  const table = read('core/limits.ts');

  it('is light: it imports nothing, and every folder may import it', () => {
    expect(importsOf('core/limits.ts')).toEqual([]);
  });

  it('gives a reason for each number', () => {
    const lines = table.split('\n');
    const bare = lines.filter((line, at) => /^ {4}\w+: .*\d/.test(line) && !/\*\/$/.test(lines[at - 1] ?? ''));
    expect(bare).toEqual([]);
  });

  it('has no limit that is not used', () => {
    const all = sources.map(read).join('\n');
    const unused = Object.entries(LIMITS).flatMap(([group, entries]) =>
      Object.keys(entries)
        .map((key) => `LIMITS.${group}.${key}`)
        .filter((name) => !new RegExp(`\\b${name.replaceAll('.', '\\.')}\\b`).test(all)),
    );
    expect(unused).toEqual([]);
  });

  it('has all bounds and durations: no constant, default or member elsewhere is given one as a number', () => {
    const FORMS = [
      // A name that says bound or duration: `MAX_DEPTH = 8`, `PAUSE_MS = 50`, `{ idleMs: 100 }`, `options.waitMs ?? 25`.
      /\b((?:MAX|MOST|LONGEST|LARGEST|DEEPEST|PARALLEL)(?:_\w+)?|\w+_(?:BYTES|CHARS|LIMIT|TOKENS|AT_ONCE)|\w*(?:_MS|Ms|[tT]imeout|initial|Delay|Interval|Rest)) ?(?:=|:|\?\?) (?!0\b(?!\.))[-(]?\d/g,
      // A default of ten or more, whatever its name: `(text, max = 300)`, `options.queue ?? 64`.
      /[{(,]\s*(?:\w+: )?(\w+)(?:: number)? = [1-9][\d_]+/g,
      /(\w+) \?\? [1-9][\d_]+/g,
      // The time of a timer.
      /\b(set(?:Timeout|Interval))\(.*\b[1-9][\d_]+\)/g,
    ];
    const elsewhere = sources
      .filter((path) => path !== 'core/limits.ts')
      .flatMap((path) => FORMS.flatMap((form) => [...code(path).matchAll(form)].map(([, name]) => `${path} ${name}`)));
    expect([...new Set(elsewhere)].sort()).toEqual(Object.keys(NO_BOUNDS));
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
      if (names.endsWith('/') && !names.includes(' ')) folders[level] = names;
      return names.split(' ').map((name) => parent + name);
    });
  }
  const tree = treeOf(readFileSync(join(root, 'AGENTS.md'), 'utf8'));

  it('shows the folders and root files of src as they are on disk', () => {
    const onDisk = readdirSync(src, { withFileTypes: true }).map(
      (entry) => `src/${entry.name}${entry.isDirectory() ? '/' : ''}`,
    );
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
