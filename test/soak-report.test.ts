/** How `npm run soak` tells what the gateway holds from what V8's compilers hold. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const MIB = 2 ** 20;
const urlOf = (path: string) => new URL(`../bench/parts/${path}`, import.meta.url).href;
const { reportOf } = (await import(urlOf('soak-report.mjs'))) as {
  reportOf(run: object, warmUp: number, heapsFrom: number): { ok: boolean; text: string };
};

interface Held {
  readonly program: number;
  readonly compiler: number;
  readonly leaked: number;
}

/** A run of half an hour in which so many bytes an hour are gained by each. */
function runWith(perHour: { program?: number; compiler?: number; beyond?: number; objects?: number }) {
  const times = Array.from({ length: 180 }, (_, at) => (at + 1) / 6);
  const gained = (key: keyof typeof perHour, at: number) => ((perHour[key] ?? 0) * at) / 60;
  const samples = times.map((at) => {
    const code = 8 * MIB + gained('compiler', at);
    const heap = 26 * MIB + gained('program', at) + code;
    const counts = { fds: 50, timers: 2, handles: 30, processes: 4, files: 15 };
    return { at, heap, code, rss: heap + 100 * MIB + gained('beyond', at), ...counts };
  });
  const heaps = times
    .filter((at) => at >= 20)
    .map((at) => ({
      ...{ at, calls: at * 3_000, program: 26 * MIB + gained('program', at) },
      compiler: 12 * MIB + gained('compiler', at),
      objects: new Map([['Leaked', 100 + gained('objects', at)]]),
    }));
  const end = { after: { sessions: 0, running: 0, waiting: 0, breakers: 0 }, wasRunning: true, code: 0, left: 0 };
  const load = { calls: 90_000, rate: 50, wrong: 0, abandoned: 0, faults: {}, warnings: [] };
  return reportOf({ minutes: 30, samples, heaps, ...load, ...end }, 10, 20);
}

describe('the verdict of a soak', () => {
  it('is ok if nothing but the heap of the compilers grows, and resident memory stays in bounds', () => {
    expect(runWith({}).ok).toBe(true);
    expect(runWith({ compiler: 3 * MIB }).ok).toBe(true);
    expect(runWith({ compiler: 5 * MIB }).text).toMatch(/resident memory.*MISS/);
  });

  it('is a miss if the program holds more and more, or resident memory grows', () => {
    expect(runWith({ program: 1.5 * MIB }).text).toMatch(/heap that the program holds.*MISS/);
    expect(runWith({ program: 1.5 * MIB }).text).toMatch(/without code.*MISS/);
    expect(runWith({ beyond: 5 * MIB }).text).toMatch(/resident memory.*MISS/);
  });

  it('is a miss if the objects of one constructor become more with the calls', () => {
    expect(runWith({ objects: 4_000 }).text).toMatch(/constructors.*MISS.*Leaked/);
  });
});

describe('a heap snapshot', () => {
  it('counts strings, objects and buffers for the program, and code for the compilers', () => {
    const script = `
      const { getHeapSnapshot } = await import('node:v8');
      const { text } = await import('node:stream/consumers');
      const { readHeap } = await import(${JSON.stringify(urlOf('heap-snapshot.mjs'))});
      const take = async () => readHeap(JSON.parse(await text(getHeapSnapshot())));
      class Leaked { constructor(at) { this.text = 'number ' + at + ' of many'; } }
      const source = (at) => 'let sum = ' + at + ';' + 'sum = sum * 3 + at;'.repeat(400) + 'return sum;';
      const compile = (_, at) => {
        const compiled = new Function('at', source(at));
        compiled(at);
        return compiled;
      };
      const counts = ({ program, compiler, objects }) => ({ program, compiler, leaked: objects.get('Leaked') ?? 0 });
      const told = [counts(await take())];
      globalThis.held = [Array.from({ length: 20_000 }, (_, at) => new Leaked(at)), Buffer.alloc(1_000_000)];
      told.push(counts(await take()));
      globalThis.held.push(Array.from({ length: 100 }, compile));
      told.push(counts(await take()));
      console.log(JSON.stringify(told));`;
    const told = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    const [before, withData, withCode] = JSON.parse(told) as [Held, Held, Held];
    expect(withData.program - before.program).toBeGreaterThan(1_500_000);
    expect(withData.compiler - before.compiler).toBeLessThan(200_000);
    expect(withData.leaked - before.leaked).toBe(20_000);
    expect(withCode.compiler - withData.compiler).toBeGreaterThan(300_000);
  });
});
