// Turns a set of judged queries into a set that needs one part of the search, by applying the rules of variations.mjs
// to every query they fit. Parts that need other tools than the sets have take them from a corpus.

import { readSchema } from '../../dist/search/schema-text.js';
import { nameKey } from '../../dist/search/tokenizer.js';
import { randomOf, readCorpus, toLists } from '../parts/tool-corpus.mjs';
import { corpusFiles } from './sets.mjs';
import * as rules from './variations.mjs';
import { writtenSet } from './written-sets.mjs';

const MOST_QUERIES = 400;

const keyOf = ({ server, name }) => JSON.stringify([server, name]);
const toolsIn = (lists) => lists.flatMap(({ about, metadata }) => metadata.map((tool) => ({ tool, about })));

const textOf = ({ server, name, title = '', description = '' }) => `${server} ${name} ${title} ${description}`;

/** The tool a query is for, where it is for one thing only. */
const onlyNeed = ({ relevant }) => {
  const good = relevant.filter(({ grade = 1 }) => grade > 0);
  const [first] = good;
  return good.every(({ group }) => group !== undefined && group === first.group) || good.length === 1
    ? first
    : undefined;
};

/** Every query of a set by a rule; `narrow` leaves of what answers it only what the tool's own server has. */
const varied =
  (key, rule, { narrow = false } = {}) =>
  (set) => {
    const known = new Map(toolsIn(set.lists).map((entry) => [keyOf(entry.tool), entry]));
    const words = set.queries.flatMap(({ query }) => rules.contentWords(query, 5).map(({ word }) => word));
    const queries = set.queries.flatMap((judged) => {
      const need = onlyNeed(judged);
      const entry = need && known.get(keyOf(need));
      if (entry === undefined) return [];
      const { tool, about } = entry;
      const query = rule(judged.query, randomOf(rules.seedOf(`${key} ${judged.query}`)), {
        words,
        about,
        server: tool.server,
        name: tool.name,
        text: textOf(tool),
        parameters: tool.inputSchema ? readSchema(tool.inputSchema).names : [],
      });
      if (query === undefined) return [];
      const relevant = narrow ? judged.relevant.filter(({ server }) => server === tool.server) : judged.relevant;
      return [{ ...judged, query, relevant }];
    });
    return { ...set, variation: key, queries };
  };

/** Every tool that bears a name in any spelling, as one need. */
const bearers = (set) => {
  const byKey = new Map();
  for (const { tool } of toolsIn(set.lists)) {
    const key = nameKey(tool.name);
    byKey.set(key, [...(byKey.get(key) ?? []), tool]);
  }
  return (name) =>
    byKey.get(nameKey(name)).map((tool) => ({ server: tool.server, name: tool.name, group: nameKey(name) }));
};

/** The names of tools that are asked for, as queries. */
const names = (set) => {
  const spelled = varied('name', rules.nameAlone)(set);
  const named = bearers(set);
  return {
    ...spelled,
    queries: spelled.queries.map((judged) => ({ ...judged, relevant: named(onlyNeed(judged).name) })),
  };
};

/** Each name with that of the query after it. */
const pairsOfNames = (set) => {
  const named = bearers(set);
  const plain = varied('names', (query, _, { name }) => (rules.spellings(name).length > 0 ? query : undefined))(set);
  return {
    ...plain,
    queries: plain.queries.flatMap((judged, at) => {
      const other = plain.queries[(at + 1) % plain.queries.length];
      const both = [judged, other].map((one) => onlyNeed(one).name);
      if (nameKey(both[0]) === nameKey(both[1]) || judged.source !== other.source) return [];
      const query = rules.twoNames(both, randomOf(rules.seedOf(`names ${judged.query}`)));
      return [{ ...judged, query, relevant: both.flatMap(named) }];
    }),
  };
};

/** Each request with one from elsewhere in the set: two things in one request. */
const pairsOfRequests = (set) => ({
  ...set,
  variation: 'acts',
  queries: set.queries.flatMap((judged, at) => {
    const other = set.queries[(at + Math.floor(set.queries.length / 2)) % set.queries.length];
    if (judged === other) return [];
    const random = randomOf(rules.seedOf(`acts ${judged.query}`));
    const query = rules.twoRequests([judged.query, other.query], random);
    const relevant = [judged, other].flatMap((one) => one.relevant.map((tool) => ({ group: keyOf(tool), ...tool })));
    // Both may have groups of the same number.
    const apart = relevant.map((tool, place) =>
      place < judged.relevant.length ? tool : { ...tool, group: `other ${tool.group}` },
    );
    const known = new Set(judged.relevant.map(keyOf));
    return other.relevant.some((tool) => known.has(keyOf(tool))) ? [] : [{ ...judged, query, relevant: apart }];
  }),
});

