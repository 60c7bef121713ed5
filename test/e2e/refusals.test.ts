/**
 * What agents get wrong, thrown at the real gateway: every refusal says what was wrong in words, whatever the revision,
 * and every call that was refused is in the audit log, once.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { envelope, type Frame, RawGateway } from './raw-gateway.ts';
import { Sandbox, until } from './sandbox.ts';
import { entry, installed } from './servers.ts';

/** A secret that agents know as well, so that the gateway may say it back to them; the log may not hold it. */
const KNOWN = 'sk-known-4f1c9a7e2b6d8035';
const echo = () => entry('echo', [installed('everything')], {}, { API_KEY: KNOWN });
const errorOf = ({ result }: Frame) =>
  JSON.parse(String((result?.content as { text?: string }[] | undefined)?.[0]?.text)).error;

describe('a call that is refused', () => {
  const call = (args: unknown, more: object = {}) => ({ name: 'execute_tool', arguments: args, ...more });

  it('before anybody looks for its tool is in the audit log, once, with what is known of it', async () => {
    await using sandbox = new Sandbox();
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [echo()] }));
    await gateway.initialize();
    const long = 'x'.repeat(100_000);
    const told: [string, number][] = [];
    for (const params of [
      call({}),
      call({ server: 7, tool: 'echo', arguments: { text: 'a' } }),
      call({ server: 'echo', tool: ['echo'] }),
      call([1]),
      call('no JSON'),
      call({ sever: 'echo', tool: 'echo', arguments: {} }),
      call({ server: 'echo', tool: 'echo', arguments: [1] }),
      call({ server: 'nobody', tool: KNOWN, arguments: { [KNOWN]: KNOWN } }),
      call({ server: long, tool: 'echo', arguments: {} }),
      call({ server: 'echo', tool: 'echo' }, { _meta: { 'anygpt/hops': 'a,b,c,d,e,f,g,h,i' } }),
    ]) {
      const answer = await gateway.request('tools/call', params);
      told.push([errorOf(answer).code, errorOf(answer).message.length]);
    }
    expect(told.map(([code]) => code)).toEqual([
      ...Array.from({ length: 7 }, () => 'TOOL_VALIDATION_ERROR'),
      'SERVER_NOT_FOUND',
      'VALIDATION_ERROR',
      'CONFIGURATION_ERROR',
    ]);
    expect(Math.max(...told.map(([, length]) => length))).toBeLessThan(500);
    const records = () =>
      readFileSync(join(sandbox.home, 'audit', 'audit.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    await until('all are in the audit log', () => records().length >= told.length);
    await gateway.end();
    expect(records().map(({ server, tool, code, outcome }) => [server.slice(0, 9), tool, code, outcome])).toEqual([
      ['', '', 'TOOL_VALIDATION_ERROR', 'refused'],
      ['', 'echo', 'TOOL_VALIDATION_ERROR', 'refused'],
      ['echo', '', 'TOOL_VALIDATION_ERROR', 'refused'],
      ['', '', 'TOOL_VALIDATION_ERROR', 'refused'],
      ['', '', 'TOOL_VALIDATION_ERROR', 'refused'],
      ['', 'echo', 'TOOL_VALIDATION_ERROR', 'refused'],
      ['echo', 'echo', 'TOOL_VALIDATION_ERROR', 'refused'],
      ['nobody', expect.not.stringContaining(KNOWN), 'SERVER_NOT_FOUND', 'refused'],
      ['xxxxxxxxx', 'echo', 'VALIDATION_ERROR', 'refused'],
      ['echo', 'echo', 'CONFIGURATION_ERROR', 'refused'],
    ]);
    expect(JSON.stringify(records())).not.toContain(KNOWN);
    expect(records()[1]).toMatchObject({ argumentNames: ['text'] });
    expect(Math.max(...records().map((record) => JSON.stringify(record).length))).toBeLessThan(2_000);
  });
});

describe('a request that is malformed', () => {
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  const openings: readonly (readonly [string, (gateway: RawGateway) => Promise<unknown>, object | undefined])[] = [
    ['before any handshake', async () => {}, undefined],
    ['of a client of the old protocol', (gateway) => gateway.initialize(), undefined],
    ['of a client of the new protocol', (gateway) => gateway.request('tools/list', { _meta: envelope() }), envelope()],
  ];

  it.each(openings)('%s is refused in words, and the next one is served', async (_when, open, _meta) => {
    await using sandbox = new Sandbox();
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [echo()] }));
    await open(gateway);
    const list = (meta: object) => ['tools/list', { _meta: { ...envelope(), ...meta } }] as const;
    for (const [method, params] of [
      ['tools/call', {}],
      ['tools/call', { name: 7 }],
      ['tools/call', { name: null, arguments: {} }],
      ['tools/list', { cursor: 7 }],
      ['tools/list', { cursor: null }],
      ['tools/list', { cursor: [] }],
      ['initialize', {}],
      ['initialize', { ...initialize, protocolVersion: 7 }],
      ['initialize', { ...initialize, capabilities: [] }],
      ['initialize', { ...initialize, capabilities: { roots: 'yes' } }],
      ['initialize', { ...initialize, clientInfo: { name: 7 } }],
      list({ 'io.modelcontextprotocol/protocolVersion': 7 }),
      list({ 'io.modelcontextprotocol/clientInfo': {} }),
      list({ 'io.modelcontextprotocol/clientCapabilities': null }),
    ] as const) {
      // A client of the new protocol has no `initialize`.
      if (_meta && method === 'initialize') continue;
      const { error } = await gateway.request(method, { ...(_meta && { _meta }), ...params });
      expect(error, `${method} ${JSON.stringify(params)}`).toMatchObject({
        code: -32602,
        message: expect.stringMatching(/^params[\w.[\]"/]+ (is missing: it )?must be /),
        data: { code: 'VALIDATION_ERROR' },
      });
      expect(error?.message).not.toMatch(/expected|received|[{\n]/);
    }
    // Not an object: no request at all.
    for (const params of [null, 'x', 7]) {
      const refused = await gateway.request('tools/list', params as never);
      expect(refused.error).toMatchObject({ code: -32600, data: { code: 'VALIDATION_ERROR' } });
    }
    const served = await gateway.request('tools/list', { ...(_meta && { _meta }) });
    expect(served.result?.tools).toHaveLength(5);
  });
});
