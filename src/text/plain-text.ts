/**
 * Text from servers made safe to show: no control, bidi, zero-width or tag characters, no halves of characters, white
 * space folded where one line is wanted.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

// The one table of what shows nothing and can carry a hidden text or turn the visible one around: controls, everything
// that Unicode lets a reader ignore (zero-width, bidi, tags, fillers, selectors), annotation marks, controls of
// hieroglyphs, blanks that are no white space, what is no character at all, and lone halves of one. What emoji are joined
// and coloured with stays.
const UNSEEN =
  '(?![\\u200d\\ufe0e\\ufe0f])\\p{Default_Ignorable_Code_Point}|(?![\\t\\n\\r\\u0085])\\p{Cc}|[\\u2800\\ufff9-\\ufffb\\u{13430}-\\u{1343f}\\u{16fe4}\\u{1d159}]|\\p{Noncharacter_Code_Point}|\\p{Cs}';
const INVISIBLE = new RegExp(UNSEEN, 'gu');
const LINE_BREAK = /[\u0085\u2028\u2029]/g;
// A sequence ends with its line at the latest, so that a text and its lines are read alike.
const SEQUENCE =
  '\\u001b(?:\\[[0-9:;<=>?]{0,64}[ -/]{0,4}[@-~]|\\][^\\u0007\\u001b\\r\\n\\u0085\\u2028\\u2029]{0,2000}(?:\\u0007|\\u001b\\\\)?|[ -/]{0,4}[0-Z\\\\-~])|\\u009b[0-9:;<=>?]{1,64}[ -/]{0,4}[@-~]';
const TERMINAL_SEQUENCE = new RegExp(SEQUENCE, 'g');

// Emoji are joined and coloured with these, and some scripts join letters; anywhere else they hide something.
const JOINER = /[\u200d\ufe0e\ufe0f]/;
const SELECTOR = /((?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3))|[\ufe0e\ufe0f]/gu;
const ZERO_WIDTH_JOINER =
  /((?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})|(?<=(?!\ufe0e|\ufe0f)(?:\p{Mn}|\p{Mc}))\u200d(?=\p{Lo}))|\u200d/gu;

/** Everything that may be taken out of a text to make it plain; a secret may be written with it inside. */
export const HIDDEN = new RegExp(`(?:${SEQUENCE}|${UNSEEN}|${JOINER.source}){1,1000}`, 'gu');
/** The same without whole sequences: what stands inside one, such as a terminal's title, is a text, too. */
export const HIDDEN_SIGNS = new RegExp(`(?:${UNSEEN}|${JOINER.source}){1,1000}`, 'gu');
/** Marks of Markdown that a summary goes without. */
export const MARKS = /[`*_]{2,}|`/g;
const NOT_SHOWN = new RegExp(`${UNSEEN}|${JOINER.source}|${LINE_BREAK.source}`, 'gu');

/** The text with every sign that shows nothing written in another way, those of emoji and line ends included. */
export const replaceUnseen = (text: string, write: (sign: string) => string): string => text.replace(NOT_SHOWN, write);

/** Replaces joiners and selectors that join and colour nothing. */
const withoutStray = (text: string, instead: (sign: string) => string): string => {
  const unlessKept = (sign: string, kept: string | undefined) => kept ?? instead(sign);
  return JOINER.test(text) ? text.replace(SELECTOR, unlessKept).replace(ZERO_WIDTH_JOINER, unlessKept) : text;
};

/** Removes what a terminal or a reader would not show, and cuts to at most `maxChars`. */
export function plainText(text: string, maxChars = Number.POSITIVE_INFINITY): string {
  const cut = text.length > maxChars * 2 ? text.slice(0, maxChars * 2) : text;
  const shown = cut.replace(TERMINAL_SEQUENCE, '').replace(LINE_BREAK, '\n').replace(INVISIBLE, '');
  return shorten(
    withoutStray(shown, () => ''),
    maxChars,
  );
}

/**
 * A name or value with everything in it to be seen: what shows nothing is written as its number, `\\u{200b}`. For what has
 * to be repeated exactly; `execute_tool` accepts it in this form.
 */
export const visible = (text: string): string =>
  isPlain(text) ? text : withoutStray(text, numbered).replace(LINE_BREAK, numbered).replace(INVISIBLE, numbered);

const numbered = (sign: string): string => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;

/** Texts that are read and never repeated. */
const PROSE: ReadonlySet<string> = new Set(['description', 'summary', 'message', 'reason', 'title', '$comment']);
const ALL_SEEN = /^[\t\n\r\x20-\x7e]*$/;

/** A value as JSON would carry it, with every text in it to be seen, keys included: prose made plain, the rest `visible`. */
export function visibly(value: unknown, key = ''): unknown {
  if (typeof value === 'string') {
    if (ALL_SEEN.test(value)) return value;
    return PROSE.has(key) ? plainText(value) : visible(value);
  }
  if (Array.isArray(value)) return value.map((one) => visibly(one, key));
  if (typeof value !== 'object' || value === null) return value;
  // A number that keeps its digits, or a date, knows how to write itself.
  if ('toJSON' in value && typeof value.toJSON === 'function') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [visible(name), visibly(one, name)]));
}

