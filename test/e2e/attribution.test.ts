/**
 * Whose question is it? A server of the old protocol asks over a connection without saying for which call. Every answer
 * must come from the client whose call it was.
 * @module
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evil } from '../fixtures/evil.ts';
import { type Agent, connect, type Result, serveArgs, serveHttp } from './gateway.ts';
import { envelope } from './raw-gateway.ts';
import { Sandbox } from './sandbox.ts';
import { entry, everything, fixture } from './servers.ts';

let sandbox: Sandbox;
let url: URL;

beforeAll(async () => {
  sandbox = new Sandbox();
  const tools = ['ask', 'wait'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const eliciting = entry('eliciting', [fixture('connections/eliciting.mjs')], { tools });
  url = await serveHttp(sandbox, sandbox.write({ servers: [eliciting, everything()] }));
});
afterAll(() => sandbox[Symbol.asyncDispose]());

/** A person who answers with their own name and remembers what they were asked. */
const person = async (name: string, kind: 'v1 http' | 'v2 legacy http' | 'v2 modern http') => {
  const asked: string[] = [];
  const agent = await connect(kind, sandbox, url, {
    elicitation: ({ message }) => {
      asked.push(String(message));
      return { action: 'accept', content: { name } };
    },
  });
  return { name, agent, asked };
};

const answerOf = (result: Result) => result.structuredContent as { marker: string; answer: { content: unknown } };

describe('two clients at once', () => {
  it.each([
    ['v1 http', 'v1 http'],
    ['v1 http', 'v2 legacy http'],
    ['v2 legacy http', 'v2 modern http'],
    ['v2 modern http', 'v2 modern http'],
  ] as const)('%s and %s: each answers for its own calls only', async (first, second) => {
    const people = await Promise.all([person('ada', first), person('bob', second)]);
    const rounds = 8;
    const calls = people.flatMap(({ name, agent }) =>
      Array.from({ length: rounds }, async (_, round) => {
        const marker = `${name}-${round}`;
        return { marker, name, result: await agent.execute('eliciting', 'ask', { marker }) };
      }),
    );
    for (const { marker, name, result } of await Promise.all(calls))
      expect(answerOf(result)).toMatchObject({ marker, answer: { content: { name } } });
    for (const { name, asked } of people)
      expect(asked.sort()).toEqual(Array.from({ length: rounds }, (_, round) => `${name}-${round}`));
    for (const { agent } of people) await agent.close();
  });

  it('a client that cannot be asked is never asked, and the server is told so', async () => {
    const mute = await connect('v1 http', sandbox, url);
    const { agent } = await person('ada', 'v1 http');
    const [silent, spoken] = await Promise.all([
      mute.execute('eliciting', 'ask', { marker: 'mute' }),
      agent.execute('eliciting', 'ask', { marker: 'spoken' }),
    ]);
    expect(JSON.stringify(silent)).toContain('refused');
    expect(answerOf(spoken).answer.content).toEqual({ name: 'ada' });
  });

  it('a real server hears the right person', async () => {
    const people = await Promise.all([person('Ada', 'v1 http'), person('Bob', 'v2 modern http')]);
    await people[0]?.agent.ask('list_tools', { server: 'everything' });
    const ask = ({ agent }: { agent: Agent }) => agent.execute('everything', 'trigger-elicitation-request');
    const [ada, bob] = await Promise.all(people.map(ask));
    expect(JSON.stringify(ada)).toContain('Ada');
    expect(JSON.stringify(bob)).toContain('Bob');
  });
});

// Known gap: a call's first look at a server carries no caller, so the server is introduced to nobody, hides the tools
// that need somebody to ask, and that list is kept. Turn into `it` once `Lookup` hands the caller on.
it('the first call to a server sees the tools meant for clients like it', async () => {
  await using fresh = new Sandbox();
  const at = serveArgs(fresh.write({ servers: [everything()] }));
  const agent = await connect('v1 stdio', fresh, at, { elicitation: () => ({ action: 'decline' }) });
  const result = await agent.execute('everything', 'trigger-elicitation-request');
  expect(result.isError).toBeFalsy();
});

