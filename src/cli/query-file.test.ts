import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQueries } from './query-file.ts';
import { UsageError } from './usage-error.ts';

const parse = (text: string) => parseQueries(text, 'file');
const wanted = { query: 'open a ticket', relevant: [{ server: 'github', name: 'create_issue' }] };

describe('parseQueries', () => {
  it.each([
    ['JSON lines', '{"query":"open a ticket","server":"github","tool":"create_issue"}\r\n\n'],
    ['a JSON array', '[\n{"query":"open a ticket","server":"github","tool":"create_issue"}]'],
    ['the full form', '{"query":" open a ticket ","relevant":[{"server":"github","name":"create_issue"}]}'],
    ['CSV', 'query,server,tool\nopen a ticket,github,create_issue\n'],
    [
      'CSV in another order, with quotes',
      'Tool, Server ,Query,note\r\n"create_issue",github,"open a ticket",x\r\n,,,\r\n',
    ],
    ['TSV', 'query\tserver\ttool\nopen a ticket\tgithub\tcreate_issue'],
    ['a table with semicolons', 'query;server;tool\nopen a ticket;github;create_issue'],
  ])('reads %s', (_, text) => {
    expect(parse(text)).toEqual([wanted]);
  });

  it('keeps ids, grades and groups, and takes names without a server', () => {
    const text =
      '{"id":7,"query":"q","relevant":["github:create_issue",{"tool":"a","grade":2,"group":0},{"server":"","name":"b"}]}';
    expect(parse(text)).toEqual([
      {
        id: '7',
        query: 'q',
        relevant: [{ name: 'github:create_issue' }, { name: 'a', grade: 2, group: 0 }, { name: 'b' }],
      },
    ]);
    expect(parse('query,tool\nq,a\n')).toEqual([{ query: 'q', relevant: [{ name: 'a' }] }]);
  });

  it('understands quotes, delimiters and line breaks inside cells', () => {
    expect(parse('query,tool\n"say ""hi"", then\nleave",a\n')[0]?.query).toBe('say "hi", then\nleave');
    expect(parse('tool,query,server\na,q,')).toEqual([{ query: 'q', relevant: [{ name: 'a' }] }]);
  });

  it.each([
    ['{"query":"a","tool":"x"}\n{oops', /file: line 2 is not JSON/],
    ['[1', /file is not JSON/],
    ['[1]', /file: entry 1: is not an object/],
    ['{"tool":"x"}', /file: line 1: "query" is missing/],
    ['{"query":"a"}', /line 1: no tool is given for "a"/],
    ['{"query":"a","relevant":[]}', /no tool is given/],
    ['{"query":"a","relevant":[5]}', /no tool is given/],
    ['{"query":"a","relevant":"x"}', /"relevant" must be a list/],
    ['question,tool\na,b', /first line must name the columns/],
    ['query,tool\n,b', /row 2: "query" is missing/],
    ['', /first line must name the columns/],
    ['[]', /holds no queries/],
    ['query,tool\n', /holds no queries/],
  ])('says what is wrong with %j', (text, message) => {
    expect(() => parse(text)).toThrow(message);
    expect(() => parse(text)).toThrow(UsageError);
  });

  it('names at most five problems', () => {
    expect(() => parse('{"query":"a"}\n'.repeat(8))).toThrow(/line 5: .*and 3 more/);
  });

  it('takes any text or refuses it with a usage error', () => {
    const piece = fc.oneof(fc.string(), fc.constantFrom('query,tool\n', '"', ',', '\n', '{', '[', '\t', 'a'));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        try {
          expect(parse(pieces.join('')).length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
  });

  it('reads back every table that was written by the rules', () => {
    const cell = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (pairs) => {
        const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
        const text = ['query,tool', ...pairs.map((pair) => pair.map(quoted).join(','))].join('\n');
        expect(parse(text)).toEqual(
          pairs.map(([query, tool]) => ({ query: query.trim(), relevant: [{ name: tool.trim() }] })),
        );
      }),
    );
  });
});
