/**
 * Turns a way to use a server and a person's answers into a configuration entry. Pure. A secret stands in the entry as a
 * reference; everything else that comes from a registry or a person is literal text, whatever it looks like.
 * @module
 */
import type { WrittenConnection } from '../core/transport-parts.ts';
import { secretParts } from '../secrets/secret-values.ts';
import { serverVariable } from '../text/server-variable.ts';
import { type ConnectionWay, isSwitch, type Word } from './connection-ways.ts';
import type { NamedInput, RegistryArgument, RegistryInput } from './registry-server.ts';

/** Something that a person is asked for. */
export interface AskedInput {
  /** Names the answer: the variable, the header, the option or the argument. */
  readonly id: string;
  readonly where: 'environment' | 'header' | 'argument' | 'address';
  readonly description?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly default?: string | undefined;
  readonly choices: readonly string[];
  readonly format: RegistryInput['format'];
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** Whether several answers may be given. */
  readonly isRepeated: boolean;
}

/** Answers by the ids of inputs. */
type Answers = Readonly<Record<string, string | readonly string[]>>;

/** The result of a way with the answers so far. */
export interface ResolvedWay {
  /**
   * The `connection` of a configuration entry; undefined for a bundle, for a way that cannot be used, and while an answer
   * other than a secret is missing.
   */
  readonly connection?: WrittenConnection | undefined;
  /** The command line, word by word, with `<name>` for what is missing; the address alone for a remote. */
  readonly words: readonly string[];
  /** The address at which a local program has to be reached; a person has to start it. */
  readonly startsApart: boolean;
  /** Ids of required inputs without an answer. */
  readonly missing: readonly string[];
  /** Answers that are not allowed, with the reason. */
  readonly wrong: readonly string[];
  /** Environment variables that hold the secrets, by the ids of their inputs. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Lists what has to be asked, in the order of the command line. */
export const inputsOf = (way: ConnectionWay): readonly AskedInput[] => [
  ...new Resolver(way, '', {}, secretIdsOf(way)).run().inputs.values(),
];

/**
 * Resolves a way.
 * @param server the name of the entry; names variables for secrets that have no name of their own
 * @param reference writes the reference to a variable with a secret; default `${NAME}`
 */
export function resolveWay(
  way: ConnectionWay,
  server: string,
  answers: Answers = {},
  reference: (variable: string) => string = (variable) => `\${${variable}}`,
): ResolvedWay {
  const secretIds = secretIdsOf(way);
  for (;;) {
    const resolver = new Resolver(way, server, answers, secretIds, reference).run();
    // An answer can turn out to be a secret by what it looks like or by its place in a text; then it is one everywhere.
    if (resolver.exposed.size === 0) return resolver.result();
    for (const id of resolver.exposed) secretIds.add(id);
  }
}

/** The ids of all answers that are secret somewhere: an answer that is secret in one place is secret in all. */
function secretIdsOf({ environment, headers, variables, words }: ConnectionWay): Set<string> {
  const asked: [string, RegistryInput][] = [...environment, ...headers, ...variables].map((one) => [one.name, one]);
  for (const [at, word] of words.entries()) if (isArgument(word)) asked.push([argumentId(word, at), word]);
  const ids = asked.flatMap(([id, input]) => {
    if (input.value === undefined) return input.isSecret ? [id] : [];
    // A secret text contains secrets, but does not say where they are.
    return variablesIn(input).flatMap(({ name, isSecret }) => (isSecret || input.isSecret ? [name] : []));
  });
  return new Set(ids);
}

const isArgument = (word: Word): word is RegistryArgument => typeof word !== 'string' && !('variablesAfter' in word);

const argumentId = ({ flag, valueHint }: RegistryArgument, at: number): string =>
  flag?.replace(/=$/, '') ?? valueHint ?? `argument ${at}`;

const variablesIn = ({ value, variables }: RegistryInput): readonly NamedInput[] =>
  variables.filter(({ name }) => value?.includes(`{${name}}`));

/** References that a person writes are no secrets. */
const OWN_REFERENCE = /\$\{[^{}]*\}/g;
/** Shorter answers occur in any text by chance. */
const MIN_ANSWER = 4;

/** Stands around the id of a secret until the text is complete. Texts of registries and people never have it. */
const MARK = '\0';
const MARKED = /\0([^\0]*)\0/g;

class Resolver {
  readonly inputs = new Map<string, AskedInput>();
  /** Ids of answers that stand literally in a text although they look like secrets there. */
  readonly exposed = new Set<string>();
  readonly #way: ConnectionWay;
  readonly #server: string;
  readonly #answers: Answers;
  readonly #secretIds: ReadonlySet<string>;
  readonly #reference: (variable: string) => string;
  /** Answers that are no secrets, by their ids. */
  readonly #literal = new Map<string, string[]>();
  readonly #missing = new Set<string>();
  readonly #wrong: string[] = [];
  readonly #secrets = new Map<string, string>();
  /** What `{--port}`, `{hint}` and `{VARIABLE}` in an address stand for. */
  readonly #values = new Map<string, string>();
  #words: string[] = [];
  #environment: Record<string, string> = {};
  #headers: Record<string, string> = {};
  #url: string | undefined;

