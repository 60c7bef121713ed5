// Rewrites a request as another person might write it: misspelt, unfinished, with a value in it, with its server named.
// Every rule is pure: random numbers come in as `random(below)`, and undefined means that a rule does not fit the
// request. Nothing here reads a file or needs a build.

/** Too common to be what a request is about. */
const COMMON = new Set(
  'about after again also another before being below between could does doing during each every from have here into just like list make many more most much need only other over please same several should show some such tell than that their them then there these they this those through under until using very want what when where which while will with without would your'.split(
    ' ',
  ),
);

/** A word that stands by itself: no value, no placeholder, no identifier. */
const PLAIN_WORD = /(?<![^\s(])[A-Za-z]+(?=[\s,.;:?!)]|$)/g;

/** The words of a request that say what it is about, with where they stand. */
export const contentWords = (query, shortest = 4) =>
  [...query.matchAll(PLAIN_WORD)]
    .map(({ 0: word, index }) => ({ word, index }))
    .filter(({ word }) => word.length >= shortest && !COMMON.has(word.toLowerCase()));

const pick = (items, random) => items[random(items.length)];
const replaced = (query, { word, index }, other) => query.slice(0, index) + other + query.slice(index + word.length);
const inCaseOf = (word, other) =>
  /^[A-Z]/.test(word) ? other.charAt(0).toUpperCase() + other.slice(1) : other.toLowerCase();

/** Keys beside each other on a keyboard. */
const ROWS = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const besideOf = (letter) => {
  const row = ROWS.find((keys) => keys.includes(letter)) ?? '';
  const at = row.indexOf(letter);
  return [row[at - 1], row[at + 1]].filter((key) => at >= 0 && key !== undefined);
};

/** The ways to mistype a word once, its first letter excepted: two letters swapped, one dropped, doubled or the next key. */
export const misspellings = (word) => {
  const found = new Set();
  for (let at = 1; at < word.length; at++) {
    const [before, letter, after] = [word.slice(0, at), word[at], word.slice(at + 1)];
    if (after !== '') found.add(before + after[0] + letter + after.slice(1));
    found.add(before + after);
    found.add(before + letter + letter + after);
    for (const key of besideOf(letter.toLowerCase())) found.add(before + key + after);
  }
  found.delete(word);
  return [...found];
};

/** One word misspelt. */
export const withTypo = (query, random) => {
  const words = contentWords(query, 5);
  if (words.length === 0) return undefined;
  const chosen = pick(words, random);
  return replaced(query, chosen, pick(misspellings(chosen.word), random));
};

/** Still being typed: the last word that says something is cut to at least four letters, and what follows it is not there yet. */
export const unfinished = (query, random) => {
  const last = contentWords(query, 6).at(-1);
  // What is left must still say what is wanted.
  if (last === undefined || contentWords(query.slice(0, last.index)).length === 0) return undefined;
  return query.slice(0, last.index) + last.word.slice(0, 4 + random(last.word.length - 5));
};

/** A value in the request that has nothing to do with the tool; `words` are what it is made of. */
export const withValue = (query, random, { words }) => {
  if (words.length === 0) return undefined;
  const some = (count) => Array.from({ length: count }, () => pick(words, random).toLowerCase());
  const value = pick(
    [
      () => `"${some(3).join(' ')}"`,
      () => `'${some(2).join(' ')}'`,
      () => `/home/ana/${some(2).join('/')}.md`,
      () => `https://example.com/${some(2).join('/')}?id=${some(1)[0]}`,
      () => `<${some(2).join('-')}>`,
      () => `${some(2).join('.')}@example.com`,
    ],
    random,
  )();
  return `${query.replace(/[.?!\s]+$/, '')} ${pick(['for', 'with', 'named', 'at'], random)} ${value}`;
};

