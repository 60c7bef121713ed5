#!/usr/bin/env node
/**
 * Learns which English word a word of another language stands for, from translated texts of user interfaces.
 *
 *   node training/languages/align.mjs --sources DIR --out DIR
 *
 * DIR holds checkouts: `vscode` (microsoft/vscode-loc), `jupyter` (jupyterlab/language-packs), `chatwoot`, `rocket`
 * (RocketChat/Rocket.Chat), `excalidraw`. Out: LANGUAGE.tsv with `word, English word, share, how often`. The model of
 * alignment is IBM's first, in both directions.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isStopWord } from '../../dist/search/stop-words.js';
import { fold } from '../../dist/search/tokenizer.js';

const { values: args } = parseArgs({ options: { sources: { type: 'string' }, out: { type: 'string' } } });

/** How each project names a language. */
const LANGUAGES = {
  zh: { vscode: 'zh-hans', jupyter: 'zh-CN', chatwoot: 'zh_CN', rocket: 'zh', excalidraw: 'zh-CN' },
  ja: { vscode: 'ja', jupyter: 'ja-JP', chatwoot: 'ja', rocket: 'ja', excalidraw: 'ja-JP' },
  ko: { vscode: 'ko', jupyter: 'ko-KR', chatwoot: 'ko', rocket: 'ko', excalidraw: 'ko-KR' },
  de: { vscode: 'de', jupyter: 'de-DE', chatwoot: 'de', rocket: 'de', excalidraw: 'de-DE' },
  fr: { vscode: 'fr', jupyter: 'fr-FR', chatwoot: 'fr', rocket: 'fr', excalidraw: 'fr-FR' },
  es: { vscode: 'es', jupyter: 'es-ES', chatwoot: 'es', rocket: 'es', excalidraw: 'es-ES' },
  pt: { vscode: 'pt-BR', jupyter: 'pt-BR', chatwoot: 'pt_BR', rocket: 'pt-BR', excalidraw: 'pt-BR' },
  it: { vscode: 'it', jupyter: 'it-IT', chatwoot: 'it', rocket: 'it', excalidraw: 'it-IT' },
  ru: { vscode: 'ru', jupyter: 'ru-RU', chatwoot: 'ru', rocket: 'ru', excalidraw: 'ru-RU' },
  id: { jupyter: 'id-ID', chatwoot: 'id', rocket: 'id', excalidraw: 'id-ID' },
  tr: { vscode: 'tr', jupyter: 'tr-TR', chatwoot: 'tr', rocket: 'tr', excalidraw: 'tr-TR' },
  ar: { jupyter: 'ar-SA', chatwoot: 'ar', rocket: 'ar', excalidraw: 'ar-SA' },
  hi: { jupyter: 'hi-IN', chatwoot: 'hi', rocket: 'hi-IN', excalidraw: 'hi-IN' },
};

const json = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) : {});

/** All texts of a file by their path in it. */
function flatten(value, path = '', out = new Map()) {
  if (typeof value === 'string') out.set(path, value);
  else if (value !== null && typeof value === 'object')
    for (const [key, inner] of Object.entries(value)) flatten(inner, `${path}\n${key}`, out);
  return out;
}

const both = (english, other) =>
  [...english].flatMap(([key, text]) => (other.has(key) ? [[text, other.get(key)]] : []));
const files = (folder) => (existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String).sort() : []);

/** The made-up language of Visual Studio Code is English in disguise. */
const DISGUISE = 'Ææþßçðëïñøµ§ÐÞÇËÏÑØ£ÜÝÿ';
const BENEATH = 'AabBcdeinousDBCEINOLUYy';
const undisguise = (text) => [...text].map((letter) => BENEATH[DISGUISE.indexOf(letter)] ?? letter).join('');

const SOURCES = {
  vscode(folder, language) {
    const at = (name) => join(folder, 'i18n', `vscode-language-pack-${name}`, 'translations');
    return files(at(language))
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => both(flatten(json(join(at('qps-ploc'), file))), flatten(json(join(at(language), file)))))
      .map(([english, other]) => [undisguise(english), other]);
  },
  jupyter(folder, language) {
    const at = join(folder, 'language-packs', `jupyterlab-language-pack-${language}`);
    return files(at)
      .filter((file) => file.endsWith('.po'))
      .flatMap((file) => readPo(readFileSync(join(at, file), 'utf8')));
  },
  chatwoot(folder, language) {
    const at = join(folder, 'app/javascript/dashboard/i18n/locale');
    return files(join(at, 'en'))
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => both(flatten(json(join(at, 'en', file))), flatten(json(join(at, language, file)))));
  },
  rocket(folder, language) {
    const at = join(folder, 'packages/i18n/src/locales');
    return both(flatten(json(join(at, 'en.i18n.json'))), flatten(json(join(at, `${language}.i18n.json`))));
  },
  excalidraw(folder, language) {
    const at = join(folder, 'packages/excalidraw/locales');
    return both(flatten(json(join(at, 'en.json'))), flatten(json(join(at, `${language}.json`))));
  },
};

