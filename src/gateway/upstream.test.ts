import { describe, expect, it } from 'vitest';
import { META, MODERN_VERSION } from '../connections/handshake.ts';
import type { CallContext, RunTool } from '../meta-tools/run-tool.ts';
import { ParkedCalls } from './parked-calls.ts';
import { createUpstreamHandler, type UpstreamCall } from './upstream.ts';

const { signal } = new AbortController();
const call = (more: Partial<UpstreamCall>): UpstreamCall => ({
  params: { name: 'x', arguments: { a: 1 } },
  era: 'legacy',
  capabilities: {},
  signal,
  ...more,
});

function recording() {
  const seen: { name: string; args: unknown; context: CallContext }[] = [];
  const run: RunTool = async (name, args, context) => {
    seen.push({ name, args, context });
    return { content: [] };
  };
  return { seen, handler: createUpstreamHandler(run, new ParkedCalls()) };
}

describe('createUpstreamHandler', () => {
  it('lets a legacy client be asked only if it declared something to be asked', async () => {
    const { seen, handler } = recording();
    const ask = async () => ({});
    await handler(call({ session: 's', ask, capabilities: { tools: {} } }));
    await handler(call({ session: 's', ask, capabilities: { roots: {} } }));
    expect(seen.map(({ context }) => context.caller.ask)).toEqual([undefined, ask]);
    expect(seen[0]).toMatchObject({ name: 'x', args: { a: 1 }, context: { caller: { session: 's' } } });
  });

  it('passes on foreign _meta entries and removes those of the envelope', async () => {
    const { seen, handler } = recording();
    const _meta = { [META.protocolVersion]: MODERN_VERSION, progressToken: 1, traceparent: '00-1' };
    await handler(call({ era: 'modern', params: { name: 'x', _meta } }));
    await handler(call({ params: { name: 'x', _meta: { progressToken: 1 } } }));
    await handler(call({ params: { name: 'x', _meta: 'nonsense' } }));
    expect(seen.map(({ context }) => context.meta)).toEqual([{ traceparent: '00-1' }, undefined, undefined]);
  });

  it('passes on answers and state that belong to the server itself', async () => {
    const { seen, handler } = recording();
    const params = { name: 'x', inputResponses: { q: {} }, requestState: "the server's own" };
    await handler(call({ era: 'modern', params }));
    expect(seen[0]?.context).toMatchObject({ inputResponses: { q: {} }, requestState: "the server's own" });
    expect(seen[0]?.context.caller.acceptsInputRequired).toBe(true);
    await handler(call({ era: 'modern', params: { name: 'x', inputResponses: [1], requestState: 7 } }));
    expect(seen[1]?.context).toMatchObject({ inputResponses: undefined, requestState: undefined });
  });

  it('parks a modern call that asks, and binds its answers to the same call of the same principal', async () => {
    const handler = createUpstreamHandler(
      async (_name, _args, { caller }) => ({ structuredContent: await caller.ask?.({ method: 'roots/list' }) }),
      new ParkedCalls(),
    );
    const capabilities = { roots: {} };
    const mine = call({ era: 'modern', principal: 'me', capabilities });
    const { requestState } = await handler(mine);
    const resumed = { ...mine, params: { ...mine.params, requestState, inputResponses: { q1: { roots: [] } } } };
    const refused = { name: 'JsonRpcError', code: -32602 };
    await expect(handler({ ...resumed, principal: 'you' })).rejects.toMatchObject(refused);
    const other = { ...resumed, params: { ...resumed.params, arguments: { a: 2 } } };
    await expect(handler(other)).rejects.toMatchObject(refused);
    expect(await handler(resumed)).toEqual({ structuredContent: { roots: [] } });
  });

  it('does not hide errors that are not ours', async () => {
    const handler = createUpstreamHandler(async () => {
      throw new TypeError('a bug');
    }, new ParkedCalls());
    await expect(handler(call({ era: 'modern', capabilities: { roots: {} } }))).rejects.toThrow('a bug');
  });
});
