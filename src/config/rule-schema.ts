/**
 * Defines the schema of a rule about tools.
 * @module
 */
import * as z from 'zod/mini';
import { described, flag, optional, someText, textUpTo } from './fields.ts';

export const ruleSchema = z.strictObject({
  pattern: described(
    z.array(textUpTo(10_000, 1)).check(z.maxLength(1_000)),
    'Globs, or `/regular expressions/`, on tool names; `!` in front excludes.',
  ),
  server: optional(someText, 'Only tools of servers whose name matches this glob.'),
  enabled: optional(
    flag,
    'Switch the matching tools on or off. If any rule says `true`, tools that no rule enables are off.',
  ),
  tags: optional(z.array(someText), 'Tags for the matching tools.'),
  domain: optional(someText, 'Only tools of a domain that matches this glob, or of one below it: `github`, `cloud.*`.'),
  category: optional(someText, 'Only tools of a category that matches this glob, or of one below it: `crud.delete`.'),
  readOnly: optional(
    flag,
    'Only tools that a server with `trusted: true` marks as read-only; `false`: only the others.',
  ),
  approve: optional(
    z.union([flag, z.literal('always')]),
    'Whether new and changed definitions of the matching tools are approved without a look. `true`: unless the scanner finds something; `always`: even then. The first matching rule with `approve` decides. Ignored in a project’s file, and for its servers.',
  ),
});
