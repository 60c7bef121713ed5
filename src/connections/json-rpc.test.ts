import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isJsonRpcMessage } from './json-rpc.ts';

it.each([
  { jsonrpc: '2.0', id: 1, method: 'm' },
  { jsonrpc: '2.0', method: 'm', params: {} },
  { jsonrpc: '2.0', id: 'a', result: {} },
  { jsonrpc: '2.0', id: 1, result: null },
  { jsonrpc: '2.0', id: 1, result: {}, error: null },
  { jsonrpc: '2.0', id: null, error: { code: 1, message: '' } },
])('%j is a message', (message) => {
  expect(isJsonRpcMessage(message)).toBe(true);
});

it.each([
  null,
  1,
  'x',
  [],
  [{ jsonrpc: '2.0', id: 1, result: {} }],
  {},
  { id: 1, result: {} },
  { jsonrpc: '1.0', id: 1, result: {} },
  { jsonrpc: '2.0', id: {}, result: {} },
  { jsonrpc: '2.0', id: 1 },
  { jsonrpc: '2.0', result: {} },
  { jsonrpc: '2.0', id: 1, method: 5 },
  { jsonrpc: '2.0', id: 1, method: 'm', params: 'x' },
  { jsonrpc: '2.0', id: 1, method: 'm', params: null },
])('%j is noise', (message) => {
  expect(isJsonRpcMessage(message)).toBe(false);
});

it('never throws', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => typeof isJsonRpcMessage(value) === 'boolean'));
});
