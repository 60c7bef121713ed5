/**
 * Runs the official MCP conformance suites against the fixture server, once directly and once through our gateway:
 * whatever passes directly must pass through the gateway. Prints a table; exits 1 on a regression, 2 when it cannot run.
 *
 *     node scripts/conformance.mjs [--direct-only] [--only SET]... [--all] [--replicas N] [--json]
 *
 * SET is active, 2025-11-25, 2026-07-28, or one of the last two with -crossed: then the server behind the gateway speaks
 * the other protocol era. With --replicas, N gateways on one Redis behind a round-robin proxy take its place. With --all, the client half too, through the gateway: a few minutes more. Suites and their results are kept under .conformance/.
 * @module
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { startRedis, startReplicas } from '../bench/parts/replica-set.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HOME = join(ROOT, '.conformance');
const FIXTURE = join(ROOT, 'test/fixtures/conformance-server.mjs');
const GATEWAY = join(ROOT, 'dist/bin/anygpt.js');
const READY_MS = 30_000;
const RUN_MS = 10 * 60_000;

const SUITE = '@modelcontextprotocol/conformance';
const NEWEST = '0.2.0-alpha.12';
const OLD_SERVER = { downstream: 'stdio', flags: ['--legacy-only'] };
const NEW_SERVER = { downstream: 'http', flags: ['--modern-only'] };
/** The suite speaks one protocol era to the gateway, and the gateway the same or the other one to the fixture. */
const RUNS = [
  { name: 'active', set: 'active', version: '0.1.16', args: [], server: 'old', ...OLD_SERVER },
  { name: '2025-11-25', version: NEWEST, server: 'old', ...OLD_SERVER },
  { name: '2025-11-25-crossed', set: '2025-11-25', version: NEWEST, server: 'new', ...NEW_SERVER },
  { name: '2026-07-28', version: NEWEST, server: 'new', ...NEW_SERVER },
  { name: '2026-07-28-crossed', set: '2026-07-28', version: NEWEST, server: 'old', ...OLD_SERVER },
].map((run) => ({ set: run.name, args: ['--requirements', run.set ?? run.name], ...run }));

/** What cannot pass when the protocol era is crossed, and why. */
const EXPLAINED = {
  'server-stateless/sep-2575-server-rejects-undeclared-capability': 'a server of the old protocol has no such error',
  'server-stateless/sep-2575-missing-capability-http-400': 'a server of the old protocol has no such error',
  'input-required-result-basic-elicitation/sep-2322-elicitation-incomplete':
    'questions of the old protocol have no keys, so the gateway gives them its own',
};
const explanationOf = ({ name, set }, { scenario, check }) =>
  name === set ? undefined : EXPLAINED[`${scenario}/${check}`];

const stop = (message) => {
  process.stderr.write(`conformance: ${message}\n`);
  process.exit(2);
};
const say = (message) => process.stderr.write(`${message}\n`);

/** Installs one package into a folder of its own under .conformance/, unless it is there. Returns the package's path. */
const install = (folder, name, version) => {
  const prefix = join(HOME, folder);
  const path = join(prefix, 'node_modules', name);
  const manifest = join(path, 'package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version) return path;
  say(`installing ${name}@${version} …`);
  mkdirSync(prefix, { recursive: true });
  const args = ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  const done = spawnSync('npm', [...args, `${name}@${version}`], {
    cwd: prefix,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (done.status !== 0) stop(`npm could not install ${name}@${version}; is the registry reachable?`);
  return path;
};

/** The suites need fs.globSync, so Node 22 or newer. */
const suiteRuntime = () => {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const path = install('node', `node-${platform}-${process.arch}`, '22.23.3');
  return join(path, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
};

const freePort = () =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

const accepts = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });

/** Starts a child that serves HTTP on `port`; resolves once it accepts connections. Its output goes to `log`. */
const serve = async (args, port, log, env = {}) => {
  const out = openSync(log, 'w');
  const child = spawn(process.execPath, args, { stdio: ['ignore', out, out], env: { ...process.env, ...env } });
  closeSync(out);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const deadline = Date.now() + READY_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(
        `${args[0]} did not start to listen on ${port}; see ${log}\n${readFileSync(log, 'utf8').slice(-2000)}`,
      );
    }
    await sleep(50);
  }
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      child.kill('SIGTERM');
      const gone = await Promise.race([ended.then(() => true), sleep(20_000, false, { ref: false })]);
      if (!gone) {
        child.kill('SIGKILL');
        await ended;
      }
    },
  };
};

