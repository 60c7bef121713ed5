/**
 * Numbers that no double holds, through the real gateway: neither the client nor the server of this story parses a number,
 * so every digit that is missing was lost on the way.
 * @module
 */
import { describe, expect, it } from 'vitest';
import { envelope, RawGateway } from './raw-gateway.ts';
import { Sandbox } from './sandbox.ts';
import { entry } from './servers.ts';

/** Answers with the text of the arguments it was sent: as text, and as they are. Cuts and joins strings, no more. */
const ECHO = `
import { createInterface } from 'node:readline';
const between = (line, start, end) => line.slice(line.indexOf(start) + start.length, line.lastIndexOf(end));
createInterface({ input: process.stdin }).on('line', (line) => {
  const id = /"id":(\\d+)/.exec(line)?.[1];
  if (id === undefined) return;
  const answer = (result) => process.stdout.write(\`{"jsonrpc":"2.0","id":\${id},\${result}}\\n\`);
  if (line.includes('"method":"initialize"'))
    answer('"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}');
  else if (line.includes('"method":"tools/list"'))
    answer('"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"begin":{}}}}]}');
  else if (line.includes('"method":"tools/call"')) {
    const received = '{"begin"' + between(line, '{"begin"', '"end":0}') + '"end":0}';
    const content = JSON.stringify([{ type: 'text', text: 'received ' + received }]);
    answer(\`"result":{"content":\${content},"structuredContent":\${received},"_meta":{"ns":1719846153123456789}}\`);
  } else answer('"error":{"code":-32601,"message":"no such method"}');
});
`;

const ARGUMENTS = [
  '{"begin":-9223372036854775808',
  '"list":[18446744073709551615,{"deep":[12345678901234567890]},12345678901234567891]',
  '"__proto__":9007199254740993',
  '"pi":3.14159265358979323846264338327950288',
  '"large":1e400',
  '"small":1.5E-400',
  '"text":"said \\"12345678901234567890\\", 1e400"',
  '"usual":[1,0.1,-2.5,1700000000000]',
  '"end":0}',
].join(',');
const META = '"_meta":{"ns":1719846153123456789';

const OPENINGS: readonly (readonly [string, (gateway: RawGateway) => Promise<unknown>, string])[] = [
  ['of the old protocol', (gateway) => gateway.initialize(), ''],
  [
    'of the new protocol',
    (gateway) => gateway.request('tools/list', { _meta: envelope() }),
    `,"_meta":${JSON.stringify(envelope())}`,
  ],
];
const FORMS: readonly (readonly [string, string])[] = [
  ['as an object', ARGUMENTS],
  ['as a JSON string', JSON.stringify(ARGUMENTS)],
  ['wrapped once too often', `{"arguments":${ARGUMENTS}}`],
];

describe('numbers that no double holds', () => {
  it.each(OPENINGS)('pass through for a client %s, digit by digit', async (_client, open, meta) => {
    await using sandbox = new Sandbox();
    const server = sandbox.write(ECHO, 'echo.mjs');
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [entry('echo', [server])] }));
    await open(gateway);
    for (const [form, given] of FORMS) {
      const call = `"name":"execute_tool","arguments":{"server":"echo","tool":"echo","arguments":${given}}`;
      gateway.send(`{"jsonrpc":"2.0","id":"${form}","method":"tools/call","params":{${call}${meta}}}\n`);
      await gateway.answer(form);
      const line = gateway.lines.find((text) => text.includes(`"id":"${form}"`)) ?? '';
      expect(line, `${form}: what the server was sent`).toContain(JSON.stringify(`received ${ARGUMENTS}`));
      expect(line, `${form}: what the server answered`).toContain(`"structuredContent":${ARGUMENTS}`);
    }
  });

  it('pass through to and from a server that is exposed as it is', async () => {
    await using sandbox = new Sandbox();
    const server = sandbox.write(ECHO, 'echo.mjs');
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [entry('echo', [server])] }), '--expose', 'echo');
    await gateway.initialize();
    gateway.send(
      `{"jsonrpc":"2.0","id":"call","method":"tools/call","params":{"name":"echo","arguments":${ARGUMENTS}}}\n`,
    );
    await gateway.answer('call');
    expect(gateway.lines.at(-1)).toContain(JSON.stringify(`received ${ARGUMENTS}`));
    expect(gateway.lines.at(-1)).toContain(`"structuredContent":${ARGUMENTS}`);
  });

  it('pass through beside a result, to a client that adds nothing of its own there', async () => {
    await using sandbox = new Sandbox();
    const server = sandbox.write(ECHO, 'echo.mjs');
    const gateway = new RawGateway(sandbox, sandbox.write({ servers: [entry('echo', [server])] }));
    await gateway.initialize();
    await gateway.answer(gateway.beginCall('echo', 'echo', { begin: 1, end: 0 }));
    expect(gateway.lines.at(-1)).toContain(META);
  });
});
