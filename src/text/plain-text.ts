/**
 * Makes text from servers safe to show: removes control, bidi, zero-width and tag characters and half surrogate pairs,
 * and folds white space for single lines.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

// The one table of what shows nothing and can carry a hidden text or turn the visible one around: controls, everything
// that Unicode lets a reader ignore (zero-width, bidi, tags, fillers, selectors), annotation marks, controls of
// hieroglyphs, blanks that are no white space, what is no character at all, lone halves of one, and characters for private
// use, which fonts show as nothing or as anything. What emoji are joined and coloured with stays.
const UNSEEN =
  '(?![\\u200d\\ufe0e\\ufe0f])\\p{Default_Ignorable_Code_Point}|(?![\\t\\n\\r\\u0085])\\p{Cc}|[\\u2800\\ufff9-\\ufffb\\u{13430}-\\u{1343f}\\u{16fe4}\\u{1d159}]|\\p{Noncharacter_Code_Point}|\\p{Cs}|\\p{Co}';
const INVISIBLE = new RegExp(UNSEEN, 'gu');
const LINE_BREAK = /[\u0085\u2028\u2029]/g;
// A sequence ends with its line at the latest, so that a text and its lines are treated alike.
const SEQUENCE =
  '\\u001b(?:\\[[0-9:;<=>?]{0,64}[ -/]{0,4}[@-~]|\\][^\\u0007\\u001b\\r\\n\\u0085\\u2028\\u2029]{0,2000}(?:\\u0007|\\u001b\\\\)?|[ -/]{0,4}[0-Z\\\\-~])|\\u009b[0-9:;<=>?]{1,64}[ -/]{0,4}[@-~]';
const TERMINAL_SEQUENCE = new RegExp(SEQUENCE, 'g');

// These join and colour emoji, and join letters in some scripts; anywhere else they may hide something.
const JOINER = /[\u200d\ufe0e\ufe0f]/;
const SELECTOR = /((?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3))|[\ufe0e\ufe0f]/gu;
const ZERO_WIDTH_JOINER =
  /((?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})|(?<=(?!\ufe0e|\ufe0f)(?:\p{Mn}|\p{Mc}))\u200d(?=\p{Lo}))|\u200d/gu;

/** Matches characters that plain text must not contain. A secret may be written with them inside. */
export const HIDDEN = new RegExp(`(?:${SEQUENCE}|${UNSEEN}|${JOINER.source}){1,1000}`, 'gu');
/** Like `HIDDEN`, without whole sequences: the content of a sequence, such as a terminal's title, is text too. */
export const HIDDEN_SIGNS = new RegExp(`(?:${UNSEEN}|${JOINER.source}){1,1000}`, 'gu');
/** Markdown marks that a summary omits. */
export const MARKS = /[`*_]{2,}|`/g;
const NOT_SHOWN = new RegExp(`${UNSEEN}|${JOINER.source}|${LINE_BREAK.source}`, 'gu');

/** Replaces every character that shows nothing, including those of emoji and line ends. */
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
 * Makes every character of a name or value visible: one that shows nothing is written as its number, `\\u{200b}`. For
 * text that must be repeated exactly; `execute_tool` accepts this form.
 */
export const visible = (text: string): string =>
  isPlain(text) ? text : withoutStray(text.replace(LINE_BREAK, numbered).replace(INVISIBLE, numbered), numbered);

const numbered = (sign: string): string => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`;

/** Keys of texts that are read and never repeated. */
const PROSE: ReadonlySet<string> = new Set(['description', 'summary', 'message', 'reason', 'title', '$comment']);
const ALL_SEEN = /^[\t\n\r\x20-\x7e]*$/;

/** Makes every text of a JSON value visible, including keys: prose becomes plain, the rest `visible`. */
export function visibly(value: unknown, key = ''): unknown {
  if (typeof value === 'string') {
    if (ALL_SEEN.test(value)) return value;
    return PROSE.has(key) ? plainText(value) : visible(value);
  }
  if (Array.isArray(value)) return value.map((one) => visibly(one, key));
  if (typeof value !== 'object' || value === null) return value;
  // An exact number or a date serialises itself.
  if ('toJSON' in value && typeof value.toJSON === 'function') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [visible(name), visibly(one, name)]));
}

/** Tells whether a text is what it looks like: `plainText` removes nothing. */
export const isPlain = (text: string): boolean => plainText(text) === text;

const ASCII_NAME = /^[\x21-\x7e]*$/;

// Letters of other alphabets, and signs, that look like ASCII characters of names.
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
 * Returns a name as a reader takes it: without invisible characters, look-alike letters replaced by plain ones, white
 * space folded. Names that look the same have the same plain form. Use it to compare, not to call.
 */
export function plainName(name: string): string {
  if (ASCII_NAME.test(name)) return name;
  const shown = plainText(name)
    // NFKC would turn it into a blank with a mark below.
    .replaceAll('\u2017', '_')
    .normalize('NFKC')
    .replace(/[\u200d\ufe0e\ufe0f]|\p{Emoji_Modifier}/gu, '')
    // Combining marks that form no letter with the preceding character.
    .replace(/(?<=[\x21-\x7e])[\p{Mn}\p{Me}]+/gu, '');
  const latin = Array.from(shown, (char) => LOOK_ALIKES.get(char) ?? char).join('');
  return latin.replace(/\s+/g, ' ').trim().normalize('NFC');
}

/** Returns one line: plain text with white space folded. */
export function oneLine(text: string, maxChars: number): string {
  const folded = plainText(text, maxChars * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return shorten(folded, maxChars);
}

const COMMAND = /`anygpt mcp [^`]{1,300}`/;

/**
 * Returns one line of our own advice. If it is too long, its middle is cut: the command in it, which says what to do,
 * stays whole.
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

/** Returns the first sentence of a description, as a summary of at most `maxChars`. */
export function firstSentence(description: string, maxChars = LIMITS.text.sentence): string {
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

/** Cuts a text that is too long and marks the cut with an ellipsis. */
export const shorten = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : maxChars < 1 ? '' : `${truncate(text, maxChars - 1)}…`;

/** Cuts between characters, never inside one. */
function truncate(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  const cut = text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
  return cut.replace(/[\u200d\ufe0e\ufe0f]+$/, '');
}
