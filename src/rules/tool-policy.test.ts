import { expect, it } from 'vitest';
import type { ApprovalStatus } from '../core/approval-mode.ts';
import type { ToolDefinition } from '../core/types.ts';
import { compileRules } from './compile-rules.ts';
import { ToolPolicy } from './tool-policy.ts';

const definition: ToolDefinition = { name: 'send', inputSchema: {} };
const policyOf = async (enabled: boolean, status: ApprovalStatus) =>
  new ToolPolicy(await compileRules(enabled ? [] : [{ pattern: ['send'], enabled: false }], 'first-match'), {
    statusOf: () => status,
    mayFollowRule: () => false,
    digestOf: () => 'digest',
  });

it('asks the rules first, then the approvals', async () => {
  const decide = async (enabled: boolean, status: ApprovalStatus) =>
    (await policyOf(enabled, status)).decide('mail', definition);
  expect(await decide(true, 'approved')).toMatchObject({ enabled: true });
  expect(await decide(true, 'changed')).toMatchObject({
    enabled: false,
    code: 'TOOL_NOT_APPROVED',
    approval: 'changed',
    reason: expect.stringContaining('anygpt mcp approve mail:send'),
  });
  expect(await decide(false, 'approved')).toMatchObject({ enabled: false, code: 'TOOL_DISABLED' });
  expect(await decide(false, 'pending')).toMatchObject({ code: 'TOOL_DISABLED', isNameOnly: true });
  expect(await decide(false, 'pending')).not.toHaveProperty('approval');
});

it('trusts every source without approvals', async () => {
  const policy = new ToolPolicy(await compileRules([], 'first-match'));
  expect(policy.decide('mail', definition).enabled).toBe(true);
  expect(policy.digestOf('mail')).toBeUndefined();
});
