// Creates a home folder for a corpus as if an earlier gateway had seen every server: with a configuration file, the
// cached lists and the index.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileStore } from '../../dist/cache/file-store.js';
import { fingerprint } from '../../dist/connections/fingerprint.js';
import { silentLogger } from '../../dist/core/log.js';
import { EngineCore } from '../../dist/engine/engine-core.js';
import { buildState } from '../../dist/engine/engine-state.js';
import { approvalsOpener } from '../../dist/engine/open-approvals.js';
import { ConfigurationLoader, configFile } from '../../dist/index.js';

/** Leaves a mark when it runs: no server of a cached world may ever be started. */
const TRIPWIRE = 'require("node:fs").appendFileSync(process.argv[1], "started\\n"); setInterval(() => {}, 1000)';

const folders = new Set();
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates a home folder, removed when the process ends. `env` is the environment for a gateway in it. */
export const createHome = (servers) => {
  const home = mkdtempSync(join(tmpdir(), 'anygpt-bench-'));
  folders.add(home);
  mkdirSync(join(home, '.anygpt'));
  const config = join(home, '.anygpt', 'mcp-discovery.config.json');
  writeFileSync(config, JSON.stringify({ discovery: { servers } }));
  return { home, config, env: { ...surroundings(), HOME: home, ANYGPT_HOME: join(home, '.anygpt') } };
};

/**
 * The environment of everything measured, `node -e 0` too: the caller's, or with `--bare` only the search path. Some
 * variables (`NODE_EXTRA_CA_CERTS`) cost every Node process tens of milliseconds.
 */
const surroundings = () =>
  process.argv.includes('--bare')
    ? { PATH: process.env.PATH }
    : Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ANYGPT_')));

/** An engine on a home folder. */
export const openEngine = ({ home, config, env }) => new EngineCore(configFile(config), { env, home, cwd: home });

/** A home folder in which every server of the corpus is cached. */
export const createCachedWorld = async (corpus, more = {}) => {
  const mark = join(tmpdir(), `anygpt-bench-started-${process.pid}-${folders.size}`);
  folders.add(mark);
  const servers = [...corpus].map(([name, { description }]) => ({
    name,
    ...(description && { description }),
    ...more,
    connection: { type: 'stdio', command: process.execPath, args: ['-e', TRIPWIRE, mark, name] },
  }));
  const world = createHome(servers);
  await fillCache(world, corpus);
  return { ...world, wasStarted: () => existsSync(mark) };
};

/** Does what an engine does that sees every server for the first time, with the corpus instead of the servers. */
const fillCache = async ({ home, config: file, env }, corpus) => {
  const config = await new ConfigurationLoader({ env, home, cwd: home }).load(file);
  const { discovery, catalog } = await buildState(config, {
    store: async () => new FileStore(config.cache.dir),
    list: async ({ name, connection }) => ({
      server: name,
      fingerprint: fingerprint(connection),
      fetchedAt: Date.now(),
      tools: corpus.get(name).tools,
      skipped: [],
      verdict: { era: 'legacy', transport: 'stdio' },
    }),
    approvals: approvalsOpener({ state: home, logger: silentLogger }),
    logger: silentLogger,
    now: Date.now,
    onChange: () => {},
  });
  await Promise.all([...corpus.keys()].map((name) => discovery.refresh(name)));
  await catalog.save();
};
