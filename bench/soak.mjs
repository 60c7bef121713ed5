// Runs the gateway under load and faults for a while, and tells whether anything grows: memory, handles, descriptors,
// files, processes. Prints a table; the exit code is 1 if a slope is too steep.
//
//   npm run soak -- [--minutes 20] [--warm-up 10] [--snapshots] [--json]
//
// One gateway over HTTP, three servers on stdio and one over HTTP, all on loopback. Clients of both protocols call at
// about a fifth of what the gateway can do on this machine, which is measured first. Every 30 s something breaks, every
// minute lists change, every 5 minutes all clients reconnect. It ends by itself. With --snapshots, objects of the heap are counted by
// constructor three times; that takes so much memory that the resident memory is not judged.
import { parseArgs } from 'node:util';
import { requireBuild } from './parts/run-sections.mjs';
import { reportOf } from './parts/soak-report.mjs';
import { runSoak } from './parts/soak-run.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    'warm-up': { type: 'string' },
    snapshots: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const warmUp = Number(values['warm-up'] ?? Math.min(10, minutes / 2));
if (!(minutes > 0 && minutes <= 24 * 60 && warmUp >= 0 && warmUp < minutes)) {
  console.error('--minutes must be more than --warm-up, and at most 1440');
  process.exit(2);
}

requireBuild();
const run = await runSoak({
  minutes,
  warmUp,
  snapshots: values.snapshots,
  say: (text) => process.stderr.write(`${text}\n`),
});
const report = reportOf(run, warmUp);
console.log(values.json ? JSON.stringify(report, null, 2) : report.text);
process.exitCode = report.ok ? 0 : 1;
