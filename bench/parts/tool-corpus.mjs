// Tools to measure with: made up from word lists, the same on every run, or read from files of JSON lines.
//
// A corpus is a Map of server name → { description, tools }, a tool being what `tools/list` shows.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const VERBS =
  'create read update delete list search get send archive export import validate merge split convert render schedule cancel approve assign compare count download upload publish restore rotate scan sync translate'.split(
    ' ',
  );
const NOUNS =
  'issue ticket branch commit file folder document page table row column record invoice payment order customer contact message channel thread event meeting calendar reminder task project milestone build pipeline deployment container cluster secret key certificate metric alert dashboard report chart image video model dataset query index webhook subscription'.split(
    ' ',
  );
const AREAS =
  'cloud office finance support media research security devops sales travel weather health maps legal data storage'.split(
    ' ',
  );
const FIELDS =
  'id name title body owner repo path url limit offset since until state labels assignee format language region priority tags notify recursive'.split(
    ' ',
  );

/** A small generator with a seed (mulberry32), so that every run measures the same tools. */
const randomOf = (seed) => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below);
  };
};

const schemaOf = (random) => {
  const properties = {};
  for (let count = 1 + random(6); count > 0; count--) {
    const field = FIELDS[random(FIELDS.length)];
    properties[field] =
      random(6) === 0
        ? { type: 'array', items: { type: 'string' }, description: `All ${field} to consider` }
        : {
            type: random(4) === 0 ? 'integer' : 'string',
            description: `The ${field} of the ${NOUNS[random(NOUNS.length)]}`,
          };
  }
  return { type: 'object', properties, required: Object.keys(properties).slice(0, 2), additionalProperties: false };
};

/** Made-up servers with about the sizes of real ones (a definition has some 100 tokens). */
export const syntheticCorpus = (servers, tools) => {
  const random = randomOf(servers * 31 + tools);
  const pick = (words) => words[random(words.length)];
  const corpus = new Map();
  for (let at = 0; at < servers; at++) {
    const area = pick(AREAS);
    const own = new Map();
    const wanted = Math.floor(((at + 1) * tools) / servers) - Math.floor((at * tools) / servers);
    while (own.size < wanted) {
      const [verb, noun, other] = [pick(VERBS), pick(NOUNS), pick(NOUNS)];
      const taken = own.has(`${verb}_${noun}`);
      const name = taken ? `${verb}_${noun}_${other}_${own.size}` : `${verb}_${noun}`;
      const description = `${verb[0].toUpperCase()}${verb.slice(1)} a ${noun} in ${area}. Works on every ${other} the account may see; ${pick(VERBS)} it first when the ${pick(NOUNS)} is locked, and pass the ${pick(FIELDS)} to narrow the ${noun} down.`;
      own.set(name, { name, description, inputSchema: schemaOf(random) });
    }
    corpus.set(`${area}-${pick(NOUNS)}-${at}`, {
      description: `${area} ${pick(NOUNS)} and ${pick(NOUNS)} service`,
      tools: [...own.values()],
    });
  }
  return corpus;
};

/** Made-up needs, as an agent would put them. */
export const syntheticQueries = (count) => {
  const random = randomOf(count);
  const pick = (words) => words[random(words.length)];
  return Array.from({ length: count }, () =>
    [pick(VERBS), 'a', pick(NOUNS), random(2) ? `in ${pick(AREAS)}` : `by ${pick(FIELDS)}`].join(' '),
  );
};

const jsonLines = (file) => {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line)]));
};

/** The files meant by a path: itself, or those in the folder whose name has `part` in it. */
const filesAt = (path, part) =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.includes(part))
        .map((name) => join(path, name))
    : [path];

/** Tools from files of `{server, name, description, inputSchema, serverDescription?}`. */
export const readCorpus = (path) => {
  const corpus = new Map();
  for (const { server, name, description, inputSchema, serverDescription } of filesAt(path, '.tools.').flatMap(
    jsonLines,
  )) {
    if (!corpus.has(server)) corpus.set(server, { description: serverDescription, tools: [] });
    const { tools } = corpus.get(server);
    tools.push({ name, description: description ?? undefined, inputSchema: inputSchema ?? { type: 'object' } });
  }
  return corpus;
};

/** Queries from files of `{query}`. */
export const readQueries = (path) =>
  filesAt(path, '.queries.')
    .flatMap(jsonLines)
    .map(({ query }) => query);
