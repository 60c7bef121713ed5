// Makes registry entries and queries to measure with, the same on every run: names, descriptions and packages of the
// length that real ones have, words as common and as rare as in real texts, and a publisher with thousands of servers.
import { randomOf } from './tool-corpus.mjs';

const COMMON =
  'server mcp for and the with api data tools access your search manage read write query create list get from through integration automation agents ai models files documents projects tasks issues messages email calendar events users records tables database storage cloud web browser code repository search analytics reports metrics logs security payments invoices orders customers products weather maps travel news finance stocks crypto health images video audio music speech translation notes knowledge memory vector graph workflow deployment containers monitoring testing'.split(
    ' ',
  );
const SYLLABLES =
  'ba be bo ca ce co da di do fa fi ga go ha ji ka ki la lo ma mi na no pa po ra ri sa so ta to va vi wa xo ya zi'.split(
    ' ',
  );

/** `count` entries as the registry lists them. */
export const registryEntries = (count) => {
  const random = randomOf(count);
  const brand = () => Array.from({ length: 2 + random(3) }, () => SYLLABLES[random(SYLLABLES.length)]).join('');
  const brands = Array.from({ length: Math.ceil(count / 3) }, brand);
  // A few words are in most texts, most words in few.
  const word = () => COMMON[Math.floor((random(1000) / 1000) ** 2 * COMMON.length)];
  return Array.from({ length: count }, (_, at) => {
    const publisher = random(16) === 0 ? 'ai.aggregator' : `io.github.${brands[random(brands.length)]}`;
    const about = brands[random(brands.length)];
    const kind = word();
    const identifier = `@${about}/${kind}-mcp`;
    const description = `${about} ${kind}: ${Array.from({ length: 6 + random(8) }, word).join(' ')}`.slice(0, 100);
    return entryOf({
      name: `${publisher}/${about}-${kind}-${at}`,
      description,
      identifier,
      version: `1.${random(20)}.${random(9)}`,
    });
  });
};

/** One entry. */
export const entryOf = ({ name, description, identifier, version }, updatedAt = '2026-01-05T10:00:00Z') => ({
  server: {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name,
    description,
    repository: { url: `https://github.com/${name.slice(10)}`, source: 'github' },
    version,
    packages: [
      {
        registryType: 'npm',
        identifier,
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
        environmentVariables: [
          {
            name: 'API_KEY',
            description: 'The key of your account; see the settings page',
            isRequired: true,
            isSecret: true,
          },
        ],
      },
    ],
    remotes: [{ type: 'streamable-http', url: `https://mcp.${name.length}.example.com/mcp` }],
  },
  _meta: {
    'io.modelcontextprotocol.registry/official': {
      status: 'active',
      publishedAt: updatedAt,
      updatedAt,
      isLatest: true,
    },
  },
});

/** Queries as people write them, about servers that exist. */
export const registryQueries = (entries, count) => {
  const random = randomOf(count);
  return Array.from({ length: count }, () => {
    const words = entries[random(entries.length)].server.description.split(/[ :]+/);
    const from = random(Math.max(1, words.length - 4));
    return words.slice(from, from + 2 + random(4)).join(' ');
  });
};
