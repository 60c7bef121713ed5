import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import type { RulePrecedence, ToolRule } from '../core/types.ts';
import { plainName } from '../text/plain-text.ts';
import { compileRules } from './compile-rules.ts';

const decide = async (rules: ToolRule[], server: string, tool: string, precedence?: RulePrecedence) =>
  (await compileRules(rules, precedence)).decide(server, tool);

describe('a decision', () => {
  test('without rules is: enabled', async () => {
    expect(await decide([], 'github', 'x')).toEqual({
      enabled: true,
      tags: [],
      reason: 'Enabled: no rule disables it.',
    });
  });

  test('comes from the first matching rule that has enabled', async () => {
    const rules: ToolRule[] = [
      { pattern: ['*'], tags: ['all'] },
      { pattern: ['*delete*'], enabled: false, tags: ['dangerous'] },
      { pattern: ['*'], enabled: true },
    ];
    expect(await decide(rules, 'github', 'delete_repo')).toEqual({
      enabled: false,
      tags: ['all', 'dangerous'],
      rule: 1,
      reason: 'Disabled by rule 2 (*delete*).',
    });
    expect(await decide(rules, 'github', 'get_repo')).toMatchObject({ enabled: true, rule: 2, tags: ['all'] });
  });

  test('is not overturned by a later rule when the first agreed with the default', async () => {
    const rules: ToolRule[] = [
      { pattern: ['*'], enabled: false },
      { pattern: ['read'], enabled: true },
    ];
    expect((await decide(rules, 's', 'read')).enabled).toBe(false);
  });

  test('adds tags up over all matching rules, each once', async () => {
    const rules: ToolRule[] = [
      { pattern: ['a*'], tags: ['x', 'y'] },
      { pattern: ['*b'], tags: ['y', 'z'] },
    ];
    expect((await decide(rules, 's', 'ab')).tags).toEqual(['x', 'y', 'z']);
  });

  test('in allow-list mode disables what no rule with enabled matches', async () => {
    const rules: ToolRule[] = [
      { server: 'github', pattern: ['*issue*'], enabled: true },
      { pattern: ['*'], tags: ['t'] },
    ];
    expect((await decide(rules, 'github', 'create_issue')).enabled).toBe(true);
    const other = await decide(rules, 'slack', 'post');
    expect(other).toMatchObject({ enabled: false, tags: ['t'] });
    expect(other.rule).toBeUndefined();
    expect(other.reason).toContain('allow-list');
  });

  test('with first-match lets an earlier allow stand, with deny-wins it falls', async () => {
    const rules: ToolRule[] = [
      { pattern: ['*'], enabled: true },
      { pattern: ['*delete*'], enabled: false },
    ];
    expect((await decide(rules, 's', 'delete_x')).enabled).toBe(true);
    expect((await decide(rules, 's', 'delete_x', 'deny-wins')).enabled).toBe(false);
    expect((await decide(rules, 's', 'read_x', 'deny-wins')).enabled).toBe(true);
  });

  test('works for names that are special in JavaScript', async () => {
    const rules = await compileRules([{ server: '__proto__', pattern: ['constructor'], enabled: false }]);
    expect(rules.decide('__proto__', 'constructor').enabled).toBe(false);
    expect(rules.decide('__proto__', 'toString').enabled).toBe(true);
    expect(rules.decide('constructor', '__proto__').enabled).toBe(true);
  });

  test('describes a rule with many patterns and a server in short', async () => {
    const rules = await compileRules([{ server: 'gh', pattern: ['a', 'b', 'c', 'd', 'e'], enabled: false }]);
    expect(rules.decide('gh', 'a').reason).toBe('Disabled by rule 1 (a, b, c, +2 more on server gh).');
    const all = await compileRules([{ pattern: [], enabled: false }]);
    expect(all.decide('gh', 'a').reason).toBe('Disabled by rule 1 (every tool).');
  });

  test('is remembered, and stays right when the memory is full', async () => {
    const rules = await compileRules([{ pattern: ['*7'], enabled: false }]);
    expect(rules.decide('s', 't7')).toBe(rules.decide('s', 't7'));
    for (let i = 0; i < 100_050; i++) rules.decide('s', `t${i}`);
    expect(rules.decide('s', 't7').enabled).toBe(false);
    expect(rules.decide('s', 't8').enabled).toBe(true);
  });
});

