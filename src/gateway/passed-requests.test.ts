import { expect, it } from 'vitest';
import { ReplicaGone } from '../cluster/request-relay.ts';
import { goneAnswer } from './passed-requests.ts';

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