function readPo(text) {
  const unquote = (block) => [...block.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, inner]) => inner).join('');
  return [...text.matchAll(/^msgid ((?:".*"\s*)+)^msgstr ((?:".*"\s*)+)/gm)].map(([, id, string]) => [
    unquote(id),
    unquote(string),
  ]);
}

const clean = (text) =>
  text
    .replace(/\{\{[^}]*\}\}|\{[^}]*\}|%[sd]|%\([^)]*\)[sd]|&&|<[^>]*>|`[^`]*`|__\w+__|\\[nt]|https?:\S+|:\w+:/g, ' ')
    .replaceAll('&', '')
    .slice(0, 240);

const englishWords = (text) =>
  (
    fold(text)
      .toLowerCase()
      .match(/[a-z]+(?:'[a-z]+)?/g) ?? []
  ).slice(0, 24);

const JOSA = /(?:에서|에게|으로|까지|부터|처럼|보다|이나|라고|하고|[을를이가은는에의와과도만로])$/u;
const ENDING =
  /(?:하십시오|하시겠습니까|하세요|합니다|했습니다|하려면|하려는|하도록|하거나|하지|하는|하기|하여|하고|해야|할|한|함|됩니다|되었습니다|되지|되는|된|될|됨|시킵니다|입니다|니다|습니다)$/u;

const segmenters = new Map();
/** The words of a text. */
export function wordsOf(text, language) {
  const folded = fold(text).toLowerCase();
  if (language === 'zh' || language === 'ja') {
    if (!segmenters.has(language)) segmenters.set(language, new Intl.Segmenter(language, { granularity: 'word' }));
    return [...segmenters.get(language).segment(folded)]
      .filter(({ isWordLike, segment }) => isWordLike && /\p{L}/u.test(segment))
      .map(({ segment }) => segment)
      .slice(0, 32);
  }
  const words = folded.match(/[\p{L}\p{M}]+/gu) ?? [];
  const short = language === 'ko' ? words.map((word) => stripKorean(word)) : words;
  return short.filter((word) => word.length > 1).slice(0, 32);
}

function stripKorean(word) {
  const noun = word.replace(ENDING, '');
  if (noun !== word && noun.length > 0) return noun;
  const bare = word.replace(JOSA, '');
  return bare.length >= 2 ? bare : word;
}

/** IBM model 1: how likely each word of `to` is, for each word of `from`. */
function align(pairs, from, to, rounds = 6) {
  let table = new Map();
  for (let round = 0; round < rounds; round++) {
    const counts = new Map();
    for (const pair of pairs) {
      const sources = [...pair[from], ''];
      for (const target of pair[to]) {
        let total = 0;
        const shares = sources.map((source) => {
          const share = round === 0 ? 1 : (table.get(source)?.get(target) ?? 1e-9);
          total += share;
          return share;
        });
        sources.forEach((source, at) => {
          let row = counts.get(source);
          if (row === undefined) {
            row = new Map();
            counts.set(source, row);
          }
          row.set(target, (row.get(target) ?? 0) + shares[at] / total);
        });
      }
    }
    for (const row of counts.values()) {
      let sum = 0;
      for (const count of row.values()) sum += count;
      for (const [target, count] of row) {
        if (count / sum < 1e-4) row.delete(target);
        else row.set(target, count / sum);
      }
    }
    table = counts;
  }
  return table;
}

mkdirSync(args.out, { recursive: true });
for (const [language, names] of Object.entries(LANGUAGES)) {
  const seen = new Set();
  const pairs = [];
  for (const [source, name] of Object.entries(names)) {
    for (const [english, other] of SOURCES[source](join(args.sources, source), name)) {
      if (english === other || english === '' || other === '') continue;
      const pair = [wordsOf(clean(other), language), englishWords(clean(english))];
      const key = JSON.stringify(pair);
      if (pair[0].length === 0 || pair[1].length === 0 || seen.has(key)) continue;
      seen.add(key);
      pairs.push(pair);
    }
  }
  const forth = align(pairs, 0, 1);
  const back = align(pairs, 1, 0);
  const counts = new Map();
  for (const [words] of pairs) for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const rows = [];
  for (const [word, row] of forth) {
    if (word === '' || /^[a-z]$/.test(word)) continue;
    const found = [...row]
      .map(([english, share]) => [english, share, Math.sqrt(share * (back.get(english)?.get(word) ?? 0))])
      .filter(([english, , score]) => score > 0.05 && !isStopWord(english) && english.length > 1)
      .sort((a, b) => b[2] - a[2])
      .slice(0, 3);
    for (const [english, share, score] of found)
      rows.push([word, english, share.toFixed(3), score.toFixed(3), counts.get(word)].join('\t'));
  }
  writeFileSync(join(args.out, `${language}.tsv`), `${rows.join('\n')}\n`);
  process.stdout.write(`${language}: ${pairs.length} pairs, ${rows.length} rows\n`);
}
