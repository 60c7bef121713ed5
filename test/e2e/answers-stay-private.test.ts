/**
 * What one client has told a server serves no other: not its folders, not what a person typed, not what a model said.
 * @module
 */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Agent,
  type Answers,
  type ClientKind,
  connect,
  type Result,
  serveArgs,
  serveHttp,
  textOf,
} from './gateway.ts';
import { Sandbox } from './sandbox.ts';
import { entry, fixture, installed } from './servers.ts';

let sandbox: Sandbox;
let config: string;
let url: URL;

const QUESTIONS = ['elicitation/create', 'sampling/createMessage', 'roots/list'];
const tools = ['remember', 'recall', 'later', 'dawdle'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const remembering = (name: string, more = {}) =>
  entry(name, [fixture('connections/remembering.mjs'), name], { tools, ...more });

beforeAll(async () => {
  sandbox = new Sandbox();
  const servers = [
    // Without a folder of its own it serves what its client's roots say.
    entry('files', [installed('filesystem'), sandbox.folder]),
    remembering('private'),
    remembering('public', { shared: true }),
    ...QUESTIONS.map((by) => remembering(`late ${by}`)),
  ];
  config = sandbox.write({ servers });
  url = await serveHttp(sandbox, config);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const MODERN = ['v2 modern http', 'v2 modern http'] as const;
const PAIRS: readonly (readonly [ClientKind, ClientKind])[] = [
  MODERN,
  ['v2 legacy http', 'v2 modern http'],
  ['v2 modern http', 'v1 http'],
  ['v1 http', 'v2 legacy http'],
];

/** A client with a folder of its own, in which there is one file. */
const owner = async (name: string, kind: ClientKind) => {
  const folder = join(sandbox.folder, name);
  mkdirSync(folder, { recursive: true });
  const real = realpathSync(folder);
  const file = join(real, 'secret.txt');
  writeFileSync(file, `the secret of ${name}`);
  const agent = await connect(kind, sandbox, kind.endsWith('stdio') ? serveArgs(config) : url, {
    roots: () => [{ uri: pathToFileURL(real).href, name }],
  });
  const read = async (path: string) => textOf(await agent.execute('files', 'read_text_file', { path }));
  return { name, agent, file, read, folder: real };
};

describe('the folders of two clients', () => {
  it.each(PAIRS)(
    '%s and %s: each reads its own files and not those of the other',
    { timeout: 60_000 },
    async (...kinds) => {
      const [ada, bob] = await Promise.all([owner('ada', kinds[0]), owner('bob', kinds[1])]);
      for (const [one, other] of [
        [ada, bob],
        [bob, ada],
        [ada, bob],
      ] as const) {
        expect(await one.read(one.file)).toContain(`the secret of ${one.name}`);
        expect(await one.read(other.file)).toMatch(/denied/i);
        const allowed = textOf(await one.agent.execute('files', 'list_allowed_directories'));
        expect(allowed).toContain(one.folder);
        expect(allowed).not.toContain(other.folder);
      }
      const both = [ada, bob].map(({ agent, file }) =>
        Array.from({ length: 3 }, () => agent.execute('files', 'read_text_file', { path: file })),
      );
      for (const [index, { name }] of [ada, bob].entries())
        for (const result of await Promise.all(both[index] ?? []))
          expect(textOf(result)).toContain(`the secret of ${name}`);
      for (const { agent } of [ada, bob]) await agent.close();
    },
  );

  it.each(['v2 modern stdio', 'v2 legacy stdio', 'v1 stdio'] as const)(
    '%s: roots a server asks for at its start have arrived before the first call',
    async (kind) => {
      const ada = await owner('ada', kind);
      expect(await ada.read(ada.file)).toContain('the secret of ada');
      expect(await ada.read(join(sandbox.folder, 'config.json'))).toMatch(/denied/i);
      await ada.agent.close();
    },
  );
});

const person = (name: string, kind: ClientKind, by: string, onAsked = () => {}): Promise<Agent> => {
  const told = <T>(answer: T) => {
    onAsked();
    return answer;
  };
  const answers: Answers = {
    name,
    ...(by === 'elicitation/create' && { elicitation: () => told({ action: 'accept', content: { name } }) }),
    ...(by === 'sampling/createMessage' && {
      sampling: () => told({ role: 'assistant', content: { type: 'text', text: name }, model: 'm' }),
    }),
    ...(by === 'roots/list' && { roots: () => told([{ uri: `file:///${name}`, name }]) }),
  };
  return connect(kind, sandbox, kind.endsWith('stdio') ? serveArgs(config) : url, answers);
};
const memoryOf = (result: Result) => result.structuredContent as { told: unknown[]; pid: number };

describe('what a client has answered', () => {
  it.each(QUESTIONS.flatMap((by) => PAIRS.map((kinds) => [by, ...kinds] as const)))(
    '%s: %s and %s: is kept from the other',
    { timeout: 60_000 },
    async (by, first, second) => {
      const [ada, bob] = await Promise.all([person('ada', first, by), person('bob', second, by)]);
      for (const [agent, name] of [
        [ada, 'ada'],
        [bob, 'bob'],
        [ada, 'ada'],
      ] as const) {
        const remembered = memoryOf(await agent.execute('private', 'remember', { by }));
        expect(JSON.stringify(remembered.told)).toContain(name);
        expect(JSON.stringify(remembered.told)).not.toContain(name === 'ada' ? 'bob' : 'ada');
      }
      const recalled = memoryOf(await bob.execute('private', 'recall'));
      expect(JSON.stringify(recalled.told)).not.toContain('ada');
      for (const agent of [ada, bob]) await agent.close();
    },
  );

  it('serves the next one where the operator says so', async () => {
    const by = 'elicitation/create';
    const [ada, bob] = await Promise.all(MODERN.map((kind, n) => person(['ada', 'bob'][n] ?? '', kind, by)));
    const one = memoryOf((await ada?.execute('public', 'remember', { by })) as Result);
    const two = memoryOf((await bob?.execute('public', 'remember', { by })) as Result);
    expect(two.pid).toBe(one.pid);
    for (const agent of [ada, bob]) await agent?.close();
  });

  it('serves the same client again on stdio', async () => {
    const by = 'elicitation/create';
    const ada = await person('ada', 'v2 modern stdio', by);
    const one = memoryOf(await ada.execute('private', 'remember', { by }));
    const two = memoryOf(await ada.execute('private', 'remember', { by }));
    expect(two.pid).toBe(one.pid);
    expect(two.told).toHaveLength(2);
    await ada.close();
  });
});

describe('a question that a server asks after it has answered', () => {
  it.each(QUESTIONS)('%s: reaches no other client, and later questions reach their own', async (by) => {
    const asked: string[] = [];
    const server = `late ${by}`;
    const [ada, bob] = await Promise.all([
      person('ada', MODERN[0], by),
      person('bob', MODERN[1], by, () => asked.push(by)),
    ]);
    const { pid } = memoryOf(await ada.execute(server, 'later', { by, text: 'of ada' }));
    const meanwhile = memoryOf(await bob.execute(server, 'dawdle'));
    expect(meanwhile.pid).not.toBe(pid);
    expect(asked).toEqual([]);
    for (let n = 1; n <= 2; n++) {
      const own = memoryOf(await bob.execute(server, 'remember', { by }));
      expect(own.pid).not.toBe(pid);
      expect(JSON.stringify(own.told)).toContain('bob');
      expect(asked.length).toBeGreaterThanOrEqual(n);
      await ada.execute(server, 'later', { by, text: 'of ada' });
      // He may meet what he has said himself, and no question of hers.
      expect(JSON.stringify(memoryOf(await bob.execute(server, 'dawdle')).told)).not.toMatch(/ada|refused/);
    }
    for (const agent of [ada, bob]) await agent.close();
  });
});
