import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UsageError } from '../usage-error.ts';
import { suggestedName, targetOf } from './target.ts';

it('understands or refuses any words, and suggests names that are plain', () => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.webUrl(),
    fc.json(),
    fc.string().map((text) => `npm:${text}`),
    fc.string().map((text) => `a.b/${text}`),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 3 }), fc.option(fc.array(word, { maxLength: 3 })), (before, after) => {
      try {
        const target = targetOf(after === null ? {} : { '--': after }, [...before, ...(after ?? [])]);
        if (after !== null) expect(target).toMatchObject({ kind: 'command', words: after });
        expect(suggestedName(target)).toMatch(/^[A-Za-z0-9._-]{0,64}$/);
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
      }
    }),
  );
});

it.each([
  ['https://mcp.linear.app/mcp', 'linear'],
  ['https://api.githubcopilot.com/mcp/', 'githubcopilot'],
  ['http://localhost:3000/mcp', 'localhost'],
  ['http://127.0.0.1:3000/mcp', '127.0.0.1'],
  ['npm:@scope/some-server@1.2.3', 'some-server'],
  ['io.github.me/notes@2.0.0', 'notes'],
])('calls %s %s', (word, name) => {
  expect(suggestedName(targetOf({}, [word]))).toBe(name);
});

it.each([
  ['npx -y @scope/files@1', 'files'],
  ['uvx mcp-server-time==1.0', 'mcp-server-time'],
  ['/usr/local/bin/my-server --port 1', 'my-server'],
  ['node ./dist/server.mjs', 'server'],
  ['docker run -i image', 'docker'],
])('calls %s %s', (line, name) => {
  const words = line.split(' ');
  expect(suggestedName(targetOf({ '--': words }, words))).toBe(name);
});

it.each([
  [['memo', 'npx', 'some-pkg'], true, 'npx -y some-pkg'],
  [['memo', 'bunx', 'some-pkg'], true, 'bunx -y some-pkg'],
  [['memo', 'npx', 'some-pkg'], false, 'npx some-pkg'],
  [['memo', 'uvx', 'some-pkg'], true, 'uvx some-pkg'],
  [['memo', 'npx', 'some-pkg', '/my notes'], true, "npx -y some-pkg '/my notes'"],
])('suggests the command of %j with the -y that was read as --yes: %s', (words, yes, command) => {
  expect(() => targetOf({ yes }, words)).toThrow(`Put -- before the command: anygpt mcp add memo -- ${command}`);
});
