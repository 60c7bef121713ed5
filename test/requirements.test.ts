import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type Proof, REQUIREMENTS } from './requirements.ts';

const pathOf = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));

/** The names of the tests in a file, as they are written there. */
const names = new Map<string, string[]>();
function namesIn(file: string): string[] {
  let known = names.get(file);
  if (!known) {
    const text = existsSync(pathOf(file)) ? readFileSync(pathOf(file), 'utf8') : '';
    // A name opens a call of `it` or `test`, with the cases of `each` possibly in between.
    known = [...text.matchAll(/(?:\b(?:it|test)(?:\.\w+)?|\))\(\s*(['"`])(.*?)\1\s*,/gm)].map((match) =>
      String(match[2]),
    );
    names.set(file, known);
  }
  return known;
}
const isProven = ([file, name]: Proof): boolean => namesIn(file).some((known) => known.startsWith(name));

describe('every promise of the specification', () => {
  it.each(Object.entries(REQUIREMENTS))('%s', (_id, { promise, proofs }) => {
    expect(proofs.length, `nobody proves: ${promise}`).toBeGreaterThan(0);
    const lost = proofs.filter((proof) => !isProven(proof)).map(([file, name]) => `${file}: ${name}`);
    expect(lost, `no such test any more, for: ${promise}`).toEqual([]);
  });
});
