// Judges a soak: the slope of every number after the warm-up, and what was left at the end.
import { toTable, verdictOf } from './report.mjs';
import { median } from './statistics.mjs';

const MIB = 2 ** 20;
/** Slopes per hour of a short run say little: a megabyte in two minutes is thirty in an hour. */
const FAIR_MINUTES = 10;

/**
 * The slope per hour of a line through the samples that is steady against outliers (Theil and Sen), and the least that
 * it is with a certainty of 97.5 %: noise alone is no slope.
 */
export function slopeOf(samples, read) {
  const slopes = samples
    .flatMap((one, at) => samples.slice(at + 1).map((other) => ((read(other) - read(one)) / (other.at - one.at)) * 60))
    .sort((a, b) => a - b);
  const many = samples.length;
  const spread = 1.96 * Math.sqrt((many * (many - 1) * (2 * many + 5)) / 18);
  const at = (rank) => slopes[Math.min(slopes.length - 1, Math.max(0, Math.round(rank)))] ?? 0;
  return { slope: at(slopes.length / 2), least: at((slopes.length - spread) / 2) };
}

/** How much the middle of the last third is above that of the first third. */
const rise = (samples, read) => {
  const third = Math.max(1, Math.floor(samples.length / 3));
  return median(samples.slice(-third).map(read)) - median(samples.slice(0, third).map(read));
};

/** More objects of one constructor for each hundred calls than this are a leak, if they grow all the time. */
const GROWTH = 1;
/** Too few objects to be told from noise. */
const NOISE = 50;

/** The constructors whose objects grow, as text, the fastest first. */
function growing(heaps) {
  if (heaps.length < 3) return [];
  const [first, middle, last] = [heaps[0], heaps[heaps.length >> 1], heaps.at(-1)];
  const hundreds = (last.calls - first.calls) / 100;
  return [...last.objects]
    .map(([name, many]) => [name, first.objects.get(name) ?? 0, middle.objects.get(name) ?? 0, many])
    .filter(([, before, between, now]) => before < between && between < now)
    .map(([name, before, , now]) => ({ name, more: now - before, rate: (now - before) / hundreds }))
    .filter(({ more, rate }) => more > NOISE && rate > GROWTH)
    .sort((a, b) => b.rate - a.rate)
    .map(({ name, more }) => `${name} +${more}`);
}

/** The lines of a report, whether all are within their bounds, and the text. */
export function reportOf(run, warmUp, heapsFrom) {
  const samples = run.samples.filter(({ at }) => at >= warmUp);
  // A heap snapshot takes more memory than the gateway, so that resident memory is judged before the first one.
  const undisturbed = samples.filter(({ at }) => at < heapsFrom);
  const isFair = Math.min(heapsFrom - warmUp, run.minutes - heapsFrom) >= FAIR_MINUTES;
  // A short run is judged by what it has gained, with room for the noise of single objects and of the allocator.
  const memory = (what, taken, read, perHour, gained) => {
    const { slope, least } = slopeOf(taken, read);
    return {
      what,
      value: (isFair ? least : rise(taken, read)) / MIB,
      unit: isFair ? 'MiB/h at least' : 'MiB gained',
      budget: isFair ? perHour : gained,
      note: `${(slope / MIB).toFixed(1)} MiB/h over ${taken.length} samples, ${(read(taken.at(-1)) / MIB).toFixed(1)} MiB in the end`,
    };
  };
  const count = (what, key, budget) => ({
    what,
    value: rise(samples, (sample) => sample[key]),
    unit: '',
    budget: budget + 1,
    note: `${Math.min(...samples.map((one) => one[key]))} to ${Math.max(...samples.map((one) => one[key]))}`,
  });
  const none = (what, value, note = '') => ({ what, value, unit: '', budget: 0, note });
  const { after = {} } = run;
  const leaking = growing(run.heaps);
  const lines =
    undisturbed.length < 3 || run.heaps.length < 3
      ? [none('too few samples after the warm-up', 1)]
      : [
          memory('heap that the program holds', run.heaps, ({ program }) => program, 1, 4),
          memory("heap of V8's compilers", run.heaps, ({ compiler }) => compiler),
          memory('heap after garbage collection, without code', samples, ({ heap, code }) => heap - code, 1, 4),
          memory('compiled code', samples, ({ code }) => code),
          memory('resident memory', undisturbed, ({ rss }) => rss, 4, 32),
          {
            ...none('constructors with more and more objects', leaking.length, leaking.slice(0, 4).join(', ')),
            ...(!isFair && { budget: undefined }),
          },
          count('descriptors', 'fds', 5),
          count('timers', 'timers', 10),
          count('handles of all kinds', 'handles', 15),
          count('processes below the gateway', 'processes', 2),
          count('files in its folder', 'files', 4),
          none('warnings (listeners and others)', run.warnings.length, run.warnings[0]?.slice(0, 80)),
          none(
            'sessions of clients that ended theirs',
            Math.max(0, (after.sessions ?? Number.POSITIVE_INFINITY) - run.abandoned),
            `${after.sessions} are kept of the ${run.abandoned} that were left without a word`,
          ),
          none('calls running or waiting in the end', (after.running ?? -1) + (after.waiting ?? 0)),
          none('open breakers in the end', after.breakers ?? -1),
          none('did not run until the end', run.wasRunning ? 0 : 1),
          none('exit code after SIGTERM', run.code ?? -1),
          none('processes left behind', run.left),
        ];
  const faults = Object.entries(run.faults).map(([name, times]) => `${name} ${times}`);
  const facts = [
    `${run.minutes} minutes, the first ${warmUp} as warm-up; ${run.calls} calls at ${run.rate.toFixed(0)} a second, ` +
      `${run.wrong} failed; 99th percentile ${run.p99?.toFixed(0)} ms before the heap snapshots`,
    `faults: ${faults.join(', ') || 'none'}`,
    ...(isFair
      ? []
      : [
          `too short for slopes per hour (${FAIR_MINUTES} minutes before the heap snapshots and ${FAIR_MINUTES} with them): gains are judged`,
        ]),
  ];
  const ok = lines.every((line) => verdictOf(line) !== 'MISS');
  const text = [...facts, '', toTable({ title: 'Soak', lines }), ok ? 'ok' : 'MISS'].join('\n');
  return { ok, lines, facts, text };
}
