/**
 * Runs checks on a worker thread with a timeout each. Returns problems, `overrun` after the timeout, or `unavailable`
 * if the thread cannot be used. There is one thread: started on demand, replaced after an overrun, with one job at a
 * time and a bounded queue.
 * @module
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { DEFAULTS, LIMITS } from '../../core/limits.ts';
import type { Problem } from './problem.ts';
import { SCHEMA_LIMITS, type SchemaLimits } from './schema-reader.ts';
import type { Answer, Job } from './validation-worker.ts';

/** The result of a check. */
type OffThreadAnswer = readonly Problem[] | 'overrun' | 'unavailable';

/** Limits of the worker thread. */
export interface OffThreadOptions {
  /** Timeout of one check, in ms. Default 50. */
  readonly budget?: number | undefined;
  readonly schema?: SchemaLimits | undefined;
  /** Checks that may wait. Default 64. */
  readonly queue?: number | undefined;
  /** Timeout for starting the thread, in ms. Default 10 s. */
  readonly startup?: number | undefined;
}

interface Pending {
  readonly schema: unknown;
  readonly value: unknown;
  readonly resolve: (answer: OffThreadAnswer) => void;
}

/** The worker thread for doubtful checks. */
export class OffThreadChecker {
  readonly #budget: number;
  readonly #limits: SchemaLimits;
  readonly #queueLimit: number;
  readonly #startup: number;
  readonly #queue: Pending[] = [];
  #worker: Worker | undefined;
  #ready = false;
  #current: Pending | undefined;
  #timer: NodeJS.Timeout | undefined;
  #jobs = 0;
  #closed = false;

  constructor(options: OffThreadOptions = {}) {
    this.#budget = options.budget ?? DEFAULTS.limits.validation;
    this.#limits = options.schema ?? SCHEMA_LIMITS;
    this.#queueLimit = options.queue ?? LIMITS.validation.queue;
    this.#startup = options.startup ?? LIMITS.time.checkerStart;
  }

  /** Checks a value; never rejects. */
  check(schema: unknown, value: unknown): Promise<OffThreadAnswer> {
    if (this.#closed || this.#queue.length >= this.#queueLimit) return Promise.resolve('unavailable');
    return new Promise((resolve) => {
      this.#queue.push({ schema, value, resolve });
      this.#advance();
    });
  }

  /** Ends the thread; running and waiting checks are `unavailable`. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { resolve } of this.#queue.splice(0)) resolve('unavailable');
    await this.#end('unavailable');
  }

  #advance(): void {
    if (this.#current !== undefined || this.#queue.length === 0) return;
    if (this.#worker === undefined) this.#start();
    if (!this.#ready) return;
    const job = this.#queue.shift();
    if (job === undefined) return;
    this.#current = job;
    const message: Job = { id: ++this.#jobs, schema: job.schema, value: job.value, limits: this.#limits };
    try {
      this.#worker?.postMessage(message);
    } catch {
      // Only cloneable values can be checked there; JSON always can.
      this.#finish('unavailable');
      return;
    }
    this.#timer = setTimeout(() => void this.#end('overrun'), this.#budget);
  }

  #start(): void {
    const worker = openWorker();
    this.#worker = worker;
    worker.unref();
    worker.on('message', (message: 'ready' | Answer) => {
      if (worker !== this.#worker) return;
      clearTimeout(this.#timer);
      if (message === 'ready') {
        this.#ready = true;
        this.#advance();
      } else if (message.id === this.#jobs) {
        this.#finish(message.problems === 'exhausted' ? 'unavailable' : message.problems);
      }
    });
    // Out of memory and similar: the current job is to blame.
    worker.on('error', () => {
      if (worker === this.#worker) void this.#end(this.#ready ? 'overrun' : 'unavailable');
    });
    this.#timer = setTimeout(() => void this.#end('unavailable'), this.#startup);
  }

  #finish(answer: OffThreadAnswer): void {
    const job = this.#current;
    this.#current = undefined;
    job?.resolve(answer);
    this.#advance();
  }

  async #end(answer: OffThreadAnswer): Promise<void> {
    const worker = this.#worker;
    const started = this.#ready;
    clearTimeout(this.#timer);
    this.#worker = undefined;
    this.#ready = false;
    if (!started) for (const { resolve } of this.#queue.splice(0)) resolve('unavailable');
    this.#finish(answer);
    await worker?.terminate();
  }
}

const MEMORY = { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 16 };

/** Loads the worker through jiti when run from the sources, because Node 20 cannot load TypeScript in a worker. */
const FROM_SOURCE = `
const { workerData } = require('node:worker_threads');
const { createJiti } = require(workerData.jiti);
createJiti(workerData.entry, { fsCache: false }).import(workerData.entry);
`;

function openWorker(): Worker {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) {
    return new Worker(new URL('./validation-worker.js', here), { resourceLimits: MEMORY, execArgv: [], env: {} });
  }
  const workerData = {
    jiti: createRequire(here).resolve('jiti'),
    entry: new URL('./validation-worker.ts', here).href,
  };
  return new Worker(FROM_SOURCE, { eval: true, workerData, resourceLimits: MEMORY, execArgv: [], env: {} });
}
