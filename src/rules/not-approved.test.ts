import { expect, it } from 'vitest';
import { notApprovedMessage } from './not-approved.ts';

const named = (name: string) => ({ name, inputSchema: {} });

it('says what a person has to type', () => {
  expect(notApprovedMessage('pending', 'mail', named('send'))).toBe(
    'The tool "send" of the server "mail" has not been approved yet. A person has to look at it and run `anygpt mcp approve mail:send`.',
  );
  expect(notApprovedMessage('changed', 'mail', named('send'))).toContain('has changed since it was approved');
});

it('never puts a name into a command that a shell would take for something else', () => {
  expect(notApprovedMessage('pending', 'mail', named('$(rm -rf ~)'))).toContain("'mail:$(rm -rf ~)'");
  expect(notApprovedMessage('pending', 'mail', named('se\u202end'))).toMatch(/"se\\u\{202e\}nd".*`anygpt mcp approve`/);
  expect(notApprovedMessage('pending', 'mail', named('x'.repeat(5_000))).length).toBeLessThan(700);
});
