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
});
