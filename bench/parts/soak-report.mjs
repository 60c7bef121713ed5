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
  const [first, middle, last] = heaps;
  if (!last) return [];
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
export function reportOf(run, warmUp) {
  const samples = run.samples.filter(({ at }) => at >= warmUp);
  const isFair = run.minutes - warmUp >= FAIR_MINUTES;
  // A short run is judged by what it has gained, with room for the noise of single objects and of the allocator.
  const memory = (what, read, perHour, gained) => {
    const { slope, least } = slopeOf(samples, read);
    return {
      what,
      value: (isFair ? least : rise(samples, read)) / MIB,
      unit: isFair ? 'MiB/h at least' : 'MiB gained',
      budget: isFair ? perHour : gained,
      note: `${(slope / MIB).toFixed(1)} MiB/h over ${samples.length} samples`,
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
  const hasHeaps = run.heaps.length > 0;
  const leaking = growing(run.heaps);
  const lines =
    samples.length < 3
      ? [none('too few samples after the warm-up', 1)]
      : [
          memory('heap after garbage collection, without code', ({ heap }) => heap, 1, 4),
          memory('compiled code', ({ code }) => code),
          { ...memory('resident memory', ({ rss }) => rss, 4, 32), ...(hasHeaps && { budget: undefined }) },
          ...(hasHeaps
            ? [
                {
                  ...none('constructors with more and more objects', leaking.length, leaking.slice(0, 4).join(', ')),
                  ...(!isFair && { budget: undefined }),
                },
              ]
            : []),
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
      `${run.wrong} failed; 99th percentile ${run.p99?.toFixed(0)} ms`,
    `faults: ${faults.join(', ') || 'none'}`,
    ...(isFair ? [] : [`too short for slopes per hour (${FAIR_MINUTES} minutes after the warm-up): gains are judged`]),
  ];
  const ok = lines.every((line) => verdictOf(line) !== 'MISS');
  const text = [...facts, '', toTable({ title: 'Soak', lines }), ok ? 'ok' : 'MISS'].join('\n');
  return { ok, lines, facts, text };
}