const serveFixture = async (folder, flags = []) => {
  const port = await freePort();
  return serve([FIXTURE, '--http', String(port), ...flags], port, join(folder, 'fixture.log'));
};

/** Starts the gateway with the fixture exposed, and the fixture too where it is not the gateway's own child. */
const serveGateway = async (run, folder) => {
  const remote = run.downstream === 'http' ? await serveFixture(folder, run.flags) : undefined;
  const connection = remote
    ? { type: 'http', url: remote.url }
    : { type: 'stdio', command: process.execPath, args: [FIXTURE, ...run.flags] };
  const config = join(folder, 'gateway.config.json');
  const servers = [{ name: 'fixture', description: 'The conformance fixture', connection }];
  writeFileSync(config, JSON.stringify({ discovery: { servers } }, null, 2));
  const port = await freePort();
  const args = [GATEWAY, 'mcp', 'serve', '--http', String(port), '--expose', 'fixture', '--config', config];
  try {
    if (run.replicas > 0) return await serveReplicas(run.replicas, servers, remote);
    const gateway = await serve(args, port, join(folder, 'gateway.log'), { ANYGPT_HOME: join(folder, 'home') });
    return { url: gateway.url, close: () => gateway.close().finally(() => remote?.close()) };
  } catch (error) {
    await remote?.close();
    throw error;
  }
};

/** Starts replicas with the fixture exposed, and a Redis for them. */
const serveReplicas = async (count, servers, remote) => {
  const redis = await startRedis();
  const all = await startReplicas({ count, redis, config: { servers }, options: ['--expose', 'fixture'] });
  const close = async () => {
    await all.close();
    await redis.close();
    await remote?.close();
  };
  return { url: all.address, close };
};

const SEVERITY = ['SKIPPED', 'INFO', 'SUCCESS', 'WARNING', 'FAILURE'];

