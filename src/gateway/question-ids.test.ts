import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { markOf, markQuestions, partsByMark, replicaIn } from './question-ids.ts';

const REPLICA = 'a_b-Cd0123456789';

/** A transport between a server and its client, as an SDK's server leaves it after it connected. */
function connected(mark: string) {
  const [sent, heard]: [unknown[], unknown[]] = [[], []];
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => void sent.push(message),
    onmessage: (message) => void heard.push(message),
  };
  markQuestions(transport, mark);
  const hear = (message: object) => transport.onmessage?.(message as JSONRPCMessage);
  const send = (message: object) => transport.send(message as JSONRPCMessage);
  return { sent, heard, hear, send };
}

it('the id of a question names its replica and session, and its answer comes back with the number', async () => {
  const mark = markOf(REPLICA, 7);
  const { sent, heard, hear, send } = connected(mark);
  const question = { jsonrpc: '2.0', id: 3, method: 'elicitation/create', params: {} };
  await send(question);
  const id = `q.${mark}.3`;
  expect(sent).toEqual([{ ...question, id }]);
  expect([...partsByMark({ jsonrpc: '2.0', id, result: {} }).keys()].map((one) => replicaIn(one ?? ''))).toEqual([
    REPLICA,
  ]);
  hear({ jsonrpc: '2.0', id, result: { action: 'accept' } });
  expect(heard).toEqual([{ jsonrpc: '2.0', id: 3, result: { action: 'accept' } }]);
  await send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3, reason: 'late' } });
  expect(sent[1]).toMatchObject({ params: { requestId: id, reason: 'late' } });
});

it('answers and notifications of a server, and requests of a client, stay as they are', async () => {
  const { sent, heard, hear, send } = connected(markOf(REPLICA, 7));
  const messages = [
    { jsonrpc: '2.0', id: 3, result: {} },
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 3, progress: 1 } },
  ];
  for (const message of messages) await send(message);
  expect(sent).toEqual(messages);
  const requests = [
    { jsonrpc: '2.0', id: `q.${markOf(REPLICA, 7)}.3`, method: 'ping' },
    { jsonrpc: '2.0', id: 'x', result: {} },
    { jsonrpc: '2.0', id: `q.${markOf(REPLICA, 8)}.3`, result: {} },
  ];
  for (const message of requests) hear(message);
  expect(heard).toEqual(requests);
});

it('a batch is parted by the questions that it answers', () => {
  const answer = (mark: string, number: number) => ({ jsonrpc: '2.0', id: `q.${mark}.${number}`, result: {} });
  const [one, two] = [markOf(REPLICA, 1), markOf('Z'.repeat(16), 1)];
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const odd = { jsonrpc: '2.0', id: `q.${markOf('no-replica', 1)}.1`, result: {} };
  expect(partsByMark([answer(one, 1), call, answer(two, 1), answer(one, 2), odd])).toEqual(
    new Map<string | undefined, unknown>([
      [one, [answer(one, 1), answer(one, 2)]],
      [undefined, [call, odd]],
      [two, [answer(two, 1)]],
    ]),
  );
  expect(partsByMark(call)).toEqual(new Map([[undefined, call]]));
  expect(partsByMark([])).toEqual(new Map());
});
