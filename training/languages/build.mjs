#!/usr/bin/env node
/**
 * Writes the lists of words that ship: `models/languages/LANGUAGE.tsv` (a word and what it is in English) and
 * `models/languages/telltales.tsv` (words that give a language away).
 *
 *   node training/languages/build.mjs --aligned DIR --wordnet DIR [--out DIR] [--hand-only | --aligned-only]
 *
 * DIR is what `align.mjs` wrote. Words of `words.txt` (written by hand) come first. A word of English requests
 * (`training/requests.jsonl`) or of WordNet (its folder `dict`) gives no language away.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { foldedWord, isSmallWord, LANGUAGES } from '../../dist/search/language-of.js';
import { stem } from '../../dist/search/stemmer.js';
import { isStopWord } from '../../dist/search/stop-words.js';

const { values: args } = parseArgs({
  options: {
    aligned: { type: 'string' },
    wordnet: { type: 'string' },
    requests: { type: 'string', default: join(import.meta.dirname, '../requests.jsonl') },
    out: { type: 'string', default: join(import.meta.dirname, '../../models/languages') },
    'hand-only': { type: 'boolean', default: false },
    'aligned-only': { type: 'boolean', default: false },
  },
});
const COLUMNS = ['zh', 'ja', 'ko', 'de', 'fr', 'es', 'pt', 'it'];
const LATIN = ['de', 'fr', 'es', 'pt', 'it', 'id', 'tr'];
const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

/** How often requests in English use a word. */
const english = new Map();
for (const line of lines(args.requests)) {
  for (const request of JSON.parse(line).requests) {
    const words = new Set(request.toLowerCase().match(/[a-z]+/g) ?? []);
    const isEnglish = /^[\x00-\x7f]*$/.test(request) && [...words].filter(isStopWord).length >= 2;
    if (isEnglish) for (const word of words) english.set(word, (english.get(word) ?? 0) + 1);
  }
}

/** English words, as WordNet has them. */
const inWordNet = new Set(
  ['noun', 'verb', 'adj', 'adv'].flatMap((kind) =>
    readFileSync(join(args.wordnet, `index.${kind}`), 'utf8')
      .split('\n')
      .map((line) => line.slice(0, line.indexOf(' '))),
  ),
);
/** Forms of English words count as they do. */
const isEnglish = (word) =>
  (english.get(word) ?? 0) >= 5 || inWordNet.has(word) || inWordNet.has(word.replace(/(?:s|es|ed|d|ing|ly)$/, ''));

/** `word → [english, share][]` of a language. */
const lists = new Map(LANGUAGES.map((language) => [language, new Map()]));
const hand = new Map(LANGUAGES.map((language) => [language, new Set()]));
if (!args['aligned-only'])
  for (const file of ['words.txt', 'more-words.txt']) {
    let columns = COLUMNS;
    let text;
    try {
      text = readFileSync(join(import.meta.dirname, file), 'utf8');
    } catch {
      continue;
    }
    for (const line of text.split('\n')) {
      const named = /^# columns: (.*)$/.exec(line);
      if (named) columns = named[1].split(' ');
      if (line === '' || line.startsWith('#')) continue;
      const [meant, ...cells] = line.split('|').map((cell) => cell.trim());
      for (const [at, cell] of cells.entries()) {
        for (const written of cell.split(',')) {
          const word = foldedWord(written.trim());
          if (word === '') continue;
          const list = lists.get(columns[at]);
          hand.get(columns[at]).add(word);
          const known = list.get(word) ?? [];
          // The first meaning counts in full, further ones less.
          if (!known.some(([other]) => other === meant) && known.length < 3)
            list.set(word, [...known, [meant.toLowerCase(), known.length === 0 ? 1 : 0.5]]);
        }
      }
    }
  }

if (!args['hand-only'])
  for (const language of LANGUAGES) {
    const list = lists.get(language);
    const found = new Map();
    for (const line of lines(join(args.aligned, `${language}.tsv`))) {
      const [written, meant, share, score, count] = line.split('\t');
      if (!found.has(written)) found.set(written, { count: Number(count), senses: new Map() });
      const { senses } = found.get(written);
      // Forms of one word count together, by the form that requests use most.
      const known = senses.get(stem(meant)) ?? { meant, share: 0, score: 0 };
      known.share += Number(share);
      known.score = Math.max(known.score, Number(score));
      if ((english.get(meant) ?? 0) > (english.get(known.meant) ?? 0)) known.meant = meant;
      senses.set(stem(meant), known);
    }
    for (const [written, { count, senses }] of found) {
      const word = foldedWord(written);
      if (list.has(word) || isSmallWord(language, word) || [...word].length < 2) continue;
      if (/^[a-z]+$/.test(word) && !LATIN.includes(language)) continue;
      const sure = [...senses.values()].filter(
        ({ score, share }) => score >= 0.2 && share >= 0.15 && (count >= 2 || score >= 0.4),
      );
      if (sure.length === 0) continue;
      const [first, second] = sure.sort((a, b) => b.score * b.share - a.score * a.share);
      if (isStopWord(first.meant)) continue;
      // The same word in both languages needs no entry.
      if (first.meant === word && second === undefined) continue;
      list.set(word, [
        [first.meant, 1],
        ...(second && second.share >= 0.2
          ? [[second.meant, Math.min(0.9, Math.round((second.share / first.share) * 10) / 10)]]
          : []),
      ]);
    }
  }

mkdirSync(args.out, { recursive: true });
const telltales = new Map();
for (const language of LANGUAGES) {
  const rows = [...lists.get(language)].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = rows
    .map(
      ([word, senses]) =>
        `${word}\t${senses.map(([meant, share]) => (share === 1 ? meant : `${meant}:${share}`)).join('|')}`,
    )
    .join('\n');
  writeFileSync(join(args.out, `${language}.tsv`), `${text}\n`);
  process.stdout.write(
    `${language}: ${rows.length} words, ${hand.get(language).size} by hand, ${Buffer.byteLength(text)} bytes\n`,
  );
  if (!LATIN.includes(language)) continue;
  for (const [word, senses] of rows) {
    if (
      word.length < 4 ||
      word.includes(' ') ||
      isEnglish(word) ||
      stem(word) === stem(senses[0][0].replaceAll(' ', ''))
    )
      continue;
    telltales.set(word, [...(telltales.get(word) ?? []), language]);
  }
}
const told = [...telltales]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([word, languages]) => `${word}\t${languages.join(' ')}`);
writeFileSync(join(args.out, 'telltales.tsv'), `${told.join('\n')}\n`);
process.stdout.write(`${told.length} telltales\n`);