/** Reads `server-<scenario>-<time>/checks.json` into scenario → check id → worst outcome. */
const readResults = (folder) => {
  const scenarios = new Map();
  for (const entry of readdirSync(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(entry)?.[1];
    const file = join(folder, entry, 'checks.json');
    if (scenario === undefined) continue;
    const checks = new Map();
    scenarios.set(scenario, checks);
    if (!existsSync(file)) continue;
    for (const { id, status, errorMessage } of JSON.parse(readFileSync(file, 'utf8'))) {
      const before = checks.get(id);
      if (before && SEVERITY.indexOf(before.status) >= SEVERITY.indexOf(status)) continue;
      checks.set(id, { status, message: errorMessage });
    }
  }
  return scenarios;
};

/** Runs one suite against a server and reads what it found. */
const runSuite = async (run, runtime, url, folder) => {
  const index = join(run.suite, 'dist/index.js');
  const results = join(folder, 'results');
  const log = openSync(join(folder, 'suite.log'), 'w');
  const child = spawn(runtime, [index, 'server', '--url', url, ...run.args, '-o', results], {
    cwd: folder,
    stdio: ['ignore', log, log],
    timeout: RUN_MS,
  });
  closeSync(log);
  const exitCode = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
  return { exitCode, scenarios: existsSync(results) ? readResults(results) : new Map() };
};

const failing = (checks) => checks === undefined || [...checks.values()].some(({ status }) => status === 'FAILURE');

/** Scenarios that were run and count for nothing: extensions, and what was added after the release. */
const unscoredOf = (result, names) => {
  const others = [...result.scenarios].filter(([name]) => !names.includes(name));
  const failed = others.filter(([, checks]) => failing(checks));
  return { ok: others.length - failed.length, failed: failed.length, failing: failed.map(([name]) => name) };
};

const tally = (result, scored) => {
  const names = scored ?? [...result.scenarios.keys()];
  const failed = names.filter((name) => failing(result.scenarios.get(name)));
  const checks = names.flatMap((name) => [...(result.scenarios.get(name)?.values() ?? [])]);
  return {
    scenarios: { ok: names.length - failed.length, failed: failed.length },
    checks: {
      ok: checks.filter(({ status }) => status === 'SUCCESS').length,
      failed: checks.filter(({ status }) => status === 'FAILURE').length,
    },
    unscored: unscoredOf(result, names),
    exitCode: result.exitCode,
    failing: failed,
  };
};

/** What passed directly and does worse through the gateway; `weaker` are checks that merely no longer apply. */
const compare = (direct, gateway, scored) => {
  const regressions = [];
  const weaker = [];
  for (const name of scored ?? direct.scenarios.keys()) {
    const through = gateway.scenarios.get(name);
    for (const [check, { status }] of direct.scenarios.get(name) ?? []) {
      if (status !== 'SUCCESS') continue;
      const now = through?.get(check) ?? { status: 'absent' };
      const finding = { scenario: name, check, status: now.status, message: now.message };
      if (now.status === 'FAILURE' || now.status === 'WARNING' || through === undefined) regressions.push(finding);
      else if (now.status !== 'SUCCESS') weaker.push(finding);
    }
    if (through && failing(through) && !failing(direct.scenarios.get(name))) {
      for (const [check, { status, message }] of through) {
        if (status === 'FAILURE' && !direct.scenarios.get(name).has(check)) {
          regressions.push({ scenario: name, check, status, message });
        }
      }
    }
  }
  return { regressions, weaker };
};

const verdictOf = (direct, gateway, regressions) => {
  if (direct.exitCode !== 0 || direct.scenarios.failed > 0) return 'CONTROL FAILS';
  if (gateway === undefined) return 'control ok';
  return regressions.length > 0 || gateway.exitCode !== 0 ? 'REGRESSION' : 'ok';
};

/** What was measured directly, by set: the crossed run of a set is compared with the same. */
const measured = new Map();

const measureLeg = async (run, runtime, leg) => {
  const name = leg === 'direct' ? run.set : run.name;
  const known = leg === 'direct' ? measured.get(run.set) : undefined;
  if (known) return known;
  say(`${run.version} ${name}: ${leg} …`);
  const folder = join(HOME, 'results', `${name}-${leg}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const target = leg === 'direct' ? await serveFixture(folder) : await serveGateway(run, folder);
  const result = await runSuite(run, runtime, target.url, folder).finally(target.close);
  if (leg === 'direct') measured.set(run.set, result);
  return result;
};

const measure = async (run, runtime, directOnly) => {
  const legs = {};
  for (const leg of directOnly ? ['direct'] : ['direct', 'gateway']) legs[leg] = await measureLeg(run, runtime, leg);
  const requirements = join(run.suite, 'requirements', `${run.set}.yaml`);
  const scored = existsSync(requirements) ? parse(readFileSync(requirements, 'utf8')).server : undefined;
  const direct = tally(legs.direct, scored);
  const gateway = legs.gateway && tally(legs.gateway, scored ?? [...legs.direct.scenarios.keys()]);
  const { regressions, weaker } = legs.gateway
    ? compare(legs.direct, legs.gateway, scored)
    : { regressions: [], weaker: [] };
  const explained = regressions.filter((one) => explanationOf(run, one) !== undefined);
  const unexplained = regressions.filter((one) => !explained.includes(one));
  // The suite's own verdict cannot know which failures are explained.
  const counted = explained.length > 0 && gateway ? { ...gateway, exitCode: 0 } : gateway;
  const verdict = verdictOf(direct, counted, unexplained);
  const reasons = explained.map((one) => ({ ...one, reason: explanationOf(run, one) }));
  const { version: suite, set, server } = run;
  return { suite, set, server, direct, gateway, verdict, regressions: unexplained, explained: reasons, weaker };
};

const DRIVER = join(ROOT, 'scripts/conformance-client.mjs');
const CLIENT_SETS = ['2025-11-25', '2026-07-28'];

/** Every checks.json below a folder. */
const checksIn = (folder) =>
  !existsSync(folder)
    ? []
    : readdirSync(folder, { recursive: true })
        .filter((path) => path.endsWith('checks.json'))
        .flatMap((path) => JSON.parse(readFileSync(join(folder, path), 'utf8')));

/** Runs the scenarios for clients one by one: the client is a program behind the gateway. */
const measureClient = (set, runtime) => {
  const suite = install(`suite-${NEWEST}`, SUITE, NEWEST);
  const { client, not_scored: others } = parse(readFileSync(join(suite, 'requirements', `${set}.yaml`), 'utf8'));
  const unscored = (others ?? []).filter(({ leg }) => leg === 'client').map(({ scenario }) => scenario);
  const outcomes = [...client, ...unscored].map((scenario) => {
    say(`${NEWEST} ${set}: client ${scenario} …`);
    const folder = join(HOME, 'results', `${set}-client`, scenario);
    rmSync(folder, { recursive: true, force: true });
    const command = `${process.execPath} ${DRIVER}`;
    const args = [
      'client',
      '--command',
      command,
      '--scenario',
      scenario,
      '--spec-version',
      set,
      '--force',
      '-o',
      folder,
    ];
    const { status } = spawnSync(runtime, [join(suite, 'dist/index.js'), ...args], {
      timeout: RUN_MS,
      stdio: 'ignore',
    });
    const checks = checksIn(folder);
    const count = (wanted) => checks.filter((one) => one.status === wanted).length;
    return {
      scenario,
      isOk: status === 0,
      isScored: client.includes(scenario),
      ok: count('SUCCESS'),
      failed: count('FAILURE'),
    };
  });
  const of = (isScored) => outcomes.filter((one) => one.isScored === isScored);
  return { set, outcomes, scored: of(true), unscored: of(false) };
};

const printClient = (rows) => {
  const sum = (list, key) => list.reduce((total, one) => total + one[key], 0);
  const counts = (list) => {
    const ok = list.filter(({ isOk }) => isOk).length;
    return `${ok}/${list.length - ok} (${sum(list, 'ok')}/${sum(list, 'failed')})`;
  };
  for (const { set, scored, unscored, outcomes } of rows) {
    process.stdout.write(`client half  ${set}  scored ${counts(scored)}  unscored ${counts(unscored)}\n`);
    for (const { scenario, isOk, isScored } of outcomes)
      if (!isOk) process.stdout.write(`client half  ${set}  ${isScored ? 'FAILS' : 'unscored'}  ${scenario}\n`);
  }
};

const print = (rows) => {
  const counts = (leg) =>
    leg ? `${leg.scenarios.ok}/${leg.scenarios.failed} (${leg.checks.ok}/${leg.checks.failed})` : 'not run';
  const table = [
    ['suite', 'set', 'server behind', 'direct ok/fail (checks)', 'gateway ok/fail (checks)', 'unscored', 'verdict'],
    ...rows.map((row) => {
      const { unscored } = row.gateway ?? row.direct;
      const legs = [counts(row.direct), counts(row.gateway), `${unscored.ok}/${unscored.failed}`];
      return [row.suite, row.set, row.server === 'new' ? '2026-07-28' : '2025-11-25', ...legs, row.verdict];
    }),
  ];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
  for (const { set, direct, gateway, regressions, explained, weaker } of rows) {
    for (const name of direct.failing) lines.push(`${set}  direct   ${name} fails`);
    for (const { scenario, check, status, message } of regressions) {
      lines.push(`${set}  gateway  ${scenario} / ${check}: ${status}${message ? ` (${message.slice(0, 200)})` : ''}`);
    }
    for (const { scenario, check, reason } of explained)
      lines.push(`${set}  crossed  ${scenario} / ${check}: ${reason}`);
    const { failing: unscored } = (gateway ?? direct).unscored;
    if (unscored.length > 0) lines.push(`${set}  unscored ${unscored.join(', ')}`);
    for (const { scenario, check, status } of weaker) lines.push(`${set}  note     ${scenario} / ${check}: ${status}`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
};

const { values } = parseArgs({
  options: {
    'direct-only': { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    all: { type: 'boolean', default: false },
    replicas: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const chosen = RUNS.filter(({ name }) => values.only === undefined || values.only.includes(name));
if (chosen.length === 0) stop(`--only takes one of ${RUNS.map(({ name }) => name).join(', ')}`);
if (!values['direct-only'] && !existsSync(GATEWAY)) stop(`${GATEWAY} is missing; run "npm run build" first`);

const runtime = suiteRuntime();
const rows = [];
try {
  for (const run of chosen) {
    rows.push(
      await measure(
        { ...run, suite: install(`suite-${run.version}`, SUITE, run.version), replicas: Number(values.replicas ?? 0) },
        runtime,
        values['direct-only'],
      ),
    );
  }
} catch (error) {
  stop(error.message);
}
const clients = values.all ? CLIENT_SETS.map((set) => measureClient(set, runtime)) : [];
if (values.json) process.stdout.write(`${JSON.stringify({ runs: rows, clients }, null, 2)}\n`);
else {
  print(rows);
  printClient(clients);
}
const isFine = rows.every(({ verdict }) => verdict === 'ok' || verdict === 'control ok');
process.exitCode = isFine && clients.every(({ scored }) => scored.every(({ isOk }) => isOk)) ? 0 : 1;