describe('a call that waits for its agent', () => {
  it.each(['v2 modern stdio', 'v2 modern http'] as const)('%s hears progress before and after', async (kind) => {
    await using own = new Sandbox();
    const progress = (count: number) => ({
      notify: { method: 'notifications/progress', params: { progressToken: '$progressToken', progress: count } },
    });
    const requestedSchema = { type: 'object', properties: {} };
    const question = { method: 'elicitation/create', params: { message: '?', requestedSchema } };
    // Between the last note and the result is time, because the client's library would lose the note otherwise.
    const steps = [progress(1), { request: question, await: true }, { delay: 300 }, progress(2), { delay: 300 }];
    using server = evil({ era: 'legacy', on: [{ method: 'tools/call', do: [...steps, { default: true }] }] });
    const config = own.write({ servers: [entry('asking', server.args)] });
    const at = kind.endsWith('http') ? await serveHttp(own, config) : serveArgs(config);
    const agent = await connect(kind, own, at, { elicitation: () => ({ action: 'accept', content: {} }) });
    const heard: number[] = [];
    const onProgress = ({ progress: count }: { progress: number }) => heard.push(count);
    expect((await agent.execute('asking', 'echo', { text: 'done' }, { onProgress })).content).toEqual([
      { type: 'text', text: 'done' },
    ]);
    // The library adds a note of its own when it is asked.
    expect(heard).toEqual(expect.arrayContaining([1, 2]));
    const notes = agent.wire.filter(({ method }) => method === 'notifications/progress');
    expect(notes.map(({ params }) => params?.progress)).toEqual([1, 2]);
  });

  const call = async (marker: string, more: object = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'execute_tool',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'execute_tool',
          arguments: { server: 'eliciting', tool: 'ask', arguments: { marker } },
          _meta: envelope({ elicitation: {} }),
          ...more,
        },
      }),
    });
    const text = await response.text();
    sandbox.heard(text);
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
      result?: Result & { requestState?: string; inputRequests?: Record<string, unknown> };
      error?: { code: number; message: string };
    };
  };
  const answers = (inputRequests: object | undefined, name: string) =>
    Object.fromEntries(Object.keys(inputRequests ?? {}).map((key) => [key, { action: 'accept', content: { name } }]));

  it('goes on when its own agent answers', async () => {
    const { result: question } = await call('mine');
    expect(question).toMatchObject({ resultType: 'input_required' });
    expect(JSON.stringify(question?.inputRequests)).toContain('"message":"mine"');
    const { requestState } = question ?? {};
    const { result } = await call('mine', { requestState, inputResponses: answers(question?.inputRequests, 'ada') });
    expect(answerOf(result as Result)).toMatchObject({ marker: 'mine', answer: { content: { name: 'ada' } } });
  });

  it('cannot be answered by another call, a guess or twice', async () => {
    const { result: question } = await call('victim');
    const { requestState, inputRequests } = question ?? {};
    const inputResponses = answers(inputRequests, 'mallory');
    const isRefused = ({ error }: Awaited<ReturnType<typeof call>>) =>
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('belongs to no waiting call') });
    isRefused(await call('attacker', { requestState, inputResponses }));
    isRefused(await call('victim', { requestState: 'anygpt.guess', inputResponses }));
    const { result } = await call('victim', { requestState, inputResponses: answers(inputRequests, 'ada') });
    expect(answerOf(result as Result).answer.content).toEqual({ name: 'ada' });
    isRefused(await call('victim', { requestState, inputResponses }));
  });

  it('asks again for an answer that was left out', async () => {
    const { result: first } = await call('forgetful');
    const { result: second } = await call('forgetful', { requestState: first?.requestState, inputResponses: {} });
    expect(second).toMatchObject({ resultType: 'input_required', inputRequests: first?.inputRequests });
    const inputResponses = answers(second?.inputRequests, 'ada');
    const { result } = await call('forgetful', { requestState: second?.requestState, inputResponses });
    expect(answerOf(result as Result).answer.content).toEqual({ name: 'ada' });
  });
});