/** What people call a server: without scope, and without saying that it is one. */
export const spokenServer = (server) =>
  server
    .replace(/^@[^/]*\//, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !/^(?:mcp|server|mcpserver)$/i.test(word))
    .join(' ');

/** The server named. */
export const withServer = (query, random, { server }) => {
  const name = spokenServer(server);
  if (name === '' || query.toLowerCase().includes(name.toLowerCase())) return undefined;
  const bare = query.replace(/[.?!\s]+$/, '');
  return pick([`${bare} in ${name}`, `${bare} with ${name}`, `${name}: ${bare}`], random);
};

/** Words of one text that another has not, lower case, each once. */
const wordsBeyond = (text, known) => {
  const lower = known.toLowerCase();
  const words = contentWords(text, 4).map(({ word }) => word.toLowerCase());
  // Its first four letters stand for all its forms.
  return [...new Set(words)].filter((word) => !lower.includes(word.slice(0, 4)));
};

/** Two words that only the server's description has. */
export const withAbout = (query, random, { about, text }) => {
  const words = wordsBeyond(about, `${text} ${query}`);
  if (words.length < 2) return undefined;
  const first = random(words.length - 1);
  return `${query.replace(/[.?!\s]+$/, '')}, ${words[first]} ${words[first + 1]}`;
};

/** The words of an identifier. */
export const wordsOfName = (name) =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

/** One of the tool's parameters. */
export const withParameter = (query, random, { parameters }) => {
  const lower = query.toLowerCase();
  const names = parameters.map((name) => wordsOfName(name).join(' ').toLowerCase());
  const fit = names.filter((name) => name.length >= 4 && !lower.includes(name));
  return fit.length === 0 ? undefined : `${query.replace(/[.?!\s]+$/, '')} by ${pick(fit, random)}`;
};

/** Everyday words for the same thing. */
const SAME = [
  'delete remove erase',
  'get fetch retrieve',
  'show display view',
  'create make add',
  'update modify change edit',
  'search find locate',
  'send submit post',
  'run execute launch',
  'stop halt cancel',
  'copy duplicate clone',
  'move transfer',
  'save store',
  'verify check validate',
  'analyze examine inspect',
  'folder directory',
  'picture image photo',
  'movie film',
  'repository repo',
  'issue ticket bug',
  'email mail',
  'website webpage site',
  'database db',
  'configuration config settings',
  'documentation docs',
  'price cost',
  'users members accounts',
  'latest newest recent',
  'information details',
  'chart graph plot',
  'error failure',
  'permission access',
].map((group) => group.split(' '));

/** One word in other words. */
export const inOtherWords = (query, random) => {
  const fit = contentWords(query, 3).flatMap((found) => {
    const group = SAME.find((words) => words.includes(found.word.toLowerCase()));
    return group === undefined ? [] : [{ found, others: group.filter((word) => word !== found.word.toLowerCase()) }];
  });
  if (fit.length === 0) return undefined;
  const { found, others } = pick(fit, random);
  return replaced(query, found, inCaseOf(found.word, pick(others, random)));
};

/** One word in another form: its plural, or its singular. */
export const inAnotherForm = (query, random) => {
  const fit = contentWords(query, 5).filter(
    ({ word }) => /[^s]s$|[^aiousxyz]$/i.test(word) && !/(?:[cs]h|es)$/i.test(word),
  );
  if (fit.length === 0) return undefined;
  const found = pick(fit, random);
  return replaced(query, found, /s$/i.test(found.word) ? found.word.slice(0, -1) : `${found.word}s`);
};

/** The spellings of a name of at least two words. */
export const spellings = (name) => {
  const words = wordsOfName(name).map((word) => word.toLowerCase());
  if (words.length < 2) return [];
  const capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
  return [
    words.join('_'),
    words.join('-'),
    words.join(' '),
    words.map(capital).join(' '),
    words[0] + words.slice(1).map(capital).join(''),
  ];
};

/** Nothing but the tool's name, in one of its spellings. */
export const nameAlone = (_, random, { name }) => pick(spellings(name), random);

/** Two names in one request. */
export const twoNames = (names, random) => {
  const [first, second] = names;
  return pick(
    [`${first} ${second}`, `${first}, ${second}`, `call ${first} and then ${second} on what it gives`],
    random,
  );
};

const JOINTS = [' and ', ', then ', ' and then ', '. Then ', '. ', '; '];

/** Two requests as one. */
export const twoRequests = ([first, second], random) => {
  const joint = pick(JOINTS, random);
  const next = joint === '. ' ? second : second.charAt(0).toLowerCase() + second.slice(1);
  return `${first.trim().replace(/[.?!]+$/, '')}${joint}${next}`;
};

/** The tool's name as one word in small letters. */
export const withJoinedName = (query, _, { name }) => {
  const words = wordsOfName(name);
  return words.length < 2 ? undefined : `${query.replace(/[.?!\s]+$/, '')}, ${words.join('').toLowerCase()}`;
};

const SYLLABLES = 'ba ce di fo gu ka le mi no pu ra se ti vo zu'.split(' ');

/** A word that does not exist. */
export const madeUpWord = (random) => Array.from({ length: 4 }, () => pick(SYLLABLES, random)).join('');

/** One word said in the jargon of a house. */
export const inJargon = (query, random, { jargon }) => {
  const words = contentWords(query, 4);
  return words.length === 0 ? undefined : replaced(query, pick(words, random), jargon);
};

/** A piece of a text in Chinese, Japanese or Korean, six characters long. */
export const pieceOf = (text, random) => {
  const runs = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{6,}/gu) ?? [];
  if (runs.length === 0) return undefined;
  const characters = [...pick(runs, random)];
  const start = random(characters.length - 5);
  return characters.slice(start, start + 6).join('');
};

/** A seed for each text, so that no request changes with those before it. */
export const seedOf = (text) => {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  return hash >>> 0;
};
