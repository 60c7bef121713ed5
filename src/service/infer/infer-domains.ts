/**
 * Infers the domains of a tool: `github` from the server's name, and `github.issues` with the tool's. Pure.
 * @module
 */
import { mainVerb, WEAK, withoutPrefix } from './infer-categories.ts';
import { nameWords, plural } from './name-words.ts';
import { VERBS } from './verbs.ts';

/**
 * Returns the domain of a server, from its name.
 * @example
 * extractPrimaryDomain('modelcontextprotocol/github'); // 'github'
 * extractPrimaryDomain('aws-s3-server'); // 'cloud.aws'
 */
export function extractPrimaryDomain(serverName: string): string {
  // `@owner/name` and `io.github.owner/name`; what follows a later `@` is an owner or a version.
  const parts = serverName.replace(/(?<=.)@.*$/s, '').split('/');
  for (const part of parts.reverse()) {
    const words = withoutNoise(nameWords(part));
    if (words.length > 0) return familyOf(words) ?? words.join('_');
  }
  return nameWords(serverName).join('_') || 'unknown';
}

/** Words that say that something is a server, not what it is about. */
const NOISE: ReadonlySet<string> = new Set(
  'adapter agent all ai app client com community connector core demo dev enhanced extension for full gateway integration io js local mcp mcps modelcontextprotocol my new node npm of official org plugin proxy pro py python remote sdk server servers service simple smithery sse stdio the tool tools toolkit ts typescript unofficial using with wrapper'.split(
    ' ',
  ),
);

/** Removes such words, and versions, from both ends. What comes before `mcp` is the name, if there is anything. */
function withoutNoise(all: readonly string[]): string[] {
  const words = all.map((word) => word.replace(/^mcp(?=[a-z]{3})|(?<=[a-z]{2})mcps?$/g, '') || word);
  const mark = words.findIndex((word) => word === 'mcp' || word === 'mcps');
  const meaning = (some: readonly string[]): string[] => {
    const isEnd = (word: string | undefined) => word !== undefined && (NOISE.has(word) || /^v\d$/.test(word));
    const left = [...some];
    while (isEnd(left[0])) left.shift();
    while (isEnd(left.at(-1)) || (left.length > 1 && /^\d$/.test(left.at(-1) ?? ''))) left.pop();
    return left.filter((word) => word !== 'mcp' && word !== 'mcps');
  };
  const before = meaning(words.slice(0, Math.max(mark, 0)));
  return before.length > 0 ? before : meaning(words);
}

/** Products that are known under several names, or that belong to a family. */
const FAMILIES: readonly (readonly [domain: string, names: string])[] = [
  ['cloud.aws', 'aws,amazon web services,s3,ec2,dynamodb,cloudwatch,cloudformation,bedrock'],
  ['cloud.azure', 'azure,aks,cosmosdb'],
  ['cloud.gcp', 'gcp,google cloud,gcloud,bigquery,gke,cloud run'],
  ['cloud.cloudflare', 'cloudflare'],
  ['cloud.digitalocean', 'digitalocean,digital ocean'],
  ['cloud.heroku', 'heroku'],
  ['github', 'github'],
  ['gitlab', 'gitlab'],
  ['microsoft365', 'ms 365,ms365,m365,microsoft 365,office 365,office365'],
  ['power_bi', 'powerbi,power bi'],
  ['powerpoint', 'powerpoint,ppt'],
  ['google_maps', 'google maps'],
  ['postgres', 'postgres,postgresql,pg'],
  ['mysql', 'mysql'],
  ['mongodb', 'mongodb,mongo'],
  ['sqlite', 'sqlite'],
  ['redis', 'redis'],
  ['supabase', 'supabase'],
  ['kubernetes', 'kubernetes,kubectl,k8s'],
  ['docker', 'docker'],
  ['slack', 'slack'],
  ['discord', 'discord'],
  ['telegram', 'telegram'],
  ['notion', 'notion'],
  ['linear', 'linear'],
  ['jira', 'jira'],
  ['confluence', 'confluence'],
  ['todoist', 'todoist'],
  ['clickup', 'clickup'],
  ['trello', 'trello'],
  ['asana', 'asana'],
  ['airtable', 'airtable'],
  ['hubspot', 'hubspot'],
  ['salesforce', 'salesforce'],
  ['stripe', 'stripe'],
  ['shopify', 'shopify'],
  ['gmail', 'gmail'],
  ['google_calendar', 'google calendar'],
  ['google_drive', 'google drive,gdrive'],
  ['google_sheets', 'google sheets,gsheets'],
  ['figma', 'figma'],
  ['spotify', 'spotify'],
  ['youtube', 'youtube'],
  ['linkedin', 'linkedin'],
  ['twitter', 'twitter,x twitter'],
  ['wordpress', 'wordpress'],
  ['ghost', 'ghost,ghostcms'],
  ['obsidian', 'obsidian'],
  ['sentry', 'sentry'],
  ['grafana', 'grafana'],
  ['filesystem', 'filesystem,file system'],
];

