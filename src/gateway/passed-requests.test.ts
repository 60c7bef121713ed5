import { expect, it } from 'vitest';
import { ReplicaGone } from '../cluster/request-relay.ts';
import { goneAnswer, lastWordsFor } from './passed-requests.ts';

const answerTo = (body: unknown) =>
  goneAnswer({ method: 'POST', headers: {}, body, caller: undefined }, new ReplicaGone('unknown'));
const call = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'execute_tool' } });
const UNKNOWN = expect.stringContaining('"outcome":"unknown"');
const resultOf = (id: number) => ({
  jsonrpc: '2.0',
  id,
  result: { isError: true, content: [{ type: 'text', text: UNKNOWN }] },
});

it('a call that may have been executed by a dead replica is answered so that no balancer repeats it', async () => {
  const answer = answerTo(call(1));
  expect([answer.status, await answer.json()]).toEqual([200, resultOf(1)]);
});

it('so is a batch of calls', async () => {
  const answer = answerTo([call(1), { jsonrpc: '2.0', method: 'notifications/progress' }, call(2)]);
  expect([answer.status, await answer.json()]).toEqual([200, [resultOf(1), resultOf(2)]]);
});

it('what asks for no answer may be repeated', () => {
  for (const body of [undefined, [], { jsonrpc: '2.0', id: 1, result: {} }]) expect(answerTo(body).status).toBe(503);
});

const EVENTS = new Headers({ 'content-type': 'text/event-stream' });
/** The messages of a stream that broke after these pieces. */
const heard = (body: unknown, pieces: readonly string[], headers = EVENTS): unknown[] => {
  const last = lastWordsFor({ method: 'POST', headers: {}, body, caller: undefined });
  for (const piece of pieces) last.sent(Buffer.from(piece));
  const words = last.words(new ReplicaGone('unknown'), headers);
  const stream = pieces.join('') + Buffer.from(words ?? []).toString();
  return stream.split('\n\n').flatMap((event) => {
    try {
      return [JSON.parse(event.replace(/^\n?(?:event: message\n)?data: /, ''))];
    } catch {
      return [];
    }
  });
};

it('a stream that breaks inside an event ends with an answer that its client can read', () => {
  expect(heard(call(1), [])).toEqual([resultOf(1)]);
  expect(heard(call(1), ['event: message\ndata: {"jsonrpc":"2.0","id":1,"resu'])).toEqual([resultOf(1)]);
});

it('the stream of a batch ends with an answer to each request that has none', () => {
  const answer = { jsonrpc: '2.0', id: 2, result: { text: 'wörds' } };
  const question = { jsonrpc: '2.0', id: 3, method: 'ping' };
  const events = [question, answer].map((one) => `event: message\ndata: ${JSON.stringify(one)}\n\n`).join('');
  const batch = [call(1), call(2), { jsonrpc: '2.0', method: 'notifications/progress' }, call(3)];
  for (const at of [0, 1, 40, events.length - 10, events.length]) {
    const pieces = [events.slice(0, at), events.slice(at)];
    expect(heard(batch, pieces)).toEqual([question, answer, resultOf(1), resultOf(3)]);
  }
  expect(heard(batch, [])).toEqual([1, 2, 3].map(resultOf));
});

it('an answer that is no stream of events, or to nothing, is broken off', () => {
  const json = new Headers({ 'content-type': 'application/json' });
  expect(heard(call(1), ['{"jsonrpc":'], json)).toEqual([]);
  expect(heard({ jsonrpc: '2.0', method: 'notifications/initialized' }, [])).toEqual([]);
});