/** A word of the house for every tool that is asked for, given by the configuration as a keyword or a tag. */
const jargon = (set) => {
  const wordOf = (tool) => rules.madeUpWord(randomOf(rules.seedOf(keyOf(tool))));
  const asked = new Set(set.queries.flatMap((judged) => onlyNeed(judged) ?? []).map(keyOf));
  const taught = (tool) => {
    if (!asked.has(keyOf(tool))) return tool;
    const word = wordOf(tool);
    return rules.seedOf(word) % 2 === 0 ? { ...tool, keywords: [word] } : { ...tool, tags: [word] };
  };
  const spoken = varied('jargon', (query, random, { server, name }) =>
    rules.inJargon(query, random, { jargon: wordOf({ server, name }) }),
  )(set);
  return { ...spoken, lists: set.lists.map((list) => ({ ...list, metadata: list.metadata.map(taught) })) };
};

const COPIES = ['_v2', '_v3', '_legacy', '_beta', '_2'];

/** Every tool six times under similar names, any of which is right. */
const copies = (set) => {
  // Among very many tools the index would be unrealistically large.
  if (set.isScale) return undefined;
  const copied = (tool) => ['', ...COPIES].map((ending) => ({ ...tool, name: tool.name + ending }));
  return {
    ...set,
    variation: 'copies',
    lists: set.lists.map((list) => ({ ...list, metadata: list.metadata.flatMap(copied) })),
    queries: set.queries.map((judged) => ({
      ...judged,
      relevant: judged.relevant.flatMap((tool) => copied({ group: keyOf(tool), ...tool })),
    })),
  };
};

const corpusSet = (name, lists, queries) => {
  const random = randomOf(queries.length);
  const left = [...queries];
  const drawn = Array.from(
    { length: Math.min(MOST_QUERIES, left.length) },
    () => left.splice(random(left.length), 1)[0],
  );
  return drawn.length === 0 ? [] : [{ name, given: true, isScale: false, variation: name, lists, queries: drawn }];
};

const asRelevant = ({ server, name }, group) => ({ server, name, group });

/** What a tool is about, as its name ends. */
const thingOf = ({ name }) => (rules.wordsOfName(name).at(-1) ?? '').toLowerCase().replace(/s$/, '');

const byThing = (tools) => {
  const things = new Map();
  for (const tool of tools) things.set(thingOf(tool), [...(things.get(thingOf(tool)) ?? []), tool]);
  return [...things].filter(([thing]) => thing.length >= 3);
};

/** A thing and `read only`, or `destructive`, where one server has tools of both kinds for it. */
const wishes = (lists) =>
  lists.flatMap(({ server, metadata }) =>
    byThing(metadata).flatMap(([thing, tools]) =>
      Object.entries({ readOnlyHint: 'read only', destructiveHint: 'destructive' }).flatMap(([hint, wish]) => {
        const fit = tools.filter(({ annotations }) => annotations?.[hint] === true);
        if (fit.length === 0 || fit.length === tools.length) return [];
        const query = `${rules.spokenServer(server)} ${thing}, ${wish}`;
        return [{ query, relevant: fit.map((tool) => asRelevant(tool)) }];
      }),
    ),
  );

const VALUE = /^[A-Za-z][A-Za-z_-]{3,}$/;

/** A thing and a value that one of its tools permits and nothing else about that tool says. */
const permitted = (lists) =>
  byThing(toolsIn(lists).map(({ tool }) => tool)).flatMap(([thing, tools]) => {
    const permitting = new Map();
    for (const tool of tools) {
      const said = textOf(tool).toLowerCase();
      for (const value of new Set(tool.inputSchema ? readSchema(tool.inputSchema).values : [])) {
        if (VALUE.test(value) && !said.includes(value.toLowerCase()))
          permitting.set(value, [...(permitting.get(value) ?? []), tool]);
      }
    }
    // One for each thing: some have hundreds.
    const values = [...permitting].filter(([, fit]) => fit.length < tools.length);
    if (values.length === 0) return [];
    const [value, fit] = values[randomOf(rules.seedOf(thing))(values.length)];
    return [{ query: `${thing} ${value}`, relevant: fit.map((tool) => asRelevant(tool, 0)) }];
  });

