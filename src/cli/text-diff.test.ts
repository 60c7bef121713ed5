import { stringify as stringifyToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { fileDiff, textDiff } from './text-diff.ts';

const PEM_LINES = ['MIIEvQIBADANBgkqhkiG9w0BAQEFAASC', 'Zm9vYmFyYmF6cXV4cXV1eGNvcmdl', 'q8X='];
const PEM = ['-----BEGIN PRIVATE KEY-----', ...PEM_LINES, '-----END PRIVATE KEY-----'];

/** Files as clients write them, and what must not be seen of them. */
const FILES: readonly (readonly [string, string, string, readonly string[]])[] = [
  ['a key in PEM form in JSON', 'f.json', `{"s": {"env": {"A": ${JSON.stringify(PEM.join('\n'))}}}}\n`, PEM_LINES],
  [
    'one in a YAML block',
    'f.yaml',
    `s:\n  env:\n    A: |\n${PEM.map((line) => `      ${line}\n`).join('')}`,
    PEM_LINES,
  ],
  ['one in a TOML block', 'f.toml', `[s.env]\nA = """\n${PEM.join('\n')}\n"""\n`, PEM_LINES],
  ['quotes in JSON', 'f.json', '{\n  "env": {\n    "A": "op\\"en ses"\n  }\n}\n', ['en ses', 'op']],
  ['escapes in JSON', 'f.json', '{\n  "env": {\n    "A": "\\u006fpen\\/sesame"\n  }\n}\n', ['sesame']],
  ['escapes in YAML', 'f.yaml', 'env:\n  A: "\\x6fpen sesame"\n', ['sesame']],
  ['quotes in YAML', 'f.yaml', "env:\n  A: 'it''s sesame'\n", ['sesame']],
  ['a fold in YAML', 'f.yaml', 'env:\n  A: >-\n    open the\n    sesame now\n', ['open', 'sesame']],
  ['a fold without a mark', 'f.yaml', 'env:\n  A: open the\n    sesame now\n  B: x\n', ['open', 'sesame']],
  ['a fold inside a word', 'f.yaml', 'env:\n  A: "open-ses\\\n    ame-now"\n', ['open', 'ame']],
  ['an anchor in YAML', 'f.yaml', 'env:\n  A: &a open-sesame\n  B: *a\n', ['sesame']],
  ['a number', 'f.yaml', 'env:\n  PIN: 1234567\n', ['1234567']],
  ['an option', 'f.json', '{\n  "args": [\n    "--api-key", "sesame"\n  ]\n}\n', ['sesame']],
  [
    'an option with its value',
    'f.json',
    '{\n  "args": ["--api-key=sesame", "-e", "X_PAT=open12"]\n}\n',
    ['sesame', 'open12'],
  ],
  ['a header as an argument', 'f.json', '{"args": ["--header=Authorization: Bearer sesame1"]}\n', ['sesame1']],
  ['a key that is written twice', 'f.json', '{"env": {"A": "sesame"}, "env": {"A": "open"}}\n', ['sesame']],
  ['a program', 'f.ts', 'export default { env: { A: "sesame" } };\n', ['sesame']],
];

describe('a diff of a configuration file', () => {
  it.each(FILES)('shows nothing of %s, whether it comes, goes or stays', async (_, path, text, secrets) => {
    const grown = path.endsWith('.json')
      ? text.replace('{', '{ "z": {"command": "plain"}, ')
      : path.endsWith('.toml')
        ? `${text}[z]\ncommand = "plain"\n`
        : `${text}z:\n  command: plain\n`;
    for (const [before, after] of [
      [text, ''],
      ['', text],
      [text, grown],
      [grown, text],
    ] as const) {
      const diff = await fileDiff({ path, before, after });
      expect(diff).toMatch(/^---/);
      for (const secret of secrets) expect(diff).not.toContain(secret);
    }
  });

  it.each([
    ['f.json', (value: unknown) => JSON.stringify(value, undefined, 2)],
    ['f.yaml', (value: unknown) => stringify(value)],
    ['f.toml', (value: unknown) => stringifyToml(value as object)],
  ])('of %s shows names and settings, and no password among arguments or short token', async (path, write) => {
    const env = {
      MODE: 'listerr',
      PIN_TOKEN: '4711',
      API_KEY: 'listerr',
      PORT: '4711',
      B_TOKEN: 'github',
      C: 'list-err',
    };
    const servers = [
      { name: 'listerr', connection: { command: 'node', args: ['x', '-pHunter2Hunter2', '--pin', '815'], env } },
      { name: 'list-err', connection: { command: 'github', args: ['-p8080:80'] } },
    ];
    const diff = await fileDiff({ path, before: write({ servers }), after: '', harmless: true });
    const whole = diff.replace(/\s+/g, ' ');
    expect(whole).not.toMatch(/Hunter2|815/);
    for (const name of ['PIN_TOKEN', 'API_KEY', 'B_TOKEN', 'C'])
      expect(whole).toMatch(new RegExp(`\\b${name}["']?\\s?[:=]\\s?["']?-?\\s?\\*\\*\\*`));
    for (const name of ['listerr', 'list-err'])
      expect(whole).toMatch(new RegExp(`name["']?\\s?[:=]\\s?["']?${name}\\b`));
    expect(whole).toMatch(/MODE["']?\s?[:=]\s?["']?listerr/);
  });

  it('of one long line shows names and settings, and no password among arguments or short token', async () => {
    const before =
      '{"servers":[{"name":"listerr","connection":{"command":"node","args":["x","-pHunter2Hunter2"],"env":{"MODE":"listerr","PIN_TOKEN":"4711"}}}]}\n';
    expect(await fileDiff({ path: 'f.json', before, after: '{}\n', harmless: true })).toContain(
      '\n-{"servers":[{"name":"listerr","connection":{"command":"node","args":["x","***"],"env":{"MODE":"listerr","PIN_TOKEN":"***"}}}]}\n',
    );
  });

  it('of JSON on one line shows every key on its own, so that the change is seen, and what moves is hidden', async () => {
    const a = { command: 'node', args: ['x'.repeat(200), '--api-key', 'sesame'], env: { TOKEN: 'open-sesame' } };
    const write = (...more: object[]) => JSON.stringify({ mcpServers: Object.assign({ a }, ...more), other: [1] });
    const anygpt = { command: 'node', args: ['y'.repeat(150)], env: { ANYGPT_GATEWAY: '1' } };
    const change = { path: 'f.json', before: write(), after: write({ anygpt }) };
    const diff = await fileDiff(change);
    expect(diff).toContain('+    "anygpt": {\n+      "command": "node",\n+      "args": [\n');
    expect(diff).toContain('+        "ANYGPT_GATEWAY": "1"\n');
    expect(diff).not.toMatch(/sesame|"other": \[1\]/);
    const moved = await fileDiff({ ...change, after: JSON.stringify({ mcpServers: { anygpt } }) }, '-');
    expect(moved).toMatch(/^- … \d+ lines?$/m);
    expect(moved).toContain('+    "anygpt": {');
  });

  it('masks before it cuts', async () => {
    for (let width = 100; width < 170; width++) {
      const before = JSON.stringify({ a: 'x'.repeat(width), env: { A: 'open-sesame-0' } });
      const diff = await fileDiff({ path: 'f.json', before: '', after: before });
      expect(diff).not.toMatch(/open|sesa/);
      expect(textDiff('f', '', `${' '.repeat(width)} ghp_0123456789abcdefghij`)).not.toContain('ghp_');
    }
  });

  it('shows what is no secret', async () => {
    const before = '{\n  "a": {\n    "command": "npx",\n    "env": { "TOKEN": "open-sesame" }\n  }\n}\n';
    const diff = await fileDiff({ path: 'f.json', before, after: before.replace('npx', 'uvx') });
    expect(diff).toBe(
      '--- f.json\n+++ f.json\n@@ -1,5 +1,5 @@\n {\n   "a": {\n-    "command": "npx",\n+    "command": "uvx",\n     "env": { "TOKEN": "***" }\n   }',
    );
  });

  it('tells of entries that move only how much goes, and of the rest everything', async () => {
    const entries = (text: string) => `{\n  "mcpServers": {\n${text}\n  }\n}\n`;
    const before = entries('    "a": {\n      "command": "run",\n      "args": ["hunter2"]\n    },\n    "b": {}');
    const after = entries('    "b": {},\n    "anygpt": {\n      "command": "npx"\n    }');
    const diff = await fileDiff({ path: 'f.json', before, after }, '-');
    expect(diff).not.toContain('hunter2');
    expect(diff).toMatch(/^- … \d+ lines$/m);
    expect(diff).toContain('+      "command": "npx"');
    const back = await fileDiff({ path: 'f.json', before: after, after: before }, '+');
    expect(back).not.toContain('hunter2');
  });

  it('shows the new text of ours in full, whatever was there', async () => {
    const change = { path: 'f.ts', was: 'f.mjs', before: 'export default secret;\n', after: 'export default {};\n' };
    const diff = await fileDiff({ ...change, harmless: true });
    expect(diff).toContain('+export default {};');
    expect(diff).toContain('- … 1 line');
  });
});

describe('a diff', () => {
  it('shows the part of a long line that differs, and no more lines than fit', () => {
    const long = `{"x":"${'a '.repeat(5000)}","b":1}`;
    const text = textDiff('f', long, long.replace('"b":1', '"b":2'));
    expect(text.split('\n').every((line) => line.length <= 170)).toBe(true);
    expect(text).toContain('"b":2}');
    expect(text).toContain('"b":1}');
    expect(textDiff('f', 'a\n', 'a\n')).toBe('');
    expect(textDiff('f', '', 'a\nb\n')).toBe('--- f\n+++ f\n@@ -1,0 +1,2 @@\n+a\n+b');
    expect(textDiff('f', '', 'a\n'.repeat(500)).split('\n')).toHaveLength(204);
  });

  it('keeps what lies between two changes, cut where it is much', () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const text = textDiff('f', ['a', ...lines, 'b'].join('\n'), ['A', ...lines, 'B'].join('\n'));
    expect(text.split('\n').slice(3)).toEqual([
      ...['-a', '+A', ' line 0', ' line 1', ' … 16 unchanged lines', ' line 18', ' line 19', '-b', '+B'],
    ]);
  });

  it('of two texts without a line in common, however long, is both', () => {
    const many = (word: string) => Array.from({ length: 3000 }, (_, at) => `${word}${at}`).join('\n');
    expect(textDiff('f', many('a'), many('b'))).toContain('@@ -1,3000 +1,3000 @@');
  });
});
