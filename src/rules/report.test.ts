import { describe, expect, test } from 'vitest';
import type { RulePrecedence, ToolRef, ToolRule } from '../core/types.ts';
import { compileRules } from './compile-rules.ts';
import { type ReportOptions, reportRules } from './report.ts';

const refs = (...names: string[]): ToolRef[] =>
  names.map((name) => {
    const [server = '', tool = ''] = name.split(':');
    return { server, tool };
  });

const report = async (rules: ToolRule[], tools: ToolRef[], precedence?: RulePrecedence, options?: ReportOptions) =>
  reportRules(await compileRules(rules, precedence), tools, options);

describe('a shadowed deny', () => {
  const rules: ToolRule[] = [
    { pattern: ['*'], enabled: true },
    { pattern: ['*delete*', '*destroy*'], enabled: false },
  ];

  test('is named with its tools and the way out', async () => {
    const tools = refs('github:delete_repo', 'github:get_repo', 'aws:destroy_vm');
    expect(await report(rules, tools)).toEqual([
      {
        kind: 'shadowed',
        rule: 1,
        by: 0,
        tools: refs('github:delete_repo', 'aws:destroy_vm'),
        toolCount: 2,
        message:
          "Rule 2 (*delete*, *destroy*) should disable github:delete_repo, aws:destroy_vm, but rule 1 (*) enables them first. The rule has no effect. Move rule 2 above rule 1, or set rulePrecedence: 'deny-wins'.",
      },
    ]);
  });

  test('names five tools at most and counts the rest', async () => {
    const tools = refs(...Array.from({ length: 12 }, (_, index) => `s:delete_${index}`), 's:destroy');
    const [warning] = await report(rules, tools);
    expect(warning?.tools).toHaveLength(5);
    expect(warning?.toolCount).toBe(13);
    expect(warning?.message).toContain('s:delete_4 and 8 more, but');
  });

  test('is reported when only some of its tools are taken', async () => {
    const partly: ToolRule[] = [{ server: 'github', pattern: ['*issue*'], enabled: true }, rules[1] as ToolRule];
    const tools = refs('github:delete_issue', 'github:delete_repo', 'aws:destroy_vm');
    const [warning] = await report(partly, tools);
    expect(warning).toMatchObject({ kind: 'shadowed', rule: 1, by: 0, toolCount: 1 });
    expect(warning?.message).toContain('enables it first. Move rule 2');
  });

  test('is gone with deny-wins, and when the deny comes first', async () => {
    const tools = refs('github:delete_repo', 'github:get_repo', 'aws:destroy_vm');
    expect(await report(rules, tools, 'deny-wins')).toEqual([]);
    expect(await report(rules.toReversed(), tools)).toEqual([]);
  });
});

describe('a shadowed allow', () => {
  test('is reported when nothing is left of it', async () => {
    const rules: ToolRule[] = [
      { pattern: ['*'], enabled: false },
      { pattern: ['read'], enabled: true },
    ];
    const [first] = await report(rules, refs('s:read', 's:write'));
    expect(first).toMatchObject({ kind: 'shadowed', rule: 1, by: 0 });
    expect(first?.message).toContain('Move rule 2 above rule 1, or remove it.');
    const [wins] = await report(rules.toReversed(), refs('s:read', 's:write'), 'deny-wins');
    expect(wins).toMatchObject({ kind: 'shadowed', rule: 0, by: 1 });
    expect(wins?.message).toContain('and a deny wins. The rule has no effect. Narrow rule 2, or remove rule 1.');
  });
});

describe('what matches nothing', () => {
  test('is reported as a rule or as a pattern', async () => {
    const rules: ToolRule[] = [
      { pattern: ['*isue*'], enabled: false },
      { pattern: ['*issue*', '*Pull*', '!*delte*'], tags: ['t'] },
    ];
    const warnings = await report(rules, refs('github:create_issue', 'github:delete_issue'));
    expect(warnings.map(({ kind, rule, pattern }) => [kind, rule, pattern])).toEqual([
      ['unused-rule', 0, undefined],
      ['unused-pattern', 1, '*Pull*'],
      ['unused-pattern', 1, '!*delte*'],
    ]);
    expect(warnings[0]?.message).toBe(
      'Rule 1 (*isue*) matches none of the 2 tools known so far. Check the spelling (case counts), or remove the rule.',
    );
  });

  test('because its server is unknown says so, unless the server is configured and not seen yet', async () => {
    const rules: ToolRule[] = [{ server: 'githb', pattern: ['*'], enabled: false }];
    const [warning] = await report(rules, refs('github:x'));
    expect(warning).toMatchObject({ kind: 'unused-rule', rule: 0 });
    expect(warning?.message).toContain('no such server is known');
    expect(await report(rules, refs('github:x'), 'first-match', { servers: ['github', 'githb'] })).toEqual([]);
  });

  test('is not reported while no tool is known at all', async () => {
    expect(await report([{ pattern: ['x'], enabled: false }], [])).toEqual([]);
  });
});
