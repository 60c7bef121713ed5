import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { describedIn, firstSentences, repeatsName, tidy, withoutParameterList } from './details-text.ts';

const DOCSTRING = `Download a paper.

    Args:
        paper_id: The paper's ID (e.g. '2009/101').
        save_path (str, optional): Where to write it.
        - \`format\` - pdf or text
        **limit**: How many

    Returns:
        The path of the file.`;

describe('tidy', () => {
  it('keeps the lines and drops indentation and empty lines', () => {
    expect(tidy('\n  One.\n\n\n    - two  \n    - three\u202e\n')).toBe('One.\n- two\n- three');
  });
});

describe('firstSentences', () => {
  test.each([
    ['Short.', 20, 'Short.'],
    ['One sentence here. Another one that is long.', 30, 'One sentence here. …'],
    ['A url, e.g. https://x. And so on and on and on', 20, 'A url, e.g.…'],
    ['Use it when:\n- a long list begins here', 24, 'Use it when …'],
    ['これは検索です。次の文はとても長いです。', 12, 'これは検索です。 …'],
    ['averylongwordwithoutanyspaceinit', 10, 'averylong…'],
    ['whatever', 0, ''],
  ])('%j within %i is %j', (text, room, expected) => {
    expect(firstSentences(text, room)).toBe(expected);
  });

  it('never is longer than asked for by more than the mark, and whole if it fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 200 }), (text, room) => {
        const short = firstSentences(text, room);
        expect(short.length).toBeLessThanOrEqual(room + 2);
        if (text.length <= room) expect(short).toBe(text);
      }),
    );
  });
});

describe('describedIn', () => {
  it('finds what a docstring says of each parameter', () => {
    expect([...describedIn(DOCSTRING, ['paper_id', 'save_path', 'format', 'limit', 'paper', 'none'])]).toEqual([
      ['paper_id', "The paper's ID (e.g. '2009/101')."],
      ['save_path', 'Where to write it.'],
      ['format', 'pdf or text'],
      ['limit', 'How many'],
    ]);
    expect(describedIn('path (never closed: x', ['path']).size).toBe(0);
    expect(describedIn(DOCSTRING, []).size).toBe(0);
  });

  it('takes any text and any names', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (text, names) => {
        for (const name of describedIn(text, names).keys()) expect(names).toContain(name);
      }),
    );
  });
});

describe('withoutParameterList', () => {
  it('ends where parameters are listed', () => {
    expect(withoutParameterList(tidy(DOCSTRING))).toBe('Download a paper. …');
    expect(withoutParameterList('No list here.')).toBe('No list here.');
    expect(withoutParameterList('Args:\nonly: a list')).toBe('Args:\nonly: a list');
  });
});

describe('repeatsName', () => {
  test.each([
    ['The issue title', 'title', true],
    ['Issue ID', 'issueId', true],
    ['Title of the issue, in Markdown', 'title', false],
    ['', 'title', true],
  ])('%j for %s: %s', (description, name, expected) => {
    expect(repeatsName(description, name, 'create_issues')).toBe(expected);
  });
});
