/**
 * Checks a tool's texts: nothing said, too much said, or text addressed to the model behind the user's back.
 * @module
 */
import { LIMITS } from '../core/limits.ts';
import { plainText } from '../text/plain-text.ts';
import { wordsOf } from './check-name.ts';
import type { Breach, LintedTool } from './rules.ts';

const FILLERS = new Set(
  'a an the this that tool tools function functions method api for of to and or in on it its is does do will can you use used using stuff things something various allows lets helps provides with from by all some any given specified'.split(
    ' ',
  ),
);
const SAYS_NOTHING =
  /^(?:todo|tbd|fixme|n\/?a|none|null|undefined|no description(?: available| provided)?|description|placeholder|test|lorem ipsum.*)\.?$/i;

/** Reports a missing or vague description. */
export function checkDescription({ name, description }: LintedTool): Breach[] {
  const text = plainText(description ?? '', LIMITS.text.lintedText).trim();
  if (text === '') return [['description-missing']];
  if (SAYS_NOTHING.test(text)) return [['description-vague', text]];
  const said = wordsOf(text.slice(0, 300)).filter((word) => !FILLERS.has(word));
  if (said.length === 0) return [['description-vague', text.slice(0, 60)]];
  const named = new Set(wordsOf(name).map(stemOf));
  if (said.some((word) => !named.has(stemOf(word)))) return [];
  // A description of two or more words, such as "Delete a droplet", at least says how the words relate.
  return [[said.length === 1 ? 'description-vague' : 'description-repeats-name', text.slice(0, 60)]];
}

/** Reduces a word to a crude stem. */
const stemOf = (word: string): string => word.replace(/(?:ing|ed|es|s)$/, '').replace(/e$/, '');

/** Signs of text written for the model and hidden from people. */
const COMMANDS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\s(?:all\s|any\s|the\s|your\s|these\s|those\s){0,3}(?:previous|prior|above|earlier|preceding|other|system)\s(?:instructions?|prompts?|messages?|rules?|directions?|guidelines?)\b/i,
  /\b(?:do not|don't|never|without)\s(?:tell|inform|mention|reveal|disclose|show|notify|telling|informing|mentioning|notifying|asking|alerting)\b[^.\n]{0,40}\b(?:the\s)?user\b/i,
  /<\s?(?:system|hidden)\s?>/i,
  /\byou are now\b|\bnew instructions?:/i,
  /\b(?:before|prior to)\s(?:using|calling|invoking|running)\sany\s(?:other\s)?tools?\b/i,
];

/** Places where programs keep credentials. */
const KEY_PLACES: readonly RegExp[] = [
  /(?:~|\/home\/[\w.-]{1,64}|\$HOME)\/\.(?:ssh|aws|gnupg|netrc|cursor\/mcp\.json|claude\.json)\b|\bid_(?:rsa|ed25519)\b/i,
];

/** Signs of advertising. */
const PUSHES: readonly RegExp[] = [
  /\byou\s(?:must|should|have to)\s(?:always|ALWAYS)\b/i,
  /\balways\s(?:use|call|prefer|choose|invoke|run)\sthis\s(?:tool|function)?\b/i,
  /\b(?:use|prefer|choose)\sthis\s(?:tool\s)?(?:instead of|over)\s(?:any|all)\b/i,
  /\b(?:best|most powerful|only)\stool\sfor\b/i,
];

const HIDDEN = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069\u001b]|[\ufe00-\ufe0d\u{e0100}-\u{e01ef}]/u;

/** Reports text addressed to the model alone, in the description and in those of parameters. */
export function checkWords(texts: readonly { readonly where: string; readonly text: string }[]): Breach[] {
  const found = new Map<Breach[0], string[]>();
  const add = (rule: Breach[0], where: string) => {
    const places = found.get(rule) ?? [];
    found.set(rule, places);
    if (!places.includes(where)) places.push(where);
  };
  for (const { where, text: whole } of texts) {
    const text = whole.slice(0, LIMITS.text.lintedText);
    if (HIDDEN.test(text)) add('hidden-text', where);
    else if (plainText(text) !== text.replace(/[\u0085\u2028\u2029]/g, '\n')) add('invisible-characters', where);
    const folded = plainText(text).replace(/\s+/g, ' ');
    const quoted = (rule: Breach[0], patterns: readonly RegExp[]) => {
      const match = patterns.map((pattern) => pattern.exec(folded)?.[0]).find((text) => text !== undefined);
      if (match !== undefined) add(rule, `${where}: "${match.slice(0, 80).trim()}"`);
    };
    quoted('instruction-like', COMMANDS);
    quoted('credential-path', KEY_PLACES);
    // A parameter may well always be needed.
    if (where === 'description') quoted('pushy-description', PUSHES);
  }
  return [...found].map(([rule, where]) => [rule, ...where]);
}