const BY_NAME: ReadonlyMap<string, string> = new Map(
  FAMILIES.flatMap(([domain, names]) => names.split(',').map((name) => [name, domain] as const)),
);

/** The first known product that the words name. */
function familyOf(words: readonly string[]): string | undefined {
  for (const at of words.keys()) {
    for (const length of [3, 2, 1]) {
      const domain = at + length <= words.length && BY_NAME.get(words.slice(at, at + length).join(' '));
      if (domain) return domain;
    }
  }
  return undefined;
}

/**
 * Returns what a tool is about, from its name; undefined if the name is only a verb. Words of the server's name are
 * left out.
 * @example
 * extractSubDomain('list_issues'); // 'issues'
 * extractSubDomain('get_pull_request'); // 'pull_requests'
 */
export function extractSubDomain(toolName: string, serverName = ''): string | undefined {
  const { primary, words: server } = readServer(serverName);
  const all = nameWords(toolName).filter((word, at) => !/.mcp$|^v\d$/.test(word) && !(at === 0 && word === 'api'));
  const nouns = nounsOf(withoutPrefix(all, server)) ?? nounsOf(all) ?? [];
  const last = nouns.pop();
  if (last === undefined) return undefined;
  const phrase = [...nouns.filter((word) => !server.has(word)), plural(last)].join('_');
  return phrase === plural(primary) || (server.has(phrase) && nameWords(serverName).length === 1) ? undefined : phrase;
}

interface ReadServer {
  readonly name: string;
  readonly primary: string;
  readonly words: ReadonlySet<string>;
}

/** The last server: its tools mostly come one after the other. */
let lastServer: ReadServer | undefined;

function readServer(name: string): ReadServer {
  if (lastServer?.name === name) return lastServer;
  const primary = extractPrimaryDomain(name);
  lastServer = { name, primary, words: new Set([...withoutNoise(nameWords(name)), ...primary.split(/[._]/)]) };
  return lastServer;
}

/** The nouns after the verb of a name, else those before it. */
function nounsOf(words: readonly string[]): string[] | undefined {
  const verb = mainVerb(words);
  const at = verb === undefined ? -1 : words.indexOf(verb);
  const after = nounsIn(words.slice(at + 1), at === 0);
  const before = words.slice(0, Math.max(at, 0));
  const nouns = after.length > 0 ? after : nounsIn(WEAK.has(before[0] ?? '') ? before.slice(1) : before, false);
  return nouns.length > 0 ? nouns : undefined;
}

const JOINTS: ReadonlySet<string> = new Set(
  'and as at by for from in into of on or per to using via with without'.split(' '),
);
const FILLERS: ReadonlySet<string> = new Set(
  'a active advanced all an available back basic batch bulk current detailed double existing forward full id ids latest left main multi multiple my new next quick random realtime recent right semantic semantically similar simple single smart specific the their this unified your'.split(
    ' ',
  ),
);
const EMPTY_NOUNS: ReadonlySet<string> = new Set('detail details id info information tool'.split(' '));
/** Words of a sub-domain. */
const NOUN_WORDS = 4;

/** The noun phrase at the start of some words: up to a preposition, without fillers and verbs around it. */
function nounsIn(words: readonly string[], isObject: boolean): string[] {
  const isOutside = (word: string): boolean => FILLERS.has(word) || JOINTS.has(word);
  const from = words.findIndex(
    (word, at) => !isOutside(word) && !(at < 2 && JOINTS.has(words[at - 1] ?? '') && VERBS.has(word)),
  );
  if (from < 0) return [];
  const rest = words.slice(from);
  const end = rest.findIndex((word) => JOINTS.has(word));
  const nouns = rest.slice(0, end < 0 ? rest.length : end).filter((word) => !FILLERS.has(word));
  while (nouns.length > 0 && (EMPTY_NOUNS.has(nouns.at(-1) ?? '') || (nouns.length > 1 && isVerb(nouns.at(-1)))))
    nouns.pop();
  if (nouns.length === 1 && isVerb(nouns[0]) && !(isObject && nouns[0] === 'list')) return [];
  return nouns.slice(-NOUN_WORDS);
}

const isVerb = (word: string | undefined): boolean => word !== undefined && ENDING_VERBS.has(word);
/** Verbs at the end of a name that are no part of a noun phrase. */
const ENDING_VERBS: ReadonlySet<string> = new Set(
  'add browse create delete execute find get insert list query read remove run search set update upload'.split(' '),
);

/**
 * Returns the domains of a tool, the widest first.
 * @example
 * inferDomains('github', 'list_issues'); // ['github', 'github.issues']
 */
export function inferDomains(serverName: string, toolName: string): string[] {
  const { primary } = readServer(serverName);
  const sub = extractSubDomain(toolName, serverName);
  return sub === undefined || sub === primary ? [primary] : [primary, `${primary}.${sub}`];
}
