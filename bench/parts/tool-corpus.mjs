// Provides tools to measure with: synthetic ones, the same on every run, or read from files of JSON lines.
//
// A corpus is a Map of server name → { description, tools }, a tool being what `tools/list` shows.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { about, toMetadata } from '../../dist/catalog/listing.js';

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

/** A small generator with a seed (mulberry32), so that every run measures the same. */
export const randomOf = (seed) => {
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

/** Synthetic servers of about the size of real ones (a definition has some 100 tokens). */
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

/** Synthetic requests, as an agent would write them. */
export const syntheticQueries = (count) => {
  const random = randomOf(count);
  const pick = (words) => words[random(words.length)];
  return Array.from({ length: count }, () =>
    [pick(VERBS), 'a', pick(NOUNS), random(2) ? `in ${pick(AREAS)}` : `by ${pick(FIELDS)}`].join(' '),
  );
};

/** Words of people who do not know the tool's own word. */
const OTHER_WORDS = new Map(
  Object.entries({
    create: 'make',
    delete: 'get rid of',
    update: 'change',
    list: 'show every',
    search: 'look for',
    get: 'give me',
    send: 'mail out',
    cancel: 'call off',
    download: 'fetch',
    restore: 'bring back',
    assign: 'hand over',
    schedule: 'plan',
    folder: 'directory',
    invoice: 'bill',
    customer: 'client',
    meeting: 'appointment',
    image: 'picture',
    report: 'summary',
    deployment: 'rollout',
    alert: 'warning',
    secret: 'credential',
    ticket: 'support case',
  }),
);

/** Synthetic requests for a synthetic corpus, with the right tools: every one of that name in that area. */
export const syntheticJudged = (corpus, count) => {
  const random = randomOf(count);
  const found = new Map();
  const areaOf = (server) => server.split('-', 1)[0];
  for (const [server, { tools }] of corpus) {
    for (const { name } of tools) {
      const [verb, noun, ...rest] = name.split('_');
      if (rest.length > 0) continue;
      const said = (word) => OTHER_WORDS.get(word) ?? word;
      const query = `${said(verb)} a ${said(noun)} in ${areaOf(server)}`;
      if (!found.has(query)) found.set(query, []);
      found.get(query).push({ server, name, group: 0 });
    }
  }
  const needs = [...found].map(([query, relevant]) => ({ query, relevant, source: 'made up' }));
  return Array.from({ length: Math.min(count, needs.length) }, () => needs.splice(random(needs.length), 1)[0]);
};

/** Objects of a file of JSON lines, compressed or not. */
export const jsonLines = (file) => {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line)]));
};

/** The files at a path: itself, or those in the folder whose name contains `part`. */
const filesAt = (path, part) =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .filter((name) => name.includes(part))
        .map((name) => join(path, name))
    : [path];

/** Tools from files of `{server, name, description, inputSchema, serverDescription?}`, or `{server, tools}`. */
export const readCorpus = (path) => corpusOf(filesAt(path, '.tools.').flatMap(jsonLines));

/** Tools by server, from lines as `readCorpus` takes them. */
export const corpusOf = (lines) => {
  const corpus = new Map();
  for (const { server, serverDescription, serverInfo, tools, ...tool } of lines) {
    const about = serverDescription ?? serverInfo?.title;
    if (!corpus.has(server)) corpus.set(server, { description: about ?? undefined, tools: [] });
    corpus.get(server).tools.push(...(tools ?? [tool]).map(listed));
  }
  return corpus;
};

const listed = ({ name, title, description, inputSchema, annotations }) => ({
  name,
  ...(title && { title }),
  description: description ?? undefined,
  inputSchema: inputSchema ?? { type: 'object' },
  ...(annotations && { annotations }),
});

/** The first `count` tools of a corpus; with copies under other server names if it has fewer. */
export const resized = (corpus, count) => {
  const result = new Map();
  let left = count;
  for (let copy = 1; left > 0; copy++) {
    for (const [server, { description, tools }] of corpus) {
      if (left <= 0) break;
      const own = tools.slice(0, left);
      left -= own.length;
      result.set(copy === 1 ? server : `${server}-${copy}`, { description, tools: own });
    }
  }
  return result;
};

/** The lists of a corpus as the index takes them, made by the catalogue's own code. */
export const toLists = (corpus) =>
  [...corpus].map(([server, { description, tools }]) => {
    const toTool = toMetadata({ server }, { tools: [] }, { decide: () => ({ enabled: true, tags: [] }) });
    return { server, about: about({ description }, {}), metadata: tools.map(toTool) };
  });

/** Queries from files of `{query}`. */
export const readQueries = (path) =>
  filesAt(path, '.queries.')
    .flatMap(jsonLines)
    .map(({ query }) => query);
