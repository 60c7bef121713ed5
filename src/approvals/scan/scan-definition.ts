/**
 * Scans every string of a tool definition for signs of an attack. Pure, bounded and in linear time. A finding informs a
 * person; it approves and refuses nothing.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { ToolDefinition } from '../../core/types.ts';
import { shorten } from '../../text/plain-text.ts';
import { pointerPart, quoted } from '../definition-diff.ts';
import { hiddenSigns, type Sign, selectorText, tagText } from './hidden-signs.ts';
import { KnownNames, mixesAlphabets } from './known-names.ts';
import { classesOf, PHRASE_BOOK, type PhraseRule, TERMS } from './scan-rules.ts';
import { wordsIn } from './words.ts';

/** What a rule means, for people. */
export const SCAN_RULES: Readonly<Record<Sign['rule'] | PhraseRule | 'look-alike-name', string>> = {
  'hidden-characters': 'has characters that people do not see',
  'terminal-sequence': 'has control sequences for terminals',
  'tag-characters': 'has text in tag characters, which only a model reads',
  'variation-selectors': 'has data in variation selectors',
  'look-alike-name': 'has a name that looks like another one',
  instruction: 'gives the model instructions beyond this tool',
  'other-tools': 'tells the model how to use other tools',
  exfiltration: 'asks for private data, or sends it away',
};

type ScanRule = keyof typeof SCAN_RULES;

/** One sign of an attack. */
export interface ScanFinding {
  readonly rule: ScanRule;
  /** JSON pointer into the definition. */
  readonly place: string;
  /** The text that was found, with invisible characters as escapes. */
  readonly excerpt: string;
}

const NO_NAMES = new KnownNames([]);
const ENCODED = /[A-Za-z0-9+/_-]{32,}={0,2}/g;
const NAME = /[A-Za-z][\w-]*/g;

/**
 * Scans one definition of a server.
 * @param names the tools of all servers, to find look-alikes and mentions
 */
export function scanDefinition(
  server: string,
  definition: ToolDefinition,
  names: KnownNames = NO_NAMES,
): ScanFinding[] {
  const findings: ScanFinding[] = [];
  const add = (rule: ScanRule, place: string, excerpt: string): void => {
    const isKnown = findings.some((one) => one.rule === rule && one.place === place);
    if (!isKnown && findings.length < LIMITS.approvals.findings)
      findings.push({
        rule,
        place,
        excerpt: shorten(quoted(excerpt.slice(0, LIMITS.approvals.excerpt)), LIMITS.approvals.excerpt),
      });
  };
  const { name } = definition;
  const alike = typeof name === 'string' ? names.lookAlike(name.slice(0, LIMITS.names.tool)) : undefined;
  if (alike !== undefined) add('look-alike-name', '/name', `${name} looks like ${alike}`);
  else if (typeof name === 'string' && mixesAlphabets(name.slice(0, LIMITS.names.tool)))
    add('look-alike-name', '/name', name);
  const texts = textsOf(definition);
  // Keys and values without blanks are the definition's own words, even if another server uses them as a name.
  const own = new Set(texts.map(({ text }) => text).filter((text) => !text.includes(' ')));
  const seen = new Set<string>();
  for (const { place, text } of texts) {
    if (findings.length >= LIMITS.approvals.findings) break;
    // Most texts are one plain word; a very long one may be encoded.
    if (/^[A-Za-z0-9]{0,31}$/.test(text) || seen.has(text)) continue;
    seen.add(text);
    for (const { rule, excerpt } of hiddenSigns(text)) add(rule, place, excerpt);
    for (const { rule, excerpt } of phrasesIn(text)) add(rule, place, excerpt);
    if (own.has(text)) continue;
    for (const [word] of text.matchAll(NAME)) {
      const servers = own.has(word) ? undefined : names.othersWith(word, server);
      if (servers !== undefined)
        add('other-tools', place, `${word} (${[...servers].slice(0, LIMITS.shown.named).join(', ')})`);
    }
  }
  return findings;
}

/** Finds phrases in a text and in what is encoded in it. */
function phrasesIn(text: string): { readonly rule: PhraseRule; readonly excerpt: string }[] {
  const unseen = /^[\x00-\x7f]*$/.test(text) ? [] : [tagText(text), selectorText(text)];
  return [text, ...unseen, ...decoded(text)].flatMap((layer) => {
    // The shortest phrase is a tag.
    if (layer.length < 6) return [];
    const { text: shown, words } = wordsIn(layer, classesOf, TERMS);
    return PHRASE_BOOK.find(words).map(({ rule, from, to }) => ({ rule, excerpt: shown.slice(from.at, to.end) }));
  });
}

/** Decodes base64 that holds readable text. */
function decoded(text: string): string[] {
  return [...text.matchAll(ENCODED)].flatMap(([run]) => {
    const bytes = Buffer.from(run.slice(0, LIMITS.approvals.encoded), 'base64').toString('utf8');
    return /^[\t\n\r\x20-\x7e\u00a0-\uffef]*$/.test(bytes) && bytes.includes(' ') ? [bytes] : [];
  });
}

/** One string. The place of a key is that of its value. */
interface DefinitionText {
  readonly place: string;
  readonly text: string;
}

/** Returns every string, keys included, with its JSON pointer, in the order of the definition. Bounded for any definition. */
function textsOf(definition: unknown): DefinitionText[] {
  const texts: DefinitionText[] = [];
  let room = LIMITS.approvals.scanned;
  let values = 0;
  const add = (place: string, text: string): void => {
    if (room <= 0) return;
    texts.push({ place, text: text.slice(0, room) });
    room -= text.length;
  };
  const walk = (value: unknown, place: string, depth: number): void => {
    values += 1;
    if (room <= 0 || values > LIMITS.approvals.values || depth > LIMITS.json.depth) return;
    if (typeof value === 'string') add(place, value);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, one] of Object.entries(value)) {
      const below = `${place}/${pointerPart(key)}`;
      if (!Array.isArray(value)) add(below, key);
      walk(one, below, depth + 1);
    }
  };
  walk(definition, '', 0);
  return texts;
}
