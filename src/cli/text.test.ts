import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../core/errors.ts';
import type { CallToolResult } from '../core/types.ts';
import { plainText } from '../text/plain-text.ts';
import { outcomeOf } from './execute-outcome.ts';
import { exitCodeOf } from './exit-code.ts';
import { forTerminal } from './failure.ts';
import { toJson } from './json-document.ts';
import { block, columnsOf, cutTo, fitTo, widthOf } from './layout.ts';
import { paintFor } from './paint.ts';
import { startingText } from './progress-line.ts';
import { resultText } from './result-text.ts';
import { withTilde, withTildes } from './source-lines.ts';
import { toMilliseconds } from './written-times.ts';

describe('text for a terminal', () => {
  it('breaks between words and indents every line', () => {
    expect(block('one two three four', 10, '  ')).toBe('  one two\n  three\n  four');
    expect(block('a\r\n\nb\tc', 80, '  ')).toBe('  a\n\n  b  c');
    expect(block('unbreakable-and-long', 8, '')).toBe('unbreakable-and-long');
    expect(block('one two three four', Number.POSITIVE_INFINITY, '')).toBe('one two three four');
  });

  it('keeps the indent of a line, and that of an item of a list, in the lines it becomes', () => {
    expect(block('  one two three', 12, ' ')).toBe('   one two\n   three');
    expect(block('- one two three', 12, ' ')).toBe(' - one two\n   three');
    expect(block('- a-word-longer-than-the-line', 12, ' ')).toBe(' - a-word-longer-than-the-line');
  });

  it('keeps a command in quotes on one line, and a word that no line can hold where it is', () => {
    expect(block('See it: run `anygpt mcp init` now', 22, '')).toBe('See it: run\n`anygpt mcp init` now');
    expect(block('Say "anygpt mcp x", or nothing', 18, '')).toBe('Say\n"anygpt mcp x", or\nnothing');
    expect(block('Runs: node /a/very/long/path/of/a/server.js now', 20, '  ')).toBe(
      '  Runs: node /a/very/long/path/of/a/server.js\n  now',
    );
    expect(block('run "anygpt mcp with many words" now', 20, '')).toBe('run "anygpt mcp with\nmany words" now');
  });

  it('keeps every word, fits the width, and shows nothing a terminal would obey', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 20, max: 60 }), (text, width) => {
        const lines = block(text, width, '  ').split('\n');
        expect(lines.join('')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
        const isLong = (word: string) => columnsOf(word) > width - 2;
        for (const line of lines) if (!line.split(' ').some(isLong)) expect(columnsOf(line)).toBeLessThanOrEqual(width);
        expect(lines.join(' ').match(/\S+/g)).toEqual(plainText(text).match(/\S+/g));
      }),
    );
  });

  it('knows that some letters are wide and some take no room', () => {
    expect([columnsOf('abc'), columnsOf('日本'), columnsOf('e\u0301'), columnsOf('🎉')]).toEqual([3, 4, 1, 2]);
    expect(cutTo('日本語', 5)).toBe('日本…');
    expect(cutTo('abc', 10)).toBe('abc');
    expect([fitTo('abc', 3), fitTo('abcd', 3)]).toEqual(['abc', 'ab…']);
  });

  it('has the width of the terminal, and none without one', () => {
    const stdout = (more: object) => ({ stdout: more }) as never;
    expect(widthOf(stdout({ isTTY: true, columns: 33 }))).toBe(33);
    expect(widthOf(stdout({ isTTY: true, columns: 3 }))).toBe(20);
    expect(widthOf(stdout({ isTTY: true }))).toBe(80);
    expect(widthOf(stdout({ columns: 33 }))).toBe(Number.POSITIVE_INFINITY);
  });

  it('is coloured only on a terminal, and not where NO_COLOR or a dumb one says no', () => {
    const red = (isTTY: boolean, env: Record<string, string>) =>
      paintFor({ stdout: { isTTY } as never, env })('red', 'x');
    expect(red(true, {})).toBe('\u001b[31mx\u001b[39m');
    expect([red(false, {}), red(true, { NO_COLOR: '1' }), red(true, { TERM: 'dumb' })]).toEqual(['x', 'x', 'x']);
  });

  it('names the servers that have not answered', () => {
    expect(startingText(['notes'], 1)).toBe('Starting notes …');
    expect(startingText(['b', 'c'], 5)).toBe('Starting servers: 3 of 5 ready, waiting for b, c');
  });

  it('names commands where an agent would read of meta-tools', () => {
    expect(forTerminal('a has no tool "b". list_tools with server "a" shows all of them.')).toBe(
      'a has no tool "b". "anygpt mcp tools a" shows all of them.',
    );
    expect(forTerminal('list_mcp_servers shows all servers.')).toBe('"anygpt mcp list" shows all servers.');
    expect(forTerminal('2 tools wait for approval; a person can look: anygpt mcp pending')).toBe(
      '2 tools wait for approval; see anygpt mcp pending',
    );
    expect(forTerminal('A person has to look at it and run `anygpt mcp approve a:b`.')).toBe(
      'Look at it and run `anygpt mcp approve a:b`.',
    );
  });

  it('writes the home folder as ~', () => {
    expect([
      withTilde('/home/a/x', '/home/a'),
      withTilde('/home/a/x', '/home/a/'),
      withTilde('/home/ab', '/home/a'),
    ]).toEqual(['~/x', '~/x', '/home/ab']);
    expect(withTilde('/x', undefined)).toBe('/x');
    const said = 'Write /home/a/x, not /home/ab or "/home/a/y" (/home/a) /var/home/a/z';
    expect(withTildes(said, '/home/a')).toBe('Write ~/x, not /home/ab or "/home/a/y" (~) /var/home/a/z');
    expect(withTildes('add "extends": "/home/a/y" to /home/a/x', '/home/a')).toBe('add "extends": "~/y" to ~/x');
    expect([withTildes('/x', '/'), withTildes('/x', undefined)]).toEqual(['/x', '/x']);
  });
});