  constructor(
    way: ConnectionWay,
    server: string,
    answers: Answers,
    secretIds: ReadonlySet<string>,
    reference = (variable: string) => variable,
  ) {
    this.#way = way;
    this.#server = server;
    this.#answers = answers;
    this.#secretIds = secretIds;
    this.#reference = reference;
  }

  run(): this {
    const { words, environment, headers, url, variables } = this.#way;
    const given = (list: readonly NamedInput[], where: AskedInput['where']): [string, string][] =>
      list.flatMap((input) => {
        const [value] = this.#valuesOf(input, input.name, where, false);
        if (value === undefined) return [];
        this.#values.set(input.name, value);
        return [[input.name, this.#finished(value, input.name, where === 'header')]];
      });
    this.#environment = Object.fromEntries(given(environment, 'environment'));
    this.#words = words
      .flatMap((word, at) => this.#wordsOf(word, at))
      .map((word, at, all) => this.#finished(word, /^--?([\w.-]+)$/.exec(all[at - 1] ?? '')?.[1]));
    this.#headers = Object.fromEntries(given(headers, 'header'));
    given(variables, 'address');
    if (url !== undefined)
      this.#url = this.#finished(url.replace(BRACES, (all, name: string) => this.#values.get(name) ?? all));
    return this;
  }

  result(): ResolvedWay {
    const { transport, words, problem } = this.#way;
    const connection = problem === undefined ? this.#connection() : undefined;
    const isComplete = [...this.#missing].every((id) => this.#secrets.has(id));
    if (connection === undefined && problem === undefined && this.#url !== undefined && this.#missing.size === 0)
      this.#wrong.push(`${this.#url} is not an http address`);
    return {
      connection: this.#wrong.length === 0 && isComplete ? connection : undefined,
      words: words.length > 0 ? this.#words : this.#url === undefined ? [] : [this.#url],
      startsApart: words.length > 0 && transport !== 'stdio',
      missing: [...this.#missing],
      wrong: this.#wrong,
      secrets: Object.fromEntries(this.#secrets),
    };
  }

  /** A complete text as a configuration has to write it: secrets are references, and nothing else is one. */
  #finished(text: string, name = '', isHeader = false): string {
    const parts = this.#literal.size === 0 ? [] : secretParts(text.replace(MARKED, ''), name, isHeader);
    for (const [id, values] of this.#literal)
      if (values.some((value) => parts.some((part) => overlap(part, value)))) this.exposed.add(id);
    return text
      .replaceAll('${', () => '$${')
      .replace(MARKED, (_, id: string) => this.#reference(this.#secrets.get(id) ?? ''));
  }

  #connection(): WrittenConnection | undefined {
    const { transport } = this.#way;
    if (this.#url !== undefined) {
      if (!isWebAddress(this.#url)) return undefined;
      const headers = Object.keys(this.#headers).length > 0 ? { headers: this.#headers } : {};
      return { type: transport as 'http' | 'sse', url: this.#url, ...headers };
    }
    const [command, ...args] = this.#words;
    if (command === undefined) return undefined;
    const env = Object.keys(this.#environment).length > 0 ? { env: this.#environment } : {};
    return { type: 'stdio', command, args, ...env };
  }

  /** A named argument is two words, or one if its name ends with `=`. */
  #wordsOf(word: Word, at: number): string[] {
    if (typeof word === 'string') return [word];
    if ('variablesAfter' in word) return Object.keys(this.#environment).flatMap((name) => [word.variablesAfter, name]);
    const id = argumentId(word, at);
    if (word.flag !== undefined && isSwitch(word)) return [word.flag];
    const values = this.#valuesOf(word, id, 'argument', word.isRepeated);
    const [first] = values;
    if (first !== undefined) for (const name of [id, word.valueHint ?? id]) this.#values.set(name, first);
    const { flag } = word;
    if (flag === undefined) return values;
    return values.flatMap((value) => (flag.endsWith('=') ? [flag + value] : [flag, value]));
  }

  /** The values of an input: fixed, answered or by default. None if it is optional and nothing is known. */
  #valuesOf(input: RegistryInput, id: string, where: AskedInput['where'], isRepeated: boolean): string[] {
    if (input.value === undefined) return this.#answered(input, id, where, isRepeated);
    const used = variablesIn(input);
    if (used.length === 0) return [input.value];
    const lists = used.map((variable) => ({
      name: variable.name,
      values: this.#answered(variable, variable.name, where, isRepeated),
    }));
    if (lists.some(({ values }) => values.length === 0)) return [];
    const rounds = Math.max(...lists.map(({ values }) => values.length));
    const template = input.value;
    return Array.from({ length: rounds }, (_, round) =>
      template.replace(BRACES, (all, name: string) => {
        const list = lists.find((one) => one.name === name)?.values;
        return list?.[round] ?? list?.at(-1) ?? all;
      }),
    );
  }

  #answered(input: RegistryInput, id: string, where: AskedInput['where'], isRepeated: boolean): string[] {
    const { description, placeholder, choices, format, isRequired } = input;
    const isSecret = this.#secretIds.has(id);
    const known = this.inputs.get(id);
    const asked = { id, where, description, placeholder, default: input.default, choices, format, isSecret };
    this.inputs.set(id, known ?? { ...asked, isRequired, isRepeated });
    const answer = Object.hasOwn(this.#answers, id) ? [this.#answers[id] ?? []].flat() : [];
    const given = answer.filter((one) => one !== '').slice(0, isRepeated ? undefined : 1);
    if (given.length === 0 && input.default === undefined) {
      if (!isRequired) return [];
      this.#missing.add(id);
      return [isSecret ? this.#secret(id, where) : `<${id}>`];
    }
    // A default is no secret: the whole world can read it.
    if (given.length === 0) return [input.default ?? ''];
    for (const value of given) {
      const problem = problemOf(value, input);
      if (problem !== undefined) this.#wrong.push(`${id}: ${problem}`);
    }
    if (isSecret) {
      if (given.length > 1) this.#wrong.push(`${id}: a secret can be given only once`);
      return [this.#secret(id, where)];
    }
    // What the registry itself offers is public.
    const own = given.filter((value) => !choices.includes(value)).map((value) => value.replace(OWN_REFERENCE, ''));
    const name = id.replace(/^-+/, '');
    if (own.some((value) => secretParts(value, name, where === 'header').length > 0)) this.exposed.add(id);
    const long = own.filter((value) => value.length >= MIN_ANSWER);
    if (long.length > 0) this.#literal.set(id, long);
    return given.map((value) => value.replaceAll(MARK, ''));
  }

  #secret(id: string, where: AskedInput['where']): string {
    if (!this.#secrets.has(id)) this.#secrets.set(id, this.#variableFor(id, where));
    return MARK + id + MARK;
  }

  /** One variable for one id. */
  #variableFor(id: string, where: AskedInput['where']): string {
    if (where === 'environment' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(id)) return id;
    const suffix = id
      .replace(/^-+/, '')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_');
    const variable = serverVariable(this.#server, suffix).replace(/^(?=\d)/, '_');
    const taken = new Set(this.#secrets.values());
    let free = variable;
    for (let number = 2; taken.has(free); number++) free = `${variable}_${number}`;
    return free;
  }
}

/** `{name}`, and `${name}` as some write it. */
const BRACES = /\$?\{([^{}]{1,128})\}/g;

const overlap = (part: string, value: string): boolean => part.includes(value) || value.includes(part);

function problemOf(value: string, { choices, format }: RegistryInput): string | undefined {
  if (/[\r\n\0]/.test(value)) return 'it must be one line';
  if (choices.length > 0 && !choices.includes(value)) return `it must be one of ${choices.join(', ')}`;
  if (format === 'number' && !/^-?\d+(?:\.\d+)?$/.test(value)) return 'it must be a number';
  if (format === 'boolean' && !/^(?:true|false)$/.test(value)) return 'it must be true or false';
  return undefined;
}

/** References are replaced later; what they stand for is not known here. */
const isWebAddress = (url: string): boolean => {
  const shown = url.replace(/\$\{\w+\}/g, 'x');
  return URL.canParse(shown) && /^https?:$/.test(new URL(shown).protocol);
};