/** The title of a tool that says more than its name. */
const titles = (lists) => {
  const bearing = new Map();
  for (const { tool } of toolsIn(lists)) {
    if (typeof tool.title !== 'string') continue;
    const words = rules.contentWords(tool.title).map(({ word }) => word.toLowerCase());
    if (words.length < 2 || words.every((word) => tool.name.toLowerCase().includes(word.slice(0, 4)))) continue;
    bearing.set(tool.title, [...(bearing.get(tool.title) ?? []), tool]);
  }
  return [...bearing].map(([query, tools]) => ({ query, relevant: tools.map((tool) => asRelevant(tool, 0)) }));
};

/** A piece of what a tool says in Chinese, Japanese or Korean. */
const pieces = (lists) => {
  const all = toolsIn(lists).map(({ tool }) => tool);
  const texts = all.filter(({ description }) => /[\u3040-\u9fff\uac00-\ud7af]{6}/u.test(description ?? ''));
  return texts.flatMap(({ description }) => {
    const query = rules.pieceOf(description, randomOf(rules.seedOf(description)));
    const fit = query === undefined ? [] : texts.filter((tool) => tool.description.includes(query));
    return fit.length === 0 ? [] : [{ query, relevant: fit.map((tool) => asRelevant(tool, 0)) }];
  });
};

/**
 * What asks for a part: `of(set)` gives a set, or undefined; `from(corpus)` gives sets of their own; `written` names one that
 * was written by hand.
 */
export const VARIATIONS = {
  typo: { says: 'one word misspelt', of: varied('typo', rules.withTypo) },
  unfinished: { says: 'the last word not finished', of: varied('unfinished', rules.unfinished) },
  value: { says: 'with a value that has nothing to do with it', of: varied('value', rules.withValue) },
  server: { says: 'with the server named', of: varied('server', rules.withServer, { narrow: true }) },
  about: { says: "with two words of the server's description", of: varied('about', rules.withAbout, { narrow: true }) },
  parameter: { says: 'with a parameter named', of: varied('parameter', rules.withParameter) },
  words: { says: 'one word in other words', of: varied('words', rules.inOtherWords) },
  form: { says: 'one word in another form', of: varied('form', rules.inAnotherForm) },
  joined: { says: 'with the name as one word', of: varied('joined', rules.withJoinedName) },
  name: { says: 'nothing but a name, in any spelling', of: names },
  names: { says: 'two names', of: pairsOfNames },
  jargon: { says: 'one word as the configuration has it', of: jargon },
  copies: { says: 'every tool there six times', of: copies },
  wish: { says: 'a thing, read only or destructive', from: wishes },
  permitted: { says: 'a thing and a value it may have', from: permitted },
  title: { says: "a tool's title", from: titles },
  piece: { says: 'a piece of a text in CJK', from: pieces },
  acts: { says: 'two requests in one', of: pairsOfRequests },
  several: { says: 'several things, written by hand', written: 'several-acts' },
  concrete: { says: 'a concrete thing says it, written by hand', written: 'concrete-things' },
  plain: { says: 'an act and its object, written by hand', written: 'plain-acts' },
  one: { says: 'one thing that reads like several, written by hand', written: 'one-act' },
};

/** The sets that ask for a part: one for each given set that it fits, or those of the corpus. */
export const createVariations = ({ sets, corpus }) => {
  const files = new Map();
  const listsOf = (file) => {
    if (!files.has(file)) files.set(file, toLists(readCorpus(file)));
    return files.get(file);
  };
  const known = new Map();
  const make = ({ of, from, written }) =>
    written !== undefined
      ? [writtenSet(written)]
      : from === undefined
        ? sets.flatMap((set) => of(set) ?? [])
        : (corpus === undefined ? [] : corpusFiles(corpus)).flatMap((file) =>
            corpusSet(file, listsOf(file), from(listsOf(file))),
          );
  return (key) => {
    if (!known.has(key))
      known.set(
        key,
        make(VARIATIONS[key]).filter(({ queries }) => queries.length > 0),
      );
    return known.get(key);
  };
};