describe('a JSON document', () => {
  it('comes back as it was, and holds no character that a terminal would hide or obey', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
        const written = toJson({ value, text });
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify({ value, text })));
        expect(written).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e\u{e0001}]/u);
      }),
    );
    expect(toJson('\u202e\u{e0041}')).toBe('"\\u202e\\udb40\\udc41"\n');
  });
});

describe('times', () => {
  it('are seconds unless they say otherwise', () => {
    expect(['30', '1.5', '2s', '500ms', '2m'].map((text) => toMilliseconds(text, '--timeout'))).toEqual([
      30_000, 1500, 2000, 500, 120_000,
    ]);
  });

  it('are refused when they are none', () => {
    for (const text of ['', '0', '-1', 'soon', '1h', '9'.repeat(30), '999999999m'])
      expect(() => toMilliseconds(text, '--timeout')).toThrow('--timeout takes a time');
  });
});

describe('exit codes', () => {
  it('say which kind of failure it was', () => {
    const by = (code: number) => ERROR_CODES.filter((name) => exitCodeOf(name) === code);
    expect(by(0)).toEqual([]);
    expect(by(1)).toEqual(['VALIDATION_ERROR', 'TOOL_VALIDATION_ERROR']);
    expect(by(2)).toEqual(['CONFIGURATION_ERROR', 'SERVER_NOT_FOUND', 'TOOL_NOT_FOUND']);
    expect(by(4)).toEqual(['TOOL_DISABLED', 'TOOL_NOT_APPROVED']);
    expect(by(3)).toHaveLength(ERROR_CODES.length - 7);
  });
});

describe('what a call returned', () => {
  const ref = { server: 's', tool: 't' };
  const text = (value: string) => ({ type: 'text', text: value });
  const outcome = (data: CallToolResult) => outcomeOf({ success: true, data }, ref);

  it('is the structured content, else the one text as JSON, else the text, else the blocks', () => {
    const results = [
      { structuredContent: { a: 1 }, content: [text('x')] },
      { content: [text('{"a":1}')] },
      { content: [text('42')] },
      { content: [text('plain')] },
      { content: [text('a'), text('b')] },
      {},
    ];
    expect(results.map((data) => (outcome(data) as { result: unknown }).result)).toEqual([
      { a: 1 },
      { a: 1 },
      42,
      'plain',
      [text('a'), text('b')],
      [],
    ]);
  });

  it('is a failure when the tool says so, with its words', () => {
    expect(outcome({ isError: true, content: [text('no'), { type: 'image' }, text('way')] })).toMatchObject({
      success: false,
      error: { code: 'TOOL_EXECUTION_ERROR', message: 'no\nway', ...ref },
    });
    expect(outcome({ isError: true })).toMatchObject({ error: { message: 'The tool failed without a message.' } });
  });

  it('is shown to people as text, indented JSON, and marks for everything else', () => {
    const shown = resultText(
      {
        content: [
          text('plain'),
          text('[1]'),
          { type: 'image', data: Buffer.alloc(1500).toString('base64'), mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'file:///a.txt', text: 'inside' } },
          { type: 'resource_link', name: 'doc', uri: 'https://example.com' },
          { type: 'strange', x: 1 },
        ],
      },
      [],
    );
    expect(shown.split('\n')).toEqual([
      'plain',
      '[',
      '  1',
      ']',
      '[image image/png, 1.5 kB, save it with --output DIR]',
      '[resource file:///a.txt, 6 B, save it with --output DIR]',
      'inside',
      '[link doc https://example.com]',
      '{',
      '  "type": "strange",',
      '  "x": 1',
      '}',
    ]);
    expect(resultText({ structuredContent: { a: 1 } }, [])).toBe('{\n  "a": 1\n}');
    expect(resultText({}, [])).toBe('(empty)');
    const data = Buffer.alloc(2_000_000).toString('base64');
    expect(resultText({ content: [{ type: 'audio', data }] }, [{ block: 0, path: '/x', bytes: 2_000_000 }])).toBe(
      '[audio, 2.0 MB, saved to /x]',
    );
  });
});
