import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactUnknown } from '../secrets/redactor.ts';
import { readItemLists } from './item-list.ts';

const ALL = { resources: {}, prompts: {} };
const read = (capabilities: Record<string, unknown>, answer: (method: string) => unknown) =>
  readItemLists({
    capabilities,
    page: async (method) => answer(method) as never,
    limits: { pages: 5, descriptionChars: 100 },
    redact: redactUnknown,
  });

describe('the lists of resources and prompts', () => {
  it('hold only what can be used, whatever a server answers', async () => {
    const odd = fc.oneof(fc.jsonValue(), fc.constantFrom('\u202e', '\n', 'x'.repeat(3_000)));
    const entry = fc.dictionary(
      fc.constantFrom('uri', 'uriTemplate', 'name', 'title', 'description', 'mimeType', 'arguments'),
      odd,
    );
    const page = fc.record({
      resources: fc.oneof(odd, fc.array(fc.oneof(odd, entry))),
      resourceTemplates: fc.oneof(odd, fc.array(fc.oneof(odd, entry))),
      prompts: fc.oneof(odd, fc.array(fc.oneof(odd, entry))),
      nextCursor: odd,
    });
    await fc.assert(
      fc.asyncProperty(page, async (answer) => {
        const { resources = [], resourceTemplates = [], prompts = [] } = await read(ALL, () => answer);
        const ids = [
          ...resources.map(({ uri }) => uri),
          ...resourceTemplates.map(({ uriTemplate }) => uriTemplate),
          ...prompts.map(({ name }) => name),
        ];
        for (const id of ids) expect(id).toMatch(/^[^\n\u202e]{1,2048}$/u);
        for (const item of [...resources, ...resourceTemplates, ...prompts])
          for (const text of [item.title, item.description]) expect(['string', 'undefined']).toContain(typeof text);
        for (const { arguments: given = [] } of prompts)
          for (const { name } of given) expect(typeof name).toBe('string');
      }),
    );
  });

  it('are absent if reading fails or ends early, and empty if nothing was announced', async () => {
    const failing = (method: string) => {
      if (method === 'resources/list') throw new Error('no');
      return method === 'prompts/list' ? { prompts: [], nextCursor: 'again' } : { resourceTemplates: [] };
    };
    expect(await read(ALL, failing)).toEqual({ resourceTemplates: [], skipped: [] });
    expect(await read({}, failing)).toEqual({ resources: [], resourceTemplates: [], prompts: [], skipped: [] });
  });

  it('leave out a URI that holds a credential', async () => {
    const uri = 'postgres://admin:hunter2hunter2@db/orders';
    const { resources, skipped } = await read(ALL, () => ({
      resources: [{ uri }],
      prompts: [],
      resourceTemplates: [],
    }));
    expect(resources).toEqual([]);
    expect(skipped).toEqual([{ name: expect.not.stringContaining('hunter2'), reason: 'the uri contains a secret' }]);
  });
});
