/**
 * Completes an unfinished command line. Names of servers and tools come from the configuration and the cache; nothing is
 * started.
 * @module
 */
import { LOG_LEVELS } from '../core/log.ts';
import type { ToolParameter } from '../core/types.ts';
import { EXPORT_FORMATS } from '../service/export/export-formats.ts';
import { plainText } from '../text/plain-text.ts';
import type { Command } from './command.ts';

/** One word that may come next. */
interface Word {
  readonly word: string;
  readonly about?: string | undefined;
}

/** A word, or a path for the shell to complete: the rest of the current word after this prefix. */
export type Candidate = Word | { readonly filesAfter: string };

/** The words that depend on the machine. */
export interface Vocabulary {
  readonly commands: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>>;
  clients(): Promise<readonly { readonly type: string; readonly title: string }[]>;
  servers(): Promise<readonly { readonly name: string; readonly description?: string | undefined }[]>;
  tools(server: string): Promise<readonly { readonly name: string; readonly summary: string }[]>;
  resources(server: string): Promise<readonly { readonly uri: string; readonly description?: string | undefined }[]>;
  parameters(server: string, tool: string): Promise<readonly ToolParameter[]>;
}

type Place = 'server' | 'tool' | 'resource' | 'pair' | 'client' | 'file' | 'argument-file' | readonly string[];

/** The arguments of each command, in order. The last one before `...` may be repeated. */
const PLACES: Readonly<Record<string, readonly (Place | '...')[]>> = {
  tools: ['server'],
  resources: ['server'],
  prompts: ['server'],
  read: ['server', 'resource'],
  get: ['server'],
  remove: ['server'],
  update: ['server', '...'],
  enable: ['server'],
  disable: ['server'],
  pending: ['server'],
  approve: ['server', 'tool'],
  lock: ['server', '...'],
  verify: ['server', '...'],
  inspect: ['server', 'tool'],
  execute: ['server', 'tool', 'pair', '...'],
  logs: ['server'],
  lint: ['server', '...'],
  doctor: ['server', '...'],
  export: ['server', '...'],
  config: [['show', 'validate', 'sources', 'reload']],
  cache: [['clear'], 'server'],
  token: [['create', 'list', 'revoke']],
  trust: ['file', '...'],
  install: ['client'],
  uninstall: ['client'],
  completion: [['bash', 'zsh', 'fish']],
};

/** The values of options. Those that differ by command have its name before them. */
const VALUES: Readonly<Record<string, Place>> = {
  server: 'server',
  expose: 'server',
  client: 'client',
  config: 'file',
  file: 'file',
  output: 'file',
  queries: 'file',
  args: 'argument-file',
  out: 'file',
  'tls-cert': 'file',
  'tls-key': 'file',
  'access-log': 'file',
  'init format': ['json', 'yaml', 'ts'],
  'export format': EXPORT_FORMATS,
  transport: ['stdio', 'http', 'sse'],
  'log-level': LOG_LEVELS,
};

/** What may replace the last word. */
export async function completionsOf(words: readonly string[], vocabulary: Vocabulary): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? '';
  const found = await allOf(words.slice(0, -1), current, vocabulary);
  return found.filter((candidate) => 'filesAfter' in candidate || isShowable(candidate.word, current));
}

/** Leaves out names that cannot be typed or that contain terminal sequences. */
const isShowable = (word: string, current: string): boolean =>
  word.startsWith(current) && word !== '' && plainText(word) === word && !/[\r\n\t]/.test(word);

async function allOf(
  before: readonly string[],
  current: string,
  vocabulary: Vocabulary,
): Promise<readonly Candidate[]> {
  const [first, ...others] = before;
  const names = Object.entries(vocabulary.commands).map(([word, { summary }]) => ({ word, about: summary }));
  if (first === undefined && 'mcp'.startsWith(current)) return [{ word: 'mcp', about: 'All commands' }];
  const [name, ...rest] = first === 'mcp' ? others : before;
  if (name === undefined) return [...names, { word: 'help', about: 'Show the help of a command' }];
  if (name === 'help') return rest.length === 0 ? names : [];
  const entry = Object.hasOwn(vocabulary.commands, name) ? vocabulary.commands[name] : undefined;
  if (entry === undefined) return [];
  const { options = {} } = await entry.load();
  return argumentsOf(name, rest, current, options, vocabulary);
}

