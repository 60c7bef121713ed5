import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { realWorld } from '../../config/world.ts';
import { ownList } from './own-configuration.ts';
import { withoutServer, withServer, withSwitch } from './own-servers.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-servers-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const world = () => realWorld({ env: {}, cwd: folder, home: folder });
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const entry = { name: 'b', connection: { type: 'stdio', command: 'x', args: ['1'] } };

const TEXTS: readonly (readonly [name: string, text: string])[] = [
  [
    'a.json',
    '{\n  // mine\n  "discovery": {\n    "servers": [\n      // the first\n      { "name": "a", "connection": { "type": "stdio", "command": "y" } } // stays\n    ]\n  }\n}\n',
  ],
  [
    'bare.json',
    '{\n\t"servers": [\n\t\t{\n\t\t\t"name": "a", // one\n\t\t\t"connection": { "type": "stdio", "command": "y" },\n\t\t},\n\t],\n}\n',
  ],
  [
    'a.yaml',
    '# mine\ndiscovery:\n  servers:\n    # the first\n    - name: a # stays\n      connection: { type: stdio, command: y }\n  search: {} # after\n',
  ],
  ['flow.yaml', 'servers: [{ name: a, connection: { type: stdio, command: y } }] # here\n'],
];

describe.each(TEXTS)('%s', (name, text) => {
  it('gets a server behind the others and loses it again, to the byte', async () => {
    const path = file(name, text);
    const added = await withServer(world(), path, entry);
    await added.write();
    const removed = await withoutServer(world(), path, 'b');
    expect(removed.after).toBe(text);
  });

  it('gets a switch in the entry of a server and loses it again, to the byte', async () => {
    const path = file(name, text);
    await (await withSwitch(world(), path, 'a', false)).write();
    expect(readFileSync(path, 'utf8')).toMatch(/"?enabled"?: ?false/);
    await (await withSwitch(world(), path, 'a', true)).write();
    expect(readFileSync(path, 'utf8')).toMatch(/"?enabled"?: ?true/);
    expect((await withSwitch(world(), path, 'a', undefined)).after).toBe(text);
  });
});

it('writes any text of an entry as it is, and gives the file back to the byte', async () => {
  const words = fc.string({ unit: 'grapheme', maxLength: 30 });
  const entries = fc.record({
    name: words.filter((name) => name !== 'a'),
    connection: fc.record({
      command: words,
      args: fc.array(words, { maxLength: 4 }),
      env: fc.dictionary(words, words),
    }),
  });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...TEXTS), entries, async ([name, text], added) => {
      const path = file(name, text);
      // A text that cannot be written safely is refused; it never becomes something else.
      const change = await withServer(world(), path, added).catch((error: Error) => error.message);
      if (typeof change === 'string') return expect(change).toContain('cannot be edited safely');
      const { items } = await ownList(path, change.after, 'servers');
      expect(JSON.stringify(items.at(-1))).toBe(JSON.stringify(added));
      await change.write();
      expect((await withoutServer(world(), path, added.name)).after).toBe(text);
    }),
    { numRuns: 150 },
  );
});

it('adds an entry of its own to switch a server of another file', async () => {
  const path = file('empty.yaml', '');
  expect((await withSwitch(world(), path, 'far', false)).after).toBe(
    'discovery:\n  servers:\n    - name: far\n      enabled: false\n',
  );
});

it('changes no code, and says what to write there', async () => {
  const path = file('x.ts', 'export default {};\n');
  await expect(withServer(world(), path, entry)).rejects.toThrow(/is code.*"name":"b"/);
});

it('refuses a text that it cannot edit safely', async () => {
  const path = file('alias.yaml', 'a: &list\n  - { name: a }\ndiscovery:\n  servers: *list\n');
  await expect(withServer(world(), path, entry)).rejects.toThrow(/cannot be edited safely/);
});
