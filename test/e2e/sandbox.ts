/**
 * A place for one gateway to live in: its own home, its own secret, and at the end the two questions every story is
 * asked, whatever it was about: is a process left, and did the secret get out?
 * @module
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/** The built command line; `ANYGPT_E2E_BIN` names another one, for example of an installed package. */
export const BIN = process.env.ANYGPT_E2E_BIN ?? fileURLToPath(new URL('../../dist/bin/anygpt.js', import.meta.url));

/** The variable that holds the secret; configurations write `${E2E_SECRET}`. */
export const SECRET = 'E2E_SECRET';

/** Waits until a condition holds; says what did not happen when the time is over. */
export async function until<T>(
  what: string | (() => string),
  condition: () => T | Promise<T>,
  withinMs = 10_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const end = Date.now() + withinMs;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<Exclude<T, false>>;
    if (Date.now() > end)
      throw new Error(`did not happen within ${withinMs} ms: ${typeof what === 'string' ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The temporary world of one gateway. */
export class Sandbox implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'anygpt-e2e-'));
  readonly home = join(this.folder, 'home');
  readonly canary = `canary-${randomBytes(12).toString('hex')}`;
  /** What the gateway wrote to stderr, as a file that any client can be given. */
  readonly stderrFile = join(this.folder, 'stderr.log');
  readonly #stderr = openSync(this.stderrFile, 'a');
  readonly #outputs: string[] = [];
  readonly #closers: (() => Promise<unknown>)[] = [];

  constructor() {
    mkdirSync(this.home);
  }

  /** The environment of the gateway. The folder is in PATH so that every descendant can be recognised by it, and first, for programs that stand in. */
  get env(): Record<string, string> {
    return {
      PATH: `${this.folder}:${process.env.PATH}`,
      HOME: this.folder,
      ANYGPT_HOME: this.home,
      [SECRET]: this.canary,
      // A key of the person who started us; it is nobody else's business.
      OPENAI_API_KEY: this.canary,
    };
  }

  get stderrFd(): number {
    return this.#stderr;
  }

  stderr(): string {
    return readFileSync(this.stderrFile, 'utf8');
  }

  /** Writes a file, by default the configuration as JSON, and gives back its path. */
  write(content: unknown, name = 'config.json'): string {
    const path = join(this.folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  /** Remembers something the gateway said. */
  heard(output: string): void {
    this.#outputs.push(output);
  }

  /** Closes this before the sandbox is inspected. */
  closeLater(close: () => Promise<unknown>): void {
    this.#closers.push(close);
  }

  /** Processes that live in this sandbox, as `pid command`. */
  processes(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .flatMap((pid) => {
        try {
          // A zombie has no environment any more and is nobody's process.
          if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(this.folder)) return [];
          return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`];
        } catch {
          return [];
        }
      });
  }

  /** Waits until nothing runs here any more. */
  async quiet(withinMs = 6_000): Promise<void> {
    await until(
      () => `no process is left: ${this.processes().join('\n')}`,
      () => this.processes().length === 0,
      withinMs,
    );
  }

  /** Everything said and written so far: messages, stderr, cache, audit, and whatever else is in the folder. */
  everything(): string {
    const files = readdirSync(this.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    return [...this.#outputs, ...files].join('\n');
  }

  /** Closes, then asks the two questions. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const close of this.#closers.reverse()) await close();
      await this.quiet();
      const text = this.everything();
      const bytes = Buffer.from(this.canary);
      for (const form of [this.canary, bytes.toString('hex'), bytes.toString('base64').slice(0, -4)])
        expect(text.includes(form), `the secret leaked as ${form}`).toBe(false);
    } finally {
      closeSync(this.#stderr);
      rmSync(this.folder, { recursive: true, force: true });
    }
  }
}

/** A port of this machine that nobody listens on. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};