async function argumentsOf(
  command: string,
  before: readonly string[],
  current: string,
  options: NonNullable<Command['options']>,
  vocabulary: Vocabulary,
): Promise<readonly Candidate[]> {
  const positionals: string[] = [];
  let pending: string | undefined;
  let ended = false;
  for (const word of before) {
    if (pending !== undefined) pending = undefined;
    else if (!ended && word === '--') ended = true;
    else if (!ended && word.startsWith('-')) pending = valueOption(word, options);
    else positionals.push(word);
  }
  const valuesOf = (option: string): Place => VALUES[`${command} ${option}`] ?? VALUES[option] ?? [];
  if (pending !== undefined) return at(valuesOf(pending), current, [], vocabulary);
  const [option, written] = /^--([\w-]+)=(.*)$/s.exec(current)?.slice(1) ?? [];
  if (!ended && option !== undefined) {
    const values = await at(valuesOf(option), written ?? '', [], vocabulary);
    return values.map((each) =>
      'filesAfter' in each
        ? { filesAfter: `--${option}=${each.filesAfter}` }
        : { ...each, word: `--${option}=${each.word}` },
    );
  }
  if (!ended && current.startsWith('-'))
    return [...Object.keys(options), 'help'].map((name) => ({ word: `--${name}` }));
  const places = PLACES[command] ?? [];
  const repeats = places.at(-1) === '...';
  const place = places[positionals.length] ?? (repeats ? '...' : undefined);
  return at((place === '...' ? places.at(-2) : place) as Place | undefined, current, positionals, vocabulary);
}

/** The option whose value is the next word. */
function valueOption(word: string, options: NonNullable<Command['options']>): string | undefined {
  if (word.includes('=')) return undefined;
  const name = word.startsWith('--')
    ? word.slice(2)
    : Object.keys(options).find((key) => options[key]?.short === word.slice(1));
  return name !== undefined && Object.hasOwn(options, name) && options[name]?.type === 'string' ? name : undefined;
}

async function at(
  place: Place | undefined,
  current: string,
  positionals: readonly string[],
  vocabulary: Vocabulary,
): Promise<readonly Candidate[]> {
  if (place === undefined) return [];
  if (place === 'file') return [{ filesAfter: '' }];
  if (place === 'argument-file') return current.startsWith('@') ? [{ filesAfter: '@' }] : [];
  if (place === 'client') return (await vocabulary.clients()).map(({ type, title }) => ({ word: type, about: title }));
  if (place === 'server') return serverWords(current, vocabulary);
  if (place === 'tool') {
    const tools = await toolWords(positionals[0] ?? '', '', vocabulary);
    return tools.length > 0 ? tools : pairWords(positionals, current, vocabulary);
  }
  if (place === 'resource') {
    const resources = await vocabulary.resources(positionals[0] ?? '');
    return resources.map(({ uri, description }) => ({ word: uri, about: description }));
  }
  if (place === 'pair') return pairWords(positionals, current, vocabulary);
  return place.map((word) => ({ word }));
}

/** A word with a colon names a server and its tool. */
async function serverWords(current: string, vocabulary: Vocabulary): Promise<readonly Candidate[]> {
  const servers = await vocabulary.servers();
  const owner = servers.find(({ name }) => current.startsWith(`${name}:`));
  if (owner !== undefined) return toolWords(owner.name, `${owner.name}:`, vocabulary);
  return servers.map(({ name, description }) => ({ word: name, about: description }));
}

const toolWords = async (server: string, prefix: string, vocabulary: Vocabulary): Promise<readonly Candidate[]> =>
  (await vocabulary.tools(server)).map(({ name, summary }) => ({ word: prefix + name, about: summary }));

/** Parameters of this kind mostly take a path. */
const PATH_NAME = /path|file|dir|folder/i;

/** `repo=` for each parameter that is not given yet, required ones first; after the sign of a path-like one, a path. */
async function pairWords(
  positionals: readonly string[],
  current: string,
  vocabulary: Vocabulary,
): Promise<readonly Candidate[]> {
  const [, key] = /^([^=]*?):?=/.exec(current) ?? [];
  if (key !== undefined) return PATH_NAME.test(key) ? [{ filesAfter: current.slice(0, current.indexOf('=') + 1) }] : [];
  const [server = '', ...rest] = positionals;
  const [tool = ''] = rest[0]?.includes('=') ? [] : rest;
  const given = new Set(positionals.map((word) => word.replace(/:?=.*$/s, '')));
  const parameters = await vocabulary.parameters(server, tool);
  return parameters
    .filter(({ name, type }) => !given.has(name) || type.endsWith('[]'))
    .sort((a, b) => Number(b.required) - Number(a.required))
    .map(({ name, type, description, required }) => ({
      word: `${name}=`,
      about: [type, required && 'required', description].filter(Boolean).join(', '),
    }));
}