/** Whether a text is what it looks like: `plainText` takes nothing out. */
export const isPlain = (text: string): boolean => plainText(text) === text;

const ASCII_NAME = /^[\x21-\x7e]*$/;

// Letters of other alphabets, and signs, that look like those names are written with.
const LOOK_ALIKES = new Map(
  Object.entries({
    ...pairs('аеорсухіјѕԁһӏԛԝѵгкмнтв', 'aeopcyxijsdhlqwvrkmhtb'),
    ...pairs('АВЕКМНОРСТУХІЈЅԌԚԜѴҮ', 'ABEKMHOPCTYXIJSGQWVY'),
    ...pairs('αικνορτυχγηω', 'aikvoptuxynw'),
    ...pairs('ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ABEZHIKMNOPTYX'),
    ...pairs('օոսցհյզԼՏՕ', 'onughjqLSO'),
    ...pairs('ıɩɪɑɡʏʀɴʜʟⲟⲣ', 'iiiagyrnhlop'),
    ...pairs('ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏴ', 'DRTiYAJEWMHYGhZbRWSVSLCPKB'),
    ...pairs('ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ', 'BPDTGKJCZFMNLSRVHWXYAEIOU'),
    ...pairs('‐‑‒–—―−⁃﹘⎯─', '-----------'),
    ...pairs('∶꞉ːˑ׃܃܄', ':::::::'),
    ...pairs('‿⁀⁔⸏ˍ▁⎽', '_______'),
    ...pairs('∕⁄╱⧸', '////'),
    ...pairs('═᐀゠꞊⹀', '====='),
  }),
);

function pairs(odd: string, plain: string): Record<string, string> {
  return Object.fromEntries(Array.from(odd, (char, at) => [char, plain[at] ?? char]));
}

/**
 * A name as a reader takes it: without what shows nothing, in plain letters where others only look like them, white space
 * folded. Two names that look the same have the same plain form; it is for comparing, not for calling.
 */
export function plainName(name: string): string {
  if (ASCII_NAME.test(name)) return name;
  const shown = plainText(name)
    // It would become a blank with a mark below.
    .replaceAll('\u2017', '_')
    .normalize('NFKC')
    .replace(/[\u200d\ufe0e\ufe0f]|\p{Emoji_Modifier}/gu, '')
    // Marks that make no letter of any alphabet with the one before.
    .replace(/(?<=[\x21-\x7e])[\p{Mn}\p{Me}]+/gu, '');
  const latin = Array.from(shown, (char) => LOOK_ALIKES.get(char) ?? char).join('');
  return latin.replace(/\s+/g, ' ').trim().normalize('NFC');
}

/** One line: plain text with white space folded. */
export function oneLine(text: string, maxChars: number): string {
  const folded = plainText(text, maxChars * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return shorten(folded, maxChars);
}

const COMMAND = /`anygpt mcp [^`]{1,300}`/;

/**
 * One line of advice of ours. One that is too long loses its middle: the command in it, which says what to do, stays whole.
 */
export function shortAdvice(text: string, maxChars: number): string {
  const line = oneLine(text, LIMITS.text.message);
  const [command] = line.length > maxChars ? (COMMAND.exec(line) ?? []) : [];
  if (command === undefined) return shorten(line, maxChars);
  const before = line.slice(0, line.indexOf(command)).trimEnd();
  const room = Math.max(maxChars - command.length - 1, MIN_BEFORE);
  return `${shorten(before, room)} ${command}`;
}

/** Enough to say what the command is for. */
const MIN_BEFORE = 40;

/** The first sentence of a description, as a summary of at most `maxChars`. */
export function firstSentence(description: string, maxChars = 100): string {
  const text = plainText(description, 2000).replace(/^[\s#>*-]+/, '');
  const paragraph = /^[^\n]*(?:\n(?!\s*\n|\s*[-*#])[^\n]*)?/.exec(text)?.[0] ?? text;
  const line = paragraph.replace(MARKS, '').replace(/\s+/g, ' ').trim();
  const end = /[.!?。！？](?=\s|$)/.exec(skipAbbreviations(line));
  const sentence = end ? line.slice(0, end.index) : line.replace(/[.:]$/, '');
  if (sentence.length <= maxChars) return sentence;
  const space = sentence.lastIndexOf(' ', maxChars - 1);
  return `${truncate(sentence, space > maxChars / 2 ? space : maxChars - 1)}…`;
}

// Same length, so that positions stay right.
const skipAbbreviations = (line: string): string =>
  line.replace(/\b(?:e\.g|i\.e|etc|vs|approx|incl)\./gi, (match) => '_'.repeat(match.length));

/** Cuts a text that is too long, and shows that with an ellipsis. */
export const shorten = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : maxChars < 1 ? '' : `${truncate(text, maxChars - 1)}…`;

/** Cuts between characters, never inside one. */
function truncate(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  const cut = text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
  return cut.replace(/[\u200d\ufe0e\ufe0f]+$/, '');
}
