import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { entry, folder, until } from '../../../test/fixtures/engine.ts';
import { type EvilRule, evil } from '../../../test/fixtures/evil.ts';
import type { ServerConfig } from '../../config/define-config.ts';
import { DiscoveryEngine } from '../../engine/discovery-engine.ts';
import { coreOf } from '../../engine/engine-handle.ts';
import { createMetaToolRunner } from '../../meta-tools/meta-tool-runner.ts';

const TOOL = { name: 'list_issues', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
const OPENED = {
  name: 'get_issue',
  inputSchema: { type: 'object', properties: { number: { type: 'integer', minimum: 3 } }, required: ['number'] },
  annotations: { readOnlyHint: true },
};
const WRITES = { name: 'delete_issue', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } };
const answers = (...texts: string[]): EvilRule[] =>
  texts.map((text, at) => ({
    method: 'tools/call',
    nth: at + 1 === texts.length ? [at + 1, null] : at + 1,
    do: [{ result: { content: [{ type: 'text', text }] } }],
  }));
const entryOf = (server: Parameters<typeof entry>[1], more = {}) => entry('s', server, more) as ServerConfig;
const EAGER = { introspectOutputSchemas: true, lazyOutputSchemas: false };

describe('an output schema by one call', () => {
  it('is inferred for read-only tools of a trusted server, with generated arguments, in the audit log', async () => {
    using home = folder();
    using server = evil({ tools: [TOOL, OPENED, WRITES], on: answers('[{"id":1,"title":"x","state":"open"}]') });
    await using engine = new DiscoveryEngine({ servers: [entryOf(server, { trusted: true })], state: home.path });
    const [remove, get, list] = await engine.service().discoverTools('s', EAGER);
    expect(list).toMatchObject({ outputInferred: true, outputType: expect.stringMatching(/^\[:vector \[:map\s/) });
    expect(get).toMatchObject({ outputInferred: true });
    expect(remove).toMatchObject({
      problems: [{ message: expect.stringContaining('was not called: no rule tags it') }],
    });
    expect(remove?.outputSchema).toBeUndefined();
    const calls = server.received('tools/call').map(({ frame }) => [frame?.params?.name, frame?.params?.arguments]);
    expect(calls).toEqual([
      ['get_issue', { number: 3 }],
      ['list_issues', {}],
    ]);
    await engine.close();
    expect(readFileSync(join(home.path, 'audit', 'audit.jsonl'), 'utf8')).toContain('"tool":"get_issue"');
  });

  it('is not looked for by default, nor while it is lazy, nor for a server that is not trusted', async () => {
    using server = evil({ tools: [TOOL], on: answers('{}') });
    await using engine = new DiscoveryEngine({ servers: [entryOf(server)] });
    const service = engine.service();
    for (const options of [{}, { introspectOutputSchemas: true }, EAGER]) await service.discoverTools('s', options);
    await expect(
      service.inferOutputSchema((await service.discoverTools('s'))[0] as NonNullable<unknown> as never),
    ).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(server.received('tools/call')).toEqual([]);
  });

  it('is inferred on request by the operator’s word, and refuses no later result', async () => {
    using server = evil({ tools: [TOOL], on: answers('{"id":1}', '"something else"') });
    await using engine = new DiscoveryEngine({
      servers: [entryOf(server)],
      toolRules: [{ pattern: ['list_*'], tags: ['read-only'] }],
      validation: { output: 'strict' },
    });
    const service = engine.service();
    const [tool] = await service.discoverTools('s');
    const known = await service.inferOutputSchema(tool as NonNullable<typeof tool>);
    expect(known).toMatchObject({
      outputInferred: true,
      outputSchema: { properties: { id: { type: 'integer' } }, required: ['id'] },
    });
    expect(await engine.executeTool('s', 'list_issues')).toMatchObject({ success: true });
    expect(await engine.getTool('s__list_issues')).not.toHaveProperty('outputSchema.type');
  });

  it('is left out if the call fails; the discovery goes on', async () => {
    const broken: EvilRule = { method: 'tools/call', do: [{ error: { code: -32603, message: 'out of order' } }] };
    using server = evil({ tools: [TOOL], on: [broken] });
    await using engine = new DiscoveryEngine({ servers: [entryOf(server, { trusted: true })] });
    const [tool] = await engine.service().discoverTools('s', EAGER);
    expect(tool?.outputSchema).toBeUndefined();
    expect(tool?.problems).toMatchObject([
      { code: 'TOOL_EXECUTION_ERROR', message: expect.stringContaining('out of order') },
    ]);
  });
});

describe('results as they pass', () => {
  const details = async (engine: DiscoveryEngine) => {
    const { content } = await createMetaToolRunner(coreOf(engine))(
      'get_tool_details',
      { server: 's', tool: 'list_issues' },
      { caller: {}, signal: new AbortController().signal },
    );
    return JSON.parse(content?.[0]?.text ?? '');
  };

  it('tell what a tool returns, merged over several, if `validation.observe` is on', async () => {
    using server = evil({ tools: [TOOL], on: answers('{"id":1,"note":"x"}', '{"id":2}') });
    await using engine = new DiscoveryEngine({ servers: [entryOf(server)], validation: { observe: true } });
    await engine.executeTool('s', 'list_issues');
    await until(async () => (await details(engine)).returns === 'inferred from results: {id: integer, note: string}');
    await engine.executeTool('s', 'list_issues');
    await until(async () => (await details(engine)).returns === 'inferred from results: {id: integer, note?: string}');
    expect(server.received('tools/call')).toHaveLength(2);
  });

  it('are not looked at by default', async () => {
    using server = evil({ tools: [TOOL], on: answers('{"id":1}') });
    await using engine = new DiscoveryEngine({ servers: [entryOf(server)] });
    await engine.executeTool('s', 'list_issues');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await details(engine)).not.toHaveProperty('returns');
  });
});
