/**
 * The words of an unfinished command line in, what may come next out. Names of servers and tools come from what is known;
 * nothing is started, and whatever goes wrong is no words at all.
 * @module
 */
import { LOG_LEVELS } from '../core/log.ts';
import type { ToolParameter } from '../core/types.ts';
import { plainText } from '../text/plain-text.ts';
import type { Command } from './command.ts';

/** One word that may come next; `files` asks the shell for the names of files. */
export type Candidate = { readonly word: string; readonly about?: string | undefined } | 'files';

/** Where words come from that depend on the machine. */
export interface Vocabulary {
  readonly commands: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>>;
  clients(): Promise<readonly { readonly type: string; readonly title: string }[]>;
  servers(): Promise<readonly { readonly name: string; readonly description?: string | undefined }[]>;
  tools(server: string): Promise<readonly { readonly name: string; readonly summary: string }[]>;
  parameters(server: string, tool: string): Promise<readonly ToolParameter[]>;
}

type Place = 'server' | 'tool' | 'pair' | 'client' | 'file' | readonly string[];

/** What stands where behind each command. The last place of a list that ends with `...` repeats. */
const PLACES: Readonly<Record<string, readonly (Place | '...')[]>> = {
  tools: ['server'],
  inspect: ['server', 'tool'],
  execute: ['server', 'tool', 'pair', '...'],
  logs: ['server'],
  lint: ['server', '...'],
  doctor: ['server', '...'],
  config: [['show', 'validate', 'sources', 'reload']],
  cache: [['clear'], 'server'],
  trust: ['file', '...'],
  install: ['client'],
  uninstall: ['client'],
  completion: [['bash', 'zsh', 'fish']],
};

/** What stands behind options that take a value, the same wherever they are. */
const VALUES: Readonly<Record<string, Place>> = {
  server: 'server',
  expose: 'server',
  client: 'client',
  config: 'file',
  file: 'file',
  output: 'file',
  args: 'file',
  format: ['json', 'yaml', 'ts'],
  'log-level': LOG_LEVELS,
};

/** What may stand in place of the last word. */
export async function completionsOf(words: readonly string[], vocabulary: Vocabulary): Promise<readonly Candidate[]> {
  const current = words.at(-1) ?? '';
  const found = await allOf(words.slice(0, -1), current, vocabulary);
  return found.filter((candidate) => candidate === 'files' || isShowable(candidate.word, current));
}

/** A name that cannot be typed, or that a terminal would obey, is not offered. */
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
  if (pending !== undefined) return at(VALUES[pending] ?? [], current, [], vocabulary);
  const [option, written] = /^--([\w-]+)=(.*)$/s.exec(current)?.slice(1) ?? [];
  if (!ended && option !== undefined) {
    const values = await at(VALUES[option] ?? [], written ?? '', [], vocabulary);
    return values.map((each) => (each === 'files' ? each : { ...each, word: `--${option}=${each.word}` }));
  }
  if (!ended && current.startsWith('-'))
    return [...Object.keys(options), 'help'].map((name) => ({ word: `--${name}` }));
  const places = PLACES[command] ?? [];
  const repeats = places.at(-1) === '...';
  const place = places[positionals.length] ?? (repeats ? '...' : undefined);
  return at((place === '...' ? places.at(-2) : place) as Place | undefined, current, positionals, vocabulary);
}

/** The option this word is, if its value is the next word. */
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
  if (place === 'file') return ['files'];
  if (place === 'client') return (await vocabulary.clients()).map(({ type, title }) => ({ word: type, about: title }));
  if (place === 'server') return serverWords(current, vocabulary);
  if (place === 'tool') {
    const tools = await toolWords(positionals[0] ?? '', '', vocabulary);
    return tools.length > 0 ? tools : pairWords(positionals, current, vocabulary);
  }
  if (place === 'pair') return pairWords(positionals, current, vocabulary);
  return place.map((word) => ({ word }));
}

/** With a colon in it, the word names a tool, too. */
async function serverWords(current: string, vocabulary: Vocabulary): Promise<readonly Candidate[]> {
  const servers = await vocabulary.servers();
  const owner = servers.find(({ name }) => current.startsWith(`${name}:`));
  if (owner !== undefined) return toolWords(owner.name, `${owner.name}:`, vocabulary);
  return servers.map(({ name, description }) => ({ word: name, about: description }));
}

const toolWords = async (server: string, prefix: string, vocabulary: Vocabulary): Promise<readonly Candidate[]> =>
  (await vocabulary.tools(server)).map(({ name, summary }) => ({ word: prefix + name, about: summary }));

/** `repo=` for what a tool still wants, what it needs first. Behind the sign stands what only the caller knows. */
async function pairWords(
  positionals: readonly string[],
  current: string,
  vocabulary: Vocabulary,
): Promise<readonly Candidate[]> {
  if (current.includes('=')) return [];
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
