/**
 * The gateway on stdio without any client library: bytes go in as written, every line that comes out is kept.
 * @module
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { serveArgs } from './gateway.ts';
import { type Sandbox, until } from './sandbox.ts';

/** A message of the gateway. */
export interface Frame {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

const MODERN = '2026-07-28';

/** The envelope every request of protocol 2026-07-28 carries. */
export const envelope = (capabilities: object = {}, version = MODERN) => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': capabilities,
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
});

/** One gateway process and both ends of its pipes. */
export class RawGateway {
  readonly child: ChildProcessWithoutNullStreams;
  /** Lines of stdout, whatever they are. */
  readonly lines: string[] = [];
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly #sandbox: Sandbox;
  #stderr = '';
  #rest = '';
  #lastId = 0;

  constructor(sandbox: Sandbox, config: string, ...more: string[]) {
    this.#sandbox = sandbox;
    this.child = spawn(process.execPath, serveArgs(config, ...more), { env: sandbox.env, cwd: sandbox.folder });
    this.exited = new Promise((resolve) => this.child.once('exit', (code, signal) => resolve({ code, signal })));
    this.child.stdin.on('error', () => {});
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      sandbox.heard(text);
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      this.lines.push(...lines);
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      sandbox.heard(text);
      this.#stderr += text;
    });
    sandbox.closeLater(async () => {
      this.child.kill('SIGKILL');
      await this.exited;
    });
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** All messages so far; lines that are no JSON are left to `lines`. */
  get frames(): Frame[] {
    return this.lines.flatMap((line) => {
      try {
        return [JSON.parse(line) as Frame];
      } catch {
        return [];
      }
    });
  }

  /** Writes one line, or bytes as they are. */
  send(message: object | string | Buffer): void {
    this.child.stdin.write(
      typeof message === 'string' || Buffer.isBuffer(message) ? message : `${JSON.stringify(message)}\n`,
    );
  }

  notify(method: string, params: object = {}): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  /** Sends a request and gives back its id. */
  begin(method: string, params: object = {}, id: unknown = ++this.#lastId): unknown {
    this.send({ jsonrpc: '2.0', id, method, params });
    return id;
  }

  /** The answer to a request. */
  answer(id: unknown): Promise<Frame> {
    return this.wait(`an answer to ${String(id)}`, (frame) => frame.method === undefined && frame.id === id);
  }

  /** The first message that fits. */
  wait(what: string, fits: (frame: Frame) => boolean, after = 0): Promise<Frame> {
    return until(
      () => `${what}; stderr: ${this.#stderr.slice(-2000)}`,
      () => this.frames.slice(after).find(fits),
    );
  }

  request(method: string, params: object = {}): Promise<Frame> {
    return this.answer(this.begin(method, params));
  }

  /** The handshake of the older revisions. */
  async initialize(protocolVersion = '2025-11-25', capabilities: object = {}): Promise<Frame> {
    const answer = await this.request('initialize', {
      protocolVersion,
      capabilities,
      clientInfo: { name: 'raw', version: '1' },
    });
    this.notify('notifications/initialized');
    return answer;
  }

  /** Parameters for `execute_tool`. */
  static execute(server: string, tool: string, args: object = {}) {
    return { name: 'execute_tool', arguments: { server, tool, arguments: args } };
  }

  /** Starts a call and gives back its id. */
  beginCall(server: string, tool: string, args: object = {}): unknown {
    return this.begin('tools/call', RawGateway.execute(server, tool, args));
  }

  /** Ends our side and waits until it has gone. */
  async end(): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }> {
    this.child.stdin.end();
    return this.exited;
  }

  /** Processes of this gateway's world. */
  processes(): string[] {
    return this.#sandbox.processes();
  }
}
