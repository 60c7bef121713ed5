import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stem } from './stemmer.ts';

describe('stem', () => {
  it.each([
    ['issue', 'issues', 'issuing', 'issued'],
    ['repository', 'repositories'],
    ['delete', 'deletes', 'deleted', 'deleting'],
    ['connect', 'connection', 'connections', 'connecting'],
    ['hop', 'hopping', 'hops'],
    ['organize', 'organization', 'organizer'],
    ['relate', 'relational'],
    ['deploy', 'deployment', 'deployed'],
    ['query', 'queries', 'queried'],
  ])('brings the forms of "%s" together', (word, ...forms) => {
    for (const form of forms) expect(stem(form)).toBe(stem(word));
  });

  it.each([
    ['caresses', 'caress'],
    ['agreed', 'agre'],
    ['feed', 'feed'],
    ['sized', 'size'],
    ['falling', 'fall'],
    ['filing', 'file'],
    ['happy', 'happi'],
    ['by', 'by'],
    ['key', 'key'],
    ['hopefulness', 'hope'],
    ['adoption', 'adopt'],
    ['region', 'region'],
    ['controll', 'control'],
    ['rate', 'rate'],
  ])('follows Porter for "%s"', (word, expected) => {
    expect(stem(word)).toBe(expected);
  });

  it('leaves short, foreign and mixed words alone', () => {
    for (const word of ['is', 'url', 'базами', 's3s', 'café']) expect(stem(word)).toBe(word);
  });

  it('gives every string a stem no longer than itself by more than a letter', () => {
    fc.assert(fc.property(fc.string(), (word) => stem(word).length <= word.length + 1));
  });

  it('gives the same stem after its memory has been cleared', () => {
    const before = stem('searching');
    for (let index = 0; index < 50_001; index++) stem(`w${index}x`);
    expect(stem('searching')).toBe(before);
  });
});
