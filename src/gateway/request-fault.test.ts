import { isJSONRPCRequest } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { META, MODERN_VERSION } from '../connections/handshake.ts';
import { requestFault } from './request-fault.ts';

const request = (more: object) => ({ jsonrpc: '2.0' as const, id: 1, method: 'ping', ...more });
const ENVELOPE = { [META.protocolVersion]: MODERN_VERSION, [META.clientCapabilities]: {} };
const odd = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constant(undefined));
const meta = fc.oneof(
  odd,
  fc.record(
    {
      progressToken: odd,
      'io.modelcontextprotocol/related-task': fc.oneof(odd, fc.record({ taskId: odd })),
      other: odd,
    },
    { requiredKeys: [] },
  ),
);
const params = fc.oneof(odd, fc.record({ _meta: meta, name: odd }, { requiredKeys: [] }));

it('finds a fault exactly where the SDK would drop a request silently', () => {
  fc.assert(
    fc.property(fc.record({ params, result: odd, error: odd }, { requiredKeys: [] }), (more) => {
      // As it comes from the wire: nothing there is undefined.
      const message = JSON.parse(JSON.stringify(request(more)));
      expect(requestFault(message) === undefined).toBe(isJSONRPCRequest(message));
    }),
    { numRuns: 500 },
  );
});

it.each([
  [{ result: {} }, -32600],
  [{ error: null }, -32600],
  [{ params: [] }, -32602],
  [{ params: { _meta: 5 } }, -32602],
  [{ params: { _meta: null } }, -32602],
  [{ params: { _meta: { progressToken: {} } } }, -32602],
  [{ params: { _meta: { progressToken: 1.5 } } }, -32602],
  [{ params: { _meta: { 'io.modelcontextprotocol/related-task': {} } } }, -32602],
  [{ params: { _meta: { [META.protocolVersion]: 7 } } }, -32602],
  [{ params: { _meta: { ...ENVELOPE, [META.clientInfo]: { name: 'x' } } } }, -32602],
  [{ params: { _meta: { ...ENVELOPE, [META.clientCapabilities]: [] } } }, -32602],
  [{ params: { _meta: { [META.protocolVersion]: MODERN_VERSION } } }, -32602],
  [{ params: { _meta: { [META.protocolVersion]: '2030-01-01' } } }, undefined],
  [{ params: { _meta: ENVELOPE } }, undefined],
  [{ params: { _meta: { progressToken: 1 } } }, undefined],
  [{}, undefined],
])('of %j says %s', (more, code) => {
  expect(requestFault(request(more) as never)?.code).toBe(code);
});
