import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import { PatternMatcher } from './pattern-matcher.ts';

const matcher = new PatternMatcher();

describe('patterns of one rule', () => {
  test('one positive pattern is enough', () => {
    expect(matcher.match('create_issue', ['*pr*', '*issue*'])).toBe(true);
    expect(matcher.match('create_issue', ['*pr*', '*wiki*'])).toBe(false);
  });

  test('a negated pattern excludes wherever it stands', () => {
    for (const patterns of [
      ['*github*', '!*delete*'],
      ['!*delete*', '*github*'],
    ]) {
      expect(matcher.match('github_delete_repo', patterns)).toBe(false);
      expect(matcher.match('github_get_repo', patterns)).toBe(true);
      expect(matcher.match('gitlab_get_repo', patterns)).toBe(false);
    }
  });

  test('negations alone match everything they do not exclude, and no pattern at all matches everything', () => {
    expect(matcher.match('read', ['!*delete*'])).toBe(true);
    expect(matcher.match('delete_it', ['!*delete*'])).toBe(false);
    expect(matcher.match('anything', [])).toBe(true);
  });

  test('regular expressions search inside the name and know their flags', () => {
    expect(matcher.match('GitHub_new_issue', ['/github.*issue/i'])).toBe(true);
    expect(matcher.match('GitHub_new_issue', ['/github.*issue/'])).toBe(false);
    expect(matcher.match('fs_read', ['/^fs_(read|write)$/'])).toBe(true);
    expect(matcher.match('fs_reads', ['/^fs_(read|write)$/gu'])).toBe(false);
    expect(matcher.match('create issue', ['/\\b(create|update)\\b/'])).toBe(true);
    expect(matcher.match('a\nb', ['/^b$/m'])).toBe(true);
    expect(matcher.match('a\nb', ['/a.b/s'])).toBe(true);
    expect(matcher.match('delete_x', ['!/^delete/'])).toBe(false);
    expect(matcher.match('a/b', ['/a\\/b/'])).toBe(true);
  });

  test('a slash alone does not make a regular expression', () => {
    expect(matcher.match('/repos', ['/repos'])).toBe(true);
    expect(matcher.match('/repos/{id}', ['/repos/*'])).toBe(true);
    expect(matcher.match('/repos/list', ['\\/repos/list'])).toBe(true);
    expect(() => matcher.match('x', ['/repos/list'])).toThrow(/unknown flag "l".*write \\\//);
  });
});

describe('a server', () => {
  test('never leaks into a plain pattern', () => {
    expect(matcher.matchWithServer('write_cell', 'spreadsheet', { pattern: ['*read*'] })).toBe(false);
    expect(matcher.matchWithServer('write_cell', 'spreadsheet', { pattern: ['/read/'] })).toBe(false);
  });

  test('is seen by a glob with a colon, negated or not', () => {
    expect(matcher.matchWithServer('delete_repo', 'github', { pattern: ['github:*'] })).toBe(true);
    expect(matcher.matchWithServer('delete_repo', 'gitlab', { pattern: ['github:*'] })).toBe(false);
    expect(matcher.matchWithServer('delete_repo', 'github', { pattern: ['*', '!git*:delete_*'] })).toBe(false);
  });

  test('cannot open an allowed prefix by naming a tool after it', () => {
    expect(matcher.matchWithServer('github:read', 'evil', { pattern: ['github:*'] })).toBe(false);
  });

  test('is chosen by name or glob', () => {
    expect(matcher.matchWithServer('x', 'github', { server: 'github', pattern: ['*'] })).toBe(true);
    expect(matcher.matchWithServer('x', 'github-eu', { server: 'github', pattern: ['*'] })).toBe(false);
    expect(matcher.matchWithServer('x', 'github-eu', { server: 'github*', pattern: ['*'] })).toBe(true);
  });
});

describe('a hostile regular expression', () => {
  test('that would stall another engine answers at once', () => {
    const started = performance.now();
    expect(matcher.match(`${'a'.repeat(5_000)}!`, ['/(a+)+$/'])).toBe(false);
    expect(matcher.match('a'.repeat(1_000), ['/(.*a){25}b/'])).toBe(false);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test.each([
    ['/(?<=a)b/', /look-around/],
    ['/(a)\\1/', /back-references/],
    ['/(/', /missing closing/],
    [`/${'a'.repeat(1_001)}/`, /longer than/],
    ['/((a{100}){100}){100}/', /repeat/],
    [`/${'.{1000}'.repeat(20)}/`, /too big/],
    ['//', /empty/],
    ['/a/y', /flag "y"/],
  ])('%s is refused', (pattern, message) => {
    expect(() => matcher.match('x', [pattern])).toThrow(ConfigurationError);
    expect(() => matcher.match('x', [pattern])).toThrow(message);
  });

  test('more patterns than are remembered still match', () => {
    const many = Array.from({ length: 1_500 }, (_, index) => `tool_${index}`);
    expect(matcher.match('tool_1499', many)).toBe(true);
    expect(matcher.match('tool_1500', many)).toBe(false);
  });
});
