import * as fc from 'fast-check';
import { stringify as stringifyToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { documentOf, entriesAt, type Place, withEntry, withoutEntries } from './edit-text.ts';
import { givenBack } from './give-back.ts';
import { yamlEditor } from './yaml-editor.ts';

const MAP: Place = { way: ['mcpServers'], list: false };
const LIST: Place = { way: ['mcpServers'], list: true };
const ENTRY = { command: 'npx', args: ['-y', '@anygpt/discovery'], env: { ANYGPT_GATEWAY: '1' } };
const json = (text: string) => ({ path: 'mcp.json', text });
const yaml = (text: string) => ({ path: 'config.yaml', text });
const toml = (text: string) => ({ path: 'config.toml', text });
const add = (file: { path: string; text: string }, place = MAP, entry: object = ENTRY) =>
  withEntry(file, place, 'anygpt', entry);

describe('JSON', () => {
  it.each([
    ['', '{\n  "mcpServers": {\n    "anygpt": {\n      "a": 1\n    }\n  }\n}\n'],
    ['{}', '{\n  "mcpServers": {\n    "anygpt": {\n      "a": 1\n    }\n  }\n}'],
    ['{ "x": 1 }\n', '{ "mcpServers": { "anygpt": { "a": 1 } }, "x": 1 }\n'],
    ['{"x":1}', '{"mcpServers":{"anygpt":{"a":1}},"x":1}'],
    ['{"mcpServers":{}}', '{"mcpServers":{"anygpt":{"a":1}}}'],
    ['{"mcpServers":{"b":{}}}', '{"mcpServers":{"anygpt":{"a":1},"b":{}}}'],
    ['{"x": 1}', '{"mcpServers": {"anygpt": {"a": 1}}, "x": 1}'],
    [
      '{\n\t"mcpServers": {\n\t\t"b": {}\n\t}\n}\n',
      '{\n\t"mcpServers": {\n\t\t"anygpt": {\n\t\t\t"a": 1\n\t\t},\n\t\t"b": {}\n\t}\n}\n',
    ],
    [
      '{\r\n    "mcpServers": { // mine\r\n    }\r\n}',
      '{\r\n    "mcpServers": { // mine\r\n        "anygpt": {\r\n            "a": 1\r\n        }\r\n    }\r\n}',
    ],
    ['{\n  "mcpServers": null\n}', '{\n  "mcpServers": {\n    "anygpt": {\n      "a": 1\n    }\n  }\n}'],
    ['\ufeff{"x":1}', '\ufeff{"mcpServers":{"anygpt":{"a":1}},"x":1}'],
    [
      '{\n  "mcpServers": {\n    // first\n    "b": {}, // last\n  }, /* end */\n}\n// bye',
      '{\n  "mcpServers": {\n    "anygpt": {\n      "a": 1\n    },\n    // first\n    "b": {}, // last\n  }, /* end */\n}\n// bye',
    ],
  ])('%j gets an entry in its own style', async (text, expected) => {
    expect(await add(json(text), MAP, { a: 1 })).toBe(expected);
  });

  it.each([
    ['{"mcpServers":{"anygpt":{}}}', '{"mcpServers":{}}'],
    ['{"mcpServers":{"anygpt":{},"b":{}}}', '{"mcpServers":{"b":{}}}'],
    ['{"mcpServers":{"b":{},"anygpt":{}}}', '{"mcpServers":{"b":{}}}'],
    ['{ "mcpServers": { "anygpt": {}, "b": {} } }', '{ "mcpServers": { "b": {} } }'],
    ['{\n "mcpServers": {\n  "b": {}, // b\n  "anygpt": {}\n }\n}', '{\n "mcpServers": {\n  "b": {} // b\n }\n}'],
    ['{\n "mcpServers": {\n  "b": {},\n  "anygpt": {}, // x\n }\n}', '{\n "mcpServers": {\n  "b": {}, // x\n }\n}'],
    ['{\r\n "mcpServers": {\r\n  "anygpt": {}\r\n }\r\n}', '{\r\n "mcpServers": {}\r\n}'],
    ['{ "mcpServers": { // c\n "anygpt": {} } }', '{ "mcpServers": { // c\n  } }'],
    ['{"mcpServers": {"b": {}, "anygpt": {}}}', '{"mcpServers": {"b": {}}}'],
  ])('an entry leaves %j', async (text, expected) => {
    expect(await withoutEntries(json(text), MAP, ['anygpt'])).toBe(expected);
  });

  it.each(['[]', '"x"', '{"mcpServers":[]}', '{"mcpServers":"x"}', '{"mcpServers":{}', '{"a":1}}', '// nothing'])(
    '%j is refused with a reason',
    async (text) => {
      await expect(add(json(text))).rejects.toThrow(
        /mcp\.json(:\d+:\d+ is not valid JSON| cannot be edited: expected)/,
      );
    },
  );

  it('of two containers of one name the last counts, as for the client', async () => {
    const changed = await add(json('{"mcpServers":{"a":{}},"mcpServers":{"b":{}}}'), MAP, {});
    expect(changed).toBe('{"mcpServers":{"a":{}},"mcpServers":{"anygpt":{},"b":{}}}');
  });

  /** Any document, with or without a container, in any valid layout. */
  const blanks = fc.constantFrom(
    '',
    ' ',
    '\n',
    '\r\n',
    '\n\t',
    '  ',
    ' // note }{", \n',
    '/* { "x */',
    '/*\n*/',
    '\n    ',
  );
  const names = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'b', 'über', 'a"b', '\\'));
  const document = fc.record(
    {
      mcpServers: fc.dictionary(names, fc.object({ maxDepth: 1 }), { maxKeys: 4 }),
      other: fc.jsonValue({ maxDepth: 2 }),
      projects: fc.dictionary(names, fc.record({ mcpServers: fc.constant({ anygpt: ENTRY }) }), { maxKeys: 2 }),
    },
    { requiredKeys: [] },
  );
  /** Writes a value with white space from a list between all tokens. */
  const layOut = (value: unknown, gaps: readonly string[]): string => {
    let next = 0;
    const gap = () => gaps[next++ % gaps.length] ?? '';
    const write = (one: unknown): string => {
      if (typeof one !== 'object' || one === null) return JSON.stringify(one) ?? 'null';
      const items = Array.isArray(one)
        ? one.map((item) => gap() + write(item) + gap())
        : Object.entries(one).map(
            ([key, item]) => `${gap()}${JSON.stringify(key)}${gap()}:${gap()}${write(item)}${gap()}`,
          );
      const comma = items.length > 0 && next % 3 === 0 ? ',' : '';
      return (Array.isArray(one) ? '[' : '{') + items.join(',') + comma + gap() + (Array.isArray(one) ? ']' : '}');
    };
    return gap() + write(value) + gap();
  };
  const texts = fc
    .tuple(document, fc.array(blanks, { minLength: 1, maxLength: 12 }), fc.boolean())
    .map(([value, gaps, mark]) => (mark ? '\ufeff' : '') + layOut(JSON.parse(JSON.stringify(value)), gaps));

  it('whatever the layout: only our entry comes, and all is as before when it goes', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const before = await documentOf(json(text));
        fc.pre(!entriesAt(before, MAP).has('anygpt'));
        const changed = await add(json(text));
        const after = await documentOf(json(changed));
        expect(entriesAt(after, MAP).get('anygpt')).toEqual(ENTRY);
        // Exactly one piece was inserted.
        let head = 0;
        while (head < text.length && text[head] === changed[head]) head++;
        if (before.mcpServers !== null) expect(changed.endsWith(text.slice(head))).toBe(true);
        const arrival = { original: text, changed };
        expect(await givenBack(json(changed), MAP, 'anygpt', arrival, [])).toBe(text);
        // Without the copy, everything else still has the same value.
        const rest = await documentOf(json(await withoutEntries(json(changed), MAP, ['anygpt'])));
        expect({ mcpServers: {}, ...rest }).toEqual({ mcpServers: {}, ...before });
      }),
      { numRuns: 300 },
    );
  });

  it('whatever the layout: edits elsewhere stay when our entry goes', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const before = await documentOf(json(text));
        fc.pre(!entriesAt(before, MAP).has('anygpt'));
        const changed = await add(json(text));
        const grown = await withEntry(json(changed), MAP, 'new-one', { url: 'http://x' });
        const back = await givenBack(json(grown), MAP, 'anygpt', { original: text, changed }, []);
        const after = await documentOf(json(back));
        const { mcpServers, ...rest } = after;
        const { mcpServers: old, ...others } = before;
        expect(rest).toEqual(others);
        expect(new Map(Object.entries(mcpServers as object))).toEqual(
          new Map([['new-one', { url: 'http://x' }], ...Object.entries((old as object) ?? {})]),
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe('YAML', () => {
  it.each([
    ['', 'mcpServers:\n  anygpt:\n    a: 1\n', MAP],
    ['# only a comment\n', '# only a comment\nmcpServers:\n  anygpt:\n    a: 1\n', MAP],
    ['x: 1', 'x: 1\nmcpServers:\n  anygpt:\n    a: 1', MAP],
    ['mcpServers: # mine\n', 'mcpServers: # mine\n  anygpt:\n    a: 1\n', MAP],
    ['mcpServers:\n    # first\n    b: {}\n', 'mcpServers:\n    anygpt:\n      a: 1\n    # first\n    b: {}\n', MAP],
    ['mcpServers: {}\ny: 2\n', 'mcpServers: {"anygpt": { "a": 1 }}\ny: 2\n', MAP],
    ['mcpServers: { b: {} }\n', 'mcpServers: {"anygpt": { "a": 1 },  b: {} }\n', MAP],
    ['mcpServers: []\n', 'mcpServers: [{ "a": 1 }]\n', LIST],
    ['mcpServers:\n- name: b\n', 'mcpServers:\n- a: 1\n- name: b\n', LIST],
    ['mcpServers:\r\n  - name: b\r\n', 'mcpServers:\r\n  - a: 1\r\n  - name: b\r\n', LIST],
    ['{ x: 1 }\n', '{"mcpServers": { "anygpt": { "a": 1 } },  x: 1 }\n', MAP],
  ] as const)('%j gets an entry', async (text, expected, place) => {
    const entry = place.list ? { name: 'anygpt', a: 1 } : { a: 1 };
    const changed = await withEntry(yaml(text), place, 'anygpt', entry);
    const plain = changed.replace(/name: anygpt\r?\n *|"name": "anygpt", /, '');
    expect(plain).toBe(expected);
    expect(await givenBack(yaml(changed), place, 'anygpt', { original: text, changed }, [])).toBe(text);
    const rest = await documentOf(yaml(await withoutEntries(yaml(changed), place, ['anygpt'])));
    expect(entriesAt(rest, place)).toEqual(entriesAt(await documentOf(yaml(text)), place));
  });

  it.each([
    ['extensions: &a\n  b: {}\nmcpServers: *a\n', 'not a map'],
    ['mcpServers: ~\n', 'not a map'],
    ['- a\n- b\n', 'expected an object'],
    ['a: 1\n---\nb: 2\n', 'not valid YAML'],
    ['mcpServers:\n  a: 1\n b: 2\n', 'not valid YAML'],
  ])('%j is refused with a reason', async (text, reason) => {
    await expect(add(yaml(text))).rejects.toThrow(reason);
  });

  it('whatever it says: only our entry comes, and all is as before when it goes', async () => {
    const words = fc.constantFrom(
      'a',
      'b c',
      'on',
      '1',
      '',
      'x: y',
      '# no',
      "it's",
      '- z',
      'ü',
      'two\nlines\n',
      '{',
      '${X}',
    );
    const entries = fc.dictionary(words, fc.dictionary(words, fc.oneof(words, fc.array(words), fc.integer())), {
      maxKeys: 3,
    });
    const documents = fc.record({ top: words, mcpServers: entries, end: fc.array(words) }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(
        documents,
        fc.constantFrom(2, 4, 7),
        fc.boolean(),
        fc.boolean(),
        async (value, indent, flow, crlf) => {
          const plain = stringify(value, { indent, collectionStyle: flow ? 'flow' : 'any' });
          const text = crlf ? plain.replaceAll('\n', '\r\n') : plain;
          const changed = await add(yaml(text));
          expect(entriesAt(await documentOf(yaml(changed)), MAP).get('anygpt')).toEqual(ENTRY);
          expect(await givenBack(yaml(changed), MAP, 'anygpt', { original: text, changed }, [])).toBe(text);
          await withoutEntries(yaml(changed), MAP, ['anygpt']);
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each([
    ['mcpServers:\n  anygpt: {}\nx: 1\n', 'mcpServers: {}\nx: 1\n', MAP],
    ['mcpServers: # mine\n  anygpt:\n    a: 1', 'mcpServers: {} # mine\n', MAP],
    ['mcpServers:\r\n  - name: anygpt\r\n', 'mcpServers: []\r\n', LIST],
    ['# head\nanygpt: {}\n', '# head\n{}\n', { way: [], list: false }],
  ])('the last entry leaves an empty map or list of %j', async (text, expected, place) => {
    expect(await withoutEntries(yaml(text), place, ['anygpt'])).toBe(expected);
  });

  it('does not quote what a parser says about a text of ours', async () => {
    const text = 'mcpServers:\n  anygpt: &a\n    x: 1\n  other: *a\n';
    await expect(withoutEntries(yaml(text), MAP, ['anygpt'])).rejects.toThrow(
      'config.yaml cannot be edited without touching more than our entry (it is written in an unusual way).',
    );
  });

  it.each([
    ['s:\n  - a\n', 's:\n  - a\n  - b\n'],
    ['s:\n- a: 1\n  b: 2 # two\n# end\nx: 1\n', 's:\n- a: 1\n  b: 2 # two\n- b\n# end\nx: 1\n'],
    ['s:\n  - a', 's:\n  - a\n  - b'],
    ['s: [a]\n', 's: [a, "b"]\n'],
    ['s: []\n', 's: ["b"]\n'],
  ])('%j gets an item behind the others', (text, expected) => {
    expect(yamlEditor.insert(text, ['s'], undefined, 'b', true)).toBe(expected);
  });

  it('takes lines out with their own comments and leaves the others', async () => {
    const text = 'mcpServers:\n  # b\n  b: { x: 1 } # b too\n  anygpt:\n    x: 1 # ours\n  # c\n  c:\n    y: 2\n';
    expect(await withoutEntries(yaml(text), MAP, ['anygpt'])).toBe(
      'mcpServers:\n  # b\n  b: { x: 1 } # b too\n  # c\n  c:\n    y: 2\n',
    );
    const flow = 'mcpServers: [{ name: a }, { name: anygpt }]\n';
    expect(await withoutEntries(yaml(flow), LIST, ['anygpt'])).toBe('mcpServers: [{ name: a }]\n');
  });
});

describe('TOML', () => {
  const at: Place = { way: ['mcp_servers'], list: false };
  const items: Place = { way: ['mcp_servers'], list: true };

  it.each([
    '',
    'x = 1',
    'x = 1\n',
    '# end',
    '[a]\nb = """\n[mcp_servers.anygpt]\n"""\n',
    "[a]\r\nb = [\r\n  '[x]', # ]\r\n]\r\n",
  ])('%j gets a table at its end', async (text) => {
    const changed = await withEntry(toml(text), at, 'anygpt', ENTRY);
    expect(changed.startsWith(text)).toBe(true);
    expect(changed.endsWith('\n')).toBe(text === '' || text.endsWith('\n'));
    expect(changed).toContain('[mcp_servers.anygpt]');
    expect(await withoutEntries(toml(changed), at, ['anygpt'])).toBe(
      text === '' || text.endsWith('\n') ? text : `${text}\n`,
    );
    expect(await givenBack(toml(changed), at, 'anygpt', { original: text, changed }, [])).toBe(text);
  });

  it('whatever it says: only our entry comes, and all is as before when it goes', async () => {
    const words = fc.oneof(
      fc.string(),
      fc.constantFrom('a', '[mcp_servers.anygpt]', '#', '"""', "'''", '\n[x]\n', 'a.b'),
    );
    const tables = fc.dictionary(words, fc.dictionary(words, fc.oneof(words, fc.array(words), fc.boolean())), {
      maxKeys: 3,
    });
    const documents = fc.record({ top: words, mcp_servers: tables, end: tables }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(documents, async (value) => {
        const text = stringifyToml(value);
        fc.pre(!entriesAt(await documentOf(toml(text)), at).has('anygpt'));
        const changed = await withEntry(toml(text), at, 'anygpt', ENTRY);
        expect(await givenBack(toml(changed), at, 'anygpt', { original: text, changed }, [])).toBe(text);
        await withoutEntries(toml(changed), at, ['anygpt']);
      }),
      { numRuns: 200 },
    );
  });

  it('takes a table out with its sub-tables, and leaves comments of the next', async () => {
    const text =
      '[mcp_servers.a]\nx = 1\n\n[mcp_servers.anygpt]\ncommand = "npx"\n\n[mcp_servers.anygpt.env]\nA = "1"\n\n# about z\n[z]\ny = 1\n';
    expect(await withoutEntries(toml(text), at, ['anygpt'])).toBe('[mcp_servers.a]\nx = 1\n\n# about z\n[z]\ny = 1\n');
  });

  it('takes an item of a list out with what belongs to it', async () => {
    const text =
      '[[mcp_servers]]\nname = "a"\n[[mcp_servers]]\nname = "anygpt"\n[mcp_servers.env]\nA = "1"\n[[mcp_servers]]\nname = "b"\n';
    expect(await withoutEntries(toml(text), items, ['anygpt'])).toBe(
      '[[mcp_servers]]\nname = "a"\n[[mcp_servers]]\nname = "b"\n',
    );
  });

  it.each([
    'mcp_servers = { a = { command = "x" } }\n',
    '[mcp_servers]\na = { command = "x" }\nanygpt = { command = "y" }\n',
  ])('says that %j has to be changed by hand', async (text) => {
    const edit = text.includes('anygpt')
      ? withoutEntries(toml(text), at, ['anygpt'])
      : withEntry(toml(text), at, 'anygpt', ENTRY);
    await expect(edit).rejects.toThrow('Nothing was written; change it by hand');
  });
});
