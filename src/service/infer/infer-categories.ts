/**
 * Infers categories of a tool (`crud.read`, `search`, …) from its name, else from its description, else from its
 * annotations. Pure. A category is a guess from what the server says: it helps to find and to review, it proves nothing.
 * @module
 */
import type { ToolAnnotations } from '../../core/types.ts';
import { firstSentence } from '../../text/plain-text.ts';
import { nameWords } from './name-words.ts';
import { CATEGORIES, type ToolCategory, VERBS, verbIn } from './verbs.ts';

/** What is known of a tool besides its name. */
interface ToolHints {
  /** The name of its server, which many tools repeat in their own. */
  readonly server?: string | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly description?: string | undefined;
}

/**
 * Returns the categories of a tool; none if nothing suggests one.
 * @example
 * inferCategories('list_issues'); // ['crud.read']
 * inferCategories('search_code'); // ['crud.read', 'search']
 */
export function inferCategories(toolName: string, hints: ToolHints = {}): ToolCategory[] {
  const words = withoutPrefix(nameWords(toolName), new Set(nameWords(hints.server ?? '')));
  const said = fromName(words, hints.description) ?? fromDescription(hints.description);
  if (said !== undefined) return CATEGORIES.filter((category) => said.has(category));
  return hints.annotations?.readOnlyHint === true ? ['crud.read'] : [];
}

/** Removes the words of the server, and `api`, from the beginning of a name; at least one word stays. */
export function withoutPrefix(words: readonly string[], server: ReadonlySet<string>): readonly string[] {
  const start = words.findIndex((word) => word !== 'api' && !server.has(word) && !/.mcp$/.test(word));
  return start < 0 ? words.slice(-1) : words.slice(start);
}

function fromName(words: readonly string[], description: string | undefined): Set<ToolCategory> | undefined {
  const verb = mainVerb(words);
  if (verb === undefined) return undefined;
  const found = new Set(VERBS.get(verb));
  // `create_or_update_shelf`
  const at = words.indexOf(verb);
  const other = ['and', 'or'].includes(words[at + 1] ?? '') ? words[at + 2] : undefined;
  for (const category of (other !== undefined && VERBS.get(other)) || []) found.add(category);
  if (found.has('send') && words.some((word) => MONEY.has(word))) return new Set(['execute']);
  return VAGUE.has(verb) ? (fromFirstWord(description) ?? found) : found;
}

/** Sending these is no message. */
const MONEY: ReadonlySet<string> = new Set(
  'coin coins crypto eth funds money payment token tokens transaction'.split(' '),
);

/** Verbs whose meaning the description tells. */
const VAGUE: ReadonlySet<string> = new Set('handle open perform post process put run'.split(' '));

/** Verbs that are hardly ever nouns. */
const STRONG: ReadonlySet<string> = new Set(
  'add create delete fetch find get insert list remove retrieve search send set update upload'.split(' '),
);

/** Before another verb these say little: `run_search`, `post_search`. */
export const WEAK: ReadonlySet<string> = new Set('execute get perform post run view'.split(' '));

/** Verbs that are more often nouns, unless a name begins with them. */
const NOUNS: ReadonlySet<string> = new Set(
  'access book block call change charge comment commit compute content count design display email export filter format forecast index info link lock log message new order play post process query rank rate record report review schedule score share sign snapshot store sum tag test text trace transfer type work'.split(
    ' ',
  ),
);

/** Returns the verb of a name: its first word, its last one, or one inside. */
export function mainVerb(words: readonly string[]): string | undefined {
  const [first = '', last = ''] = [words[0], words.at(-1)];
  if (VERBS.get(last)?.includes('search') && (!VERBS.has(first) || WEAK.has(first))) return last;
  if (VERBS.has(first) && !(NOUNS.has(first) && STRONG.has(last))) return first;
  if (STRONG.has(last)) return last;
  const inside = words.find((word) => STRONG.has(word)) ?? (VERBS.has(last) && !NOUNS.has(last) ? last : undefined);
  return inside ?? words.find((word) => VERBS.has(word) && !NOUNS.has(word));
}

function fromFirstWord(description: string | undefined): Set<ToolCategory> | undefined {
  const [first = ''] = sentenceWords(description);
  const verb = verbIn(first);
  return verb === undefined ? undefined : new Set(VERBS.get(verb));
}

/** The first verb of the first words: "This tool retrieves …", "Use this to list …". */
function fromDescription(description: string | undefined): Set<ToolCategory> | undefined {
  const words = sentenceWords(description);
  const first = fromFirstWord(description);
  if (first || !OPENINGS.has(words[0] ?? '')) return first;
  for (const word of words.slice(1)) {
    const verb = NOUNS.has(word) ? undefined : verbIn(word);
    if (verb !== undefined) return new Set(VERBS.get(verb));
  }
  return undefined;
}

const OPENINGS: ReadonlySet<string> = new Set('a allows can it provides the this tool use used'.split(' '));
/** Words of a description in which its verb is looked for. */
const OPENING_WORDS = 9;

/** Only the first sentence counts, which is all that a search index keeps of a description. */
const sentenceWords = (description: string | undefined): readonly string[] =>
  firstSentence(description ?? '')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '')
    .slice(0, OPENING_WORDS);
