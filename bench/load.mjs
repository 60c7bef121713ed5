// Puts accounted load on replicas while they, Redis and servers fail, and joins what clients were told, what the audit
// logs say and what a server really executed: nothing may be lost, executed twice or given to another caller.
//
//   npm run load -- [--calls N] [--minutes N] [--replicas N] [--connections N] [--calm] [--fail-closed] [--json]
//
// With --fail-closed (audit.failClosed), every executed call must have a line in an audit log.
// Needs redis-server. Everything runs on this machine, on loopback addresses. Stops after N calls or N minutes.
import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { accountedLoad } from './parts/accounted-load.mjs';
import { startServer } from './parts/gateway-process.mjs';
import { startRedis, startReplicas } from './parts/replica-set.mjs';
import { requireBuild } from './parts/run-sections.mjs';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '100000' },
    minutes: { type: 'string', default: '20' },
    replicas: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
    calm: { type: 'boolean', default: false },
    'fail-closed': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
requireBuild();

/** Between two faults. */
const CALM_MS = 8_000;
/** How long something stays frozen or away. */
const FAULT_MS = 2_000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const say = (text) => values.json || process.stderr.write(`${text}\n`);

const started = performance.now();
const server = await startServer('journal-http');
const redis = await startRedis();
const all = await startReplicas({
  count: Number(values.replicas),
  redis,
  config: {
    servers: [{ name: 'journal', connection: { type: 'http', url: server.address }, concurrency: 256 }],
    limits: { inFlightPerClient: 512, queue: 512 },
    audit: { failClosed: values['fail-closed'], values: true, maxBytes: 1_000_000_000, files: 50 },
  },
});

const random = (list) => list[Math.floor(Math.random() * list.length)];
const faults = {
  'replica killed': async () => random(all.replicas).signal('SIGKILL'),
  'replica frozen': async () => {
    const one = random(all.replicas);
    one.signal('SIGSTOP');
    await pause(FAULT_MS);
    one.signal('SIGCONT');
  },
  'Redis killed': async () => redis.signal('SIGKILL'),
  'Redis frozen': async () => {
    redis.signal('SIGSTOP');
    await pause(FAULT_MS);
    redis.signal('SIGCONT');
  },
  'Redis flushed': async () => {
    const { execFileSync } = await import('node:child_process');
    execFileSync('redis-cli', ['-p', String(redis.port), 'flushall']);
  },
};
const happened = Object.fromEntries(Object.keys(faults).map((name) => [name, 0]));
let isOver = false;
const trouble = async () => {
  const names = Object.keys(faults);
  for (let turn = 0; !isOver && !values.calm; turn += 1) {
    await pause(CALM_MS);
    if (isOver) return;
    const name = names[turn % names.length];
    happened[name] += 1;
    await faults[name]().catch((error) => say(`${name}: ${error.message}`));
  }
};
const troubled = trouble();

const toolOf = () => {
  const dice = Math.random();
  return { server: 'journal', tool: dice < 0.05 ? 'slow' : dice < 0.06 ? 'lame' : 'note' };
};
const verdicts = await accountedLoad({
  address: all.address,
  calls: Number(values.calls),
  connections: Number(values.connections),
  until: performance.now() + Number(values.minutes) * 60_000,
  toolOf,
  onProgress: (made) => say(`${made} calls, ${((performance.now() - started) / 1000).toFixed(0)} s`),
});
isOver = true;
const seconds = (performance.now() - started) / 1000;
await troubled;

const journal = (await (await fetch(new URL('/journal', server.address))).text()).split('\n').filter(Boolean);
const lists = Number(await (await fetch(new URL('/lists', server.address))).text());
const deaths = all.replicas.reduce((sum, { deaths: own }) => sum + own, 0);
// A gateway writes its audit log to the end when it is asked to leave.
const homes = all.replicas.map(({ home }) => home);
const audited = new Set();
const readAudit = () => {
  for (const home of homes)
    for (const name of readdirSync(join(home, 'audit')))
      if (name.startsWith('audit.jsonl'))
        for (const [, id] of readFileSync(join(home, 'audit', name), 'utf8').matchAll(/"id":"([0-9a-f-]{36})"/g))
          audited.add(id);
};
await pause(3_000);
readAudit();
await all.close();
await redis.close();
await server.close();

const executed = new Map();
for (const id of journal) executed.set(id, (executed.get(id) ?? 0) + 1);
const told = {};
const wrong = {
  lost: 0,
  duplicated: 0,
  crossed: 0,
  'told not_sent, but executed': 0,
  'told ok, but not executed': 0,
  unheard: 0,
};
let unaudited = 0;
for (const [id, verdict] of verdicts) {
  told[verdict] = (told[verdict] ?? 0) + 1;
  const times = executed.get(id) ?? 0;
  if (verdict === 'lost') wrong.lost += 1;
  if (verdict === 'crossed') wrong.crossed += 1;
  if (times > 1) wrong.duplicated += 1;
  if (verdict === 'not_sent' && times > 0) wrong['told not_sent, but executed'] += 1;
  if (verdict === 'ok' && times === 0) wrong['told ok, but not executed'] += 1;
  if (times > 0 && !audited.has(id)) unaudited += 1;
}
if (values['fail-closed']) wrong['executed, but not audited'] = unaudited;
for (const id of executed.keys()) if (!verdicts.has(id)) wrong.unheard += 1;
const report = {
  calls: verdicts.size,
  seconds: Number(seconds.toFixed(0)),
  perSecond: Number((verdicts.size / seconds).toFixed(0)),
  replicas: all.replicas.length,
  told,
  executed: executed.size,
  wrong,
  unaudited,
  faults: { ...happened, 'deaths of replicas': deaths },
  lists,
  load: Number(loadavg()[0].toFixed(1)),
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = Object.values(wrong).some((count) => count > 0) ? 1 : 0;