describe('rules that cannot be used', () => {
  test('are refused together, each with its place', async () => {
    const rules: ToolRule[] = [
      { pattern: ['ok', '/(?=a)/'], enabled: false },
      { pattern: ['!/(a/'], server: '{a,b}'.repeat(7) },
      { pattern: [`/${'a'.repeat(1_000_000)}/`] },
    ];
    const error = await compileRules(rules).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    const { problems, message } = error as ConfigurationError;
    expect(problems).toHaveLength(4);
    expect(problems[0]).toMatch(/^toolRules\[0\]\.pattern\[1\]: "\/\(\?=a\)\/" is not/);
    expect(problems[1]).toMatch(/^toolRules\[1\]\.server/);
    expect(problems[3]).toMatch(/^toolRules\[2\]\.pattern\[0\]: .* is longer than 1000 characters/);
    expect(message.length).toBeLessThan(2_000);
  });
});

describe('for any rules', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '_'), maxLength: 4 });
  const pattern = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 4 }),
    fc.constantFrom('*', '/a/', '!*b*', 'a:*', '!/b$/'),
  );
  const rule: fc.Arbitrary<ToolRule> = fc.record(
    {
      pattern: fc.array(pattern, { maxLength: 3 }),
      server: fc.option(name, { nil: undefined }),
      enabled: fc.option(fc.boolean(), { nil: undefined }),
      tags: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
    },
    { requiredKeys: ['pattern'] },
  );
  const rules = fc.array(rule, { maxLength: 5 });
  const precedence = fc.constantFrom<RulePrecedence>('first-match', 'deny-wins');

  test('adding a deny anywhere never enables more', async () => {
    await fc.assert(
      fc.asyncProperty(rules, rule, fc.nat(5), precedence, name, name, async (list, extra, at, order, server, tool) => {
        const deny = { ...extra, enabled: false };
        const before = await decide(list, server, tool, order);
        const after = await decide(list.toSpliced(at, 0, deny), server, tool, order);
        return before.enabled || !after.enabled;
      }),
      { numRuns: 500 },
    );
  });

  test('the order of rules changes neither tags nor, with deny-wins, the decision', async () => {
    await fc.assert(
      fc.asyncProperty(rules, name, name, async (list, server, tool) => {
        const one = await decide(list, server, tool, 'deny-wins');
        const other = await decide(list.toReversed(), server, tool, 'deny-wins');
        expect(new Set(other.tags)).toEqual(new Set(one.tags));
        expect(other.enabled).toBe(one.enabled);
      }),
      { numRuns: 300 },
    );
  });

  test('the order of patterns inside a rule does not matter', async () => {
    await fc.assert(
      fc.asyncProperty(rule, name, name, async (one, server, tool) => {
        const other = { ...one, pattern: one.pattern.toReversed() };
        expect(await decide([other], server, tool)).toMatchObject({
          enabled: (await decide([one], server, tool)).enabled,
        });
      }),
    );
  });

  test('in allow-list mode an enabled tool always has an enabling rule', async () => {
    await fc.assert(
      fc.asyncProperty(rules, precedence, name, name, async (list, order, server, tool) => {
        const set = await compileRules([...list, { pattern: ['nothing'], enabled: true }], order);
        const decision = set.decide(server, tool);
        return !decision.enabled || set.rules[decision.rule ?? -1]?.enabled === true;
      }),
    );
  });

  test('arbitrary text as a pattern either compiles or is a ConfigurationError', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map((body) => `/${body}/`),
    );
    await fc.assert(
      fc.asyncProperty(text, fc.string({ unit: 'binary' }), async (body, tool) => {
        try {
          return typeof (await decide([{ pattern: [body], enabled: false }], 's', tool)).enabled === 'boolean';
        } catch (error) {
          return error instanceof ConfigurationError;
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('names that only look like the one a rule is about', () => {
  const variants = (name: string): string[] => [
    `${name}\u00a0`,
    ` ${name} `,
    name.replace('_', '\u200b_'),
    name.replace('_', '\u200d_'),
    name.replace('_', '\uff3f'),
    Array.from(name, (char) => (/[a-z]/.test(char) ? String.fromCodePoint(char.charCodeAt(0) + 0xfee0) : char)).join(
      '',
    ),
    name.replace('e', '\u0435'),
    name.replace('o', '\u03bf'),
    name.replace('o', 'o\u0332'),
    name.replace('d', '\u{1d41d}'),
    `${name}\ufe0f`,
    `\u2066${name}\u2069`,
    `${name}\u2800`,
    name.replace('_', '\u2800_'),
    name.replace('_', '\u2017'),
    name.replace('e', 'e\u{16fe4}'),
    `${name}\u{1f3fb}`,
  ];

  test.each<[ToolRule[]]>([
    [[{ pattern: ['delete_repo'], enabled: false }]],
    [[{ pattern: ['delete_*'], enabled: false }]],
    [[{ pattern: ['*:delete_repo'], enabled: false }]],
    [[{ pattern: ['/^delete_repo$/'], enabled: false }]],
    [[{ pattern: ['*', '!delete_repo'], enabled: true }]],
    [[{ pattern: ['*', '!read_*'], enabled: false }]],
    [[{ pattern: ['delete_repo'], server: 'forge', enabled: false }]],
  ])('are no way around %j', async (rules) => {
    const decided = await compileRules(rules);
    for (const tool of ['delete_repo', ...variants('delete_repo')])
      expect(decided.decide('forge', tool).enabled, JSON.stringify(tool)).toBe(false);
  });

  test('are not opened by a rule that allows the plain one', async () => {
    const decided = await compileRules([{ pattern: ['read_repo', 'forge:read_code'], enabled: true }]);
    expect(decided.decide('forge', 'read_repo').enabled).toBe(true);
    expect(decided.decide('forge', 'read_code').enabled).toBe(true);
    for (const tool of [...variants('read_repo'), ...variants('read_code')])
      expect(decided.decide('forge', tool).enabled, JSON.stringify(tool)).toBe(false);
  });

  test('of servers are no way around a rule either', async () => {
    const decided = await compileRules([
      { pattern: ['*'], server: 'forge', enabled: false },
      { pattern: ['depot:*'], enabled: false },
    ]);
    for (const server of ['forge', ...variants('forge'), 'depot', ...variants('depot')])
      expect(decided.decide(server, 'x').enabled, JSON.stringify(server)).toBe(false);
    expect(decided.decide('forget', 'x').enabled).toBe(true);
  });

  test('compare as the same letters, however those are written', async () => {
    const decided = await compileRules([{ pattern: ['caf\u00e9'], enabled: true }]);
    for (const tool of ['caf\u00e9', 'cafe\u0301']) expect(decided.decide('s', tool).enabled).toBe(true);
    expect(decided.decide('s', 'cafe').enabled).toBe(false);
  });

  test('hold for every name: adding a deny for its plain form always denies it', async () => {
    const letters = fc.constantFrom(
      ...'abdeo_-:',
      ' ',
      '\u00a0',
      '\u200b',
      '\u200d',
      '\uff41',
      '\u0430',
      '\u0301',
      '\ufe0f',
    );
    const names = fc.string({ unit: letters, minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        const plain = plainName(name);
        fc.pre(plain !== '');
        const decided = await compileRules([{ pattern: [plain], enabled: false }]);
        expect(decided.decide('s', name).enabled).toBe(false);
      }),
    );
  });
});

describe('a tool whose own name has a colon', () => {
  test('is denied by its name, by server and name, and by globs of either', async () => {
    for (const pattern of ['ns:wipe', 's:ns:wipe', 'ns:*', '*:wipe', 's:*', '*wipe'])
      expect((await compileRules([{ pattern: [pattern], enabled: false }])).decide('s', 'ns:wipe').enabled).toBe(false);
  });

  test('is allowed with its server in front, and not by a pattern that could mean another server', async () => {
    const allows = async (pattern: string) =>
      (await compileRules([{ pattern: [pattern], enabled: true }])).decide('s', 'ns:wipe').enabled;
    expect(await allows('s:ns:wipe')).toBe(true);
    expect(await allows('ns:wipe')).toBe(false);
    expect(await allows('ns:*')).toBe(false);
  });
});

describe('a decision about what is no tool', () => {
  const ETC = 'file:///etc/passwd';
  const isOn = async (rules: ToolRule[], kind: 'resource' | 'prompt' | undefined, id: string, server = 'docs') =>
    (await compileRules(rules)).decide(server, id, kind).enabled;
  const deny = (...pattern: string[]): ToolRule[] => [{ pattern, enabled: false }];
  const allow = (...pattern: string[]): ToolRule[] => [{ pattern, enabled: true }];

  test('of a resource or prompt takes patterns of its own kind, on server and URI or name', async () => {
    expect(await isOn(deny('resource:docs:file:///etc/*'), 'resource', ETC)).toBe(false);
    expect(await isOn(deny('resource:docs:file:///etc/*'), 'resource', ETC, 'other')).toBe(true);
    expect(await isOn(deny('resource:*'), 'prompt', 'review')).toBe(true);
    expect(await isOn(deny('prompt:docs:re*'), 'prompt', 'review')).toBe(false);
    expect(await isOn(deny('prompt:*', '!prompt:*:review'), 'prompt', 'review')).toBe(true);
    for (const pattern of ['*passwd*', '*e*', '/passwd/', 'docs:*etc*'])
      expect(await isOn(deny(pattern), 'resource', ETC), pattern).toBe(true);
  });

  test('of a resource or prompt takes patterns of whole servers, and rules without patterns', async () => {
    for (const pattern of ['*', 'docs:*', '*:*', 'd*:*'])
      expect(await isOn(deny(pattern), 'resource', ETC), pattern).toBe(false);
    expect(await isOn([{ pattern: [], server: 'docs', enabled: false }], 'prompt', 'review')).toBe(false);
    expect(await isOn(deny('other:*'), 'resource', ETC)).toBe(true);
  });

  test('of a resource denies other spellings of its URI, and allows only the written one', async () => {
    for (const uri of [ETC, 'file:///x/../etc/passwd', 'file:///%65tc/passwd', 'file:///etc/\uff50asswd'])
      for (const pattern of ['resource:docs:file:///etc/p*', 'resource:file:///etc/p*'])
        expect(await isOn(deny(pattern), 'resource', uri), `${pattern} ${uri}`).toBe(false);
    expect(await isOn(allow('resource:docs:file:///etc/*'), 'resource', ETC)).toBe(true);
    expect(await isOn(allow('resource:file:///etc/*'), 'resource', ETC)).toBe(false);
    expect(await isOn(allow('resource:docs:file:///etc/*'), 'resource', 'file:///%65tc/passwd')).toBe(false);
  });

  test('of a resource or prompt follows allow-lists of tools, and its own leaves others alone', async () => {
    expect(await isOn(allow('get_*'), 'resource', ETC)).toBe(false);
    expect(await isOn(allow('docs:*'), 'resource', ETC)).toBe(true);
    expect(await isOn(allow('resource:docs:*'), undefined, 'get_x')).toBe(true);
    expect(await isOn(allow('resource:docs:*'), 'prompt', 'review')).toBe(true);
    expect(await isOn(allow('resource:other:*'), 'resource', ETC)).toBe(false);
  });

  test('of a tool is not opened by a pattern about resources, and stays closed on a server of that name', async () => {
    expect(await isOn([...allow('resource:*'), ...deny('*')], undefined, 'x', 'resource')).toBe(false);
    expect(await isOn(deny('resource:drop_*'), undefined, 'drop_x', 'resource')).toBe(false);
    expect(await isOn(deny('resource:docs:*'), undefined, 'x')).toBe(true);
  });
});
