/**
 * Counts, and writes the counts as Prometheus text. Each family of numbers has a bounded number of series: beyond it,
 * new label values are counted together as `other`.
 * @module
 */
import { LIMITS } from '../core/limits.ts';

/** Label values in the order of the family's label names. */
type LabelValues = readonly string[];

interface Family {
  /** Writes the lines of the family. */
  write(): Promise<string>;
}

/** A number that only grows. */
interface Counter {
  add(labels?: LabelValues, amount?: number): void;
}

/** A distribution of seconds. */
interface Histogram {
  observe(seconds: number, labels?: LabelValues): void;
}

/** The values of a gauge at this moment, each with its labels. */
export type Reading = Iterable<readonly [LabelValues, number]>;

/** The metrics of one process. */
export class Metrics {
  readonly #families: Family[] = [];

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    const values = new Series(labels, () => ({ value: 0 }));
    this.#add(name, help, 'counter', () => linesOf(name, values));
    return {
      add: (at, amount = 1) => {
        values.of(at).value += amount;
      },
    };
  }

  /** Values are read at each scrape, so that nothing is counted twice. */
  gauge(
    name: string,
    help: string,
    labels: readonly string[],
    read: () => Reading | Promise<Reading>,
    type: 'gauge' | 'counter' = 'gauge',
  ): void {
    this.#add(name, help, type, async () => {
      const values = new Series(labels, () => ({ value: 0 }));
      for (const [at, value] of await read()) values.of(at).value += value;
      return linesOf(name, values);
    });
  }

  histogram(name: string, help: string, buckets: readonly number[], labelNames: readonly string[] = []): Histogram {
    const values = new Series(labelNames, () => ({ counts: new Float64Array(buckets.length + 1), sum: 0 }));
    this.#add(name, help, 'histogram', () =>
      Array.from(values, ([labels, { counts, sum }]) => {
        let count = 0;
        const upTo = Array.from(counts, (more, at) => {
          count += more;
          return `${name}_bucket${inBraces(joined(labels, `le="${buckets[at] ?? '+Inf'}"`))} ${count}\n`;
        });
        return `${upTo.join('')}${name}_sum${inBraces(labels)} ${sum}\n${name}_count${inBraces(labels)} ${count}\n`;
      }).join(''),
    );
    return {
      observe: (seconds, at) => {
        const one = values.of(at);
        const bucket = buckets.findIndex((most) => seconds <= most);
        const index = bucket === -1 ? buckets.length : bucket;
        one.counts[index] = (one.counts[index] ?? 0) + 1;
        one.sum += seconds;
      },
    };
  }

  /** The Prometheus text format, version 0.0.4. */
  async text(): Promise<string> {
    return (await Promise.all(this.#families.map((family) => family.write()))).join('');
  }

  #add(name: string, help: string, type: string, lines: () => string | Promise<string>): void {
    this.#families.push({ write: async () => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${await lines()}` });
  }
}

/** The type of the text, for the answer's header. */
export const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

const OTHER = 'other';

/** The values of one family by their labels. */
class Series<Value> {
  readonly #labels: readonly string[];
  readonly #create: () => Value;
  readonly #values = new Map<string, Value>();

  constructor(labels: readonly string[], create: () => Value) {
    this.#labels = labels;
    this.#create = create;
  }

  of(labels: LabelValues = []): Value {
    const written = this.#write(labels);
    const known = this.#values.get(written);
    if (known) return known;
    const key = this.#values.size < LIMITS.telemetry.series ? written : this.#write(labels.map(() => OTHER));
    const value = this.#values.get(key) ?? this.#create();
    this.#values.set(key, value);
    return value;
  }

  [Symbol.iterator](): Iterator<readonly [string, Value]> {
    return this.#values.entries();
  }

  #write(labels: LabelValues): string {
    return this.#labels.map((name, at) => `${name}="${escaped(labels[at] ?? '')}"`).join(',');
  }
}

const linesOf = (name: string, values: Series<{ readonly value: number }>): string =>
  Array.from(values, ([labels, { value }]) => `${name}${inBraces(labels)} ${value}\n`).join('');

const escaped = (value: string): string =>
  value.slice(0, LIMITS.names.shown).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const joined = (labels: string, more: string): string => (labels === '' ? more : `${labels},${more}`);
const inBraces = (labels: string): string => (labels === '' ? '' : `{${labels}}`);
