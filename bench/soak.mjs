// Runs the gateway under load and faults for a while, and tells whether anything grows: memory, handles, descriptors,
// files, processes. Prints a table; the exit code is 1 if a slope is too steep.
//
//   npm run soak -- [--minutes 30] [--warm-up 10] [--json]
//
// One gateway over HTTP, three servers on stdio and one over HTTP, all on loopback. Clients of both protocols call at
// about a fifth of what the gateway can do on this machine, which is measured first. Every 30 s something breaks, every
// minute lists change, every 5 minutes all clients reconnect. It ends by itself.
//
// The heap is judged by its size without code and by snapshots, which tell what the program holds from what V8's compilers
// hold: code, feedback and lists of dependent code, which grow for as long as V8 finds something to optimise. Snapshots
// take so much memory that resident memory is judged before the first one: half of the time after the warm-up is for each.
import { parseArgs } from 'node:util';
import { requireBuild } from './parts/run-sections.mjs';
import { reportOf } from './parts/soak-report.mjs';
import { runSoak } from './parts/soak-run.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    'warm-up': { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const warmUp = Number(values['warm-up'] ?? Math.min(10, minutes / 3));
if (!(minutes > 0 && minutes <= 24 * 60 && warmUp >= 0 && warmUp < minutes)) {
  console.error('--minutes must be more than --warm-up, and at most 1440');
  process.exit(2);
}

const heapsFrom = (warmUp + minutes) / 2;
requireBuild();
const run = await runSoak({
  minutes,
  warmUp,
  heapsFrom,
  say: (text) => process.stderr.write(`${text}\n`),
});
const report = reportOf(run, warmUp, heapsFrom);
console.log(values.json ? JSON.stringify(report, null, 2) : report.text);
process.exitCode = report.ok ? 0 : 1;
