import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNameTable, type NamedTool, type NameRule } from './names.ts';

const LEGAL = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const ref = ({ server = '', name }: NamedTool) => ({ server, tool: name });

describe('names', () => {
  it.each([
    [{ server: 'github', name: 'create_issue' }, 'github__create_issue'],
    [{ server: 'my server', name: 'read/file.txt' }, 'my_server__read_file_txt'],
    [{ server: '9lives', name: 'purr' }, '_9lives__purr'],
    [{ server: 'ключ', name: 'a' }, '______a'],
    [{ name: 'search_tools' }, 'search_tools'],
    [{ server: '__proto__', name: 'constructor' }, '__proto____constructor'],
  ])('of %o is %s', (tool, name) => {
    const table = createNameTable([tool]);
    expect(table.nameOf(ref(tool))).toBe(name);
    expect(table.refOf(name)).toEqual(ref(tool));
  });

  it('that are too long are cut and get a hash of the pair', () => {
    const long = { server: 'a'.repeat(60), name: 'tool' };
    const name = createNameTable([long]).nameOf(ref(long));
    expect(name).toMatch(/^a{55}_[0-9a-f]{8}$/);
    expect(name).toHaveLength(64);
  });

  it('that collide all get a hash, so that none depends on the order', () => {
    const tools = [
      { server: 'a', name: 'b.c' },
      { server: 'a', name: 'b c' },
    ];
    const names = tools.map((tool) => createNameTable(tools).nameOf(ref(tool)));
    expect(names[0]).toMatch(/^a__b_c_[0-9a-f]{8}$/);
    expect(names[1]).toMatch(/^a__b_c_[0-9a-f]{8}$/);
    expect(new Set(names).size).toBe(2);
  });

  it('of the same letters in another split are told apart', () => {
    const table = createNameTable([
      { server: 'a', name: 'b__c' },
      { server: 'a__b', name: 'c' },
    ]);
    expect(table.size).toBe(2);
    for (const [name, pair] of table.entries()) expect(table.nameOf(pair)).toBe(name);
  });

  it('of a program keep their own before all others', () => {
    const table = createNameTable([{ server: 'github', name: 'create' }, { name: 'github__create' }]);
    expect(table.nameOf({ server: '', tool: 'github__create' })).toBe('github__create');
    expect(table.nameOf({ server: 'github', tool: 'create' })).toMatch(/^github__create_[0-9a-f]{8}$/);
  });

  it('cannot be taken by guessing another tool’s hash', () => {
    const long = { server: 's', name: 'x'.repeat(80) };
    const taken = createNameTable([long]).nameOf(ref(long)) ?? '';
    const copycat = { server: 's', name: taken.slice('s__'.length) };
    const table = createNameTable([long, copycat]);
    expect(table.size).toBe(2);
    expect(table.refOf(table.nameOf(ref(long)) ?? '')).toEqual(ref(long));
    expect(table.refOf(table.nameOf(ref(copycat)) ?? '')).toEqual(ref(copycat));
  });

  it('follow another rule where one is given, and a rule without room is refused', () => {
    const rule: NameRule = { maxLength: 44, letterFirst: false, characters: '.' };
    const tool = { server: '1.5', name: 'x'.repeat(50) };
    expect(createNameTable([tool], rule).nameOf(ref(tool))).toMatch(/^1\.5__x{30}_[0-9a-f]{8}$/);
    expect(() => createNameTable([], { ...rule, maxLength: 4 })).toThrow('at least 16');
  });

  it('an unknown name is no tool', () => {
    expect(createNameTable([]).refOf('constructor')).toBeUndefined();
    expect(createNameTable([]).nameOf({ server: 'a', tool: 'b' })).toBeUndefined();
  });

  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 90 }),
    fc.string({ unit: fc.constantFrom('a', '_', '.', ' '), maxLength: 6 }),
    fc.constantFrom('__proto__', 'constructor', 'x'.repeat(70), `${'x'.repeat(70)}y`),
  );
  const tools = fc.array(fc.record({ server: fc.option(text, { nil: undefined }), name: text }), { maxLength: 40 });

  it('are legal, unique and lead back, whatever the tools are called', () => {
    fc.assert(
      fc.property(tools, (all) => {
        const table = createNameTable(all);
        const pairs = new Set(all.map((tool) => JSON.stringify(ref(tool))));
        expect(table.size).toBe(pairs.size);
        for (const tool of all) {
          const name = table.nameOf(ref(tool)) ?? '';
          expect(name).toMatch(LEGAL);
          expect(table.refOf(name)).toEqual(ref(tool));
        }
      }),
    );
  });

  it('do not depend on the order of the tools', () => {
    fc.assert(
      fc.property(tools, (all) => {
        const back = createNameTable([...all].reverse());
        expect(back.entries()).toEqual(createNameTable(all).entries());
      }),
    );
  });
});
