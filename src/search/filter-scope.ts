/**
 * Tells which tools of an index pass the filters of a query. A server is tested once and a tool at most once.
 * @module
 */
import type { LiveIndex } from './live-index.ts';
import type { SearchQuery } from './query.ts';
import { type Classifier, type Filterable, type IndexedTool, passes } from './query-filters.ts';
import { acceptsAll } from './ranker.ts';
import { documentCount, FLAG, hasFlag, type Segment, TEXT, tagsOf, textOf } from './segment.ts';

const UNKNOWN = 0;
const YES = 1;
const NO = 2;

/** Returns a test that tells whether a tool passes. */
export function filterScope(
  index: LiveIndex,
  { filters, classifier }: Pick<SearchQuery, 'filters' | 'classifier'>,
): (segment: number, document: number) => boolean {
  if (filters.length === 0) return acceptsAll;
  const ofServer = filters.filter(({ key }) => key === 'server');
  const ofTool = filters.filter(({ key }) => key !== 'server');
  const scopes = index.segments.map(({ segment }) => {
    const servers = segment.servers.map((server) => passes({ ...NO_TOOL, server }, ofServer));
    const known = new Uint8Array(documentCount(segment));
    const tool = new FilteredTool(segment, classifier);
    return (document: number): boolean => {
      if (servers[segment.documentServers[document] as number] !== true) return false;
      if (ofTool.length === 0) return true;
      if (known[document] === UNKNOWN) known[document] = passes(tool.at(document), ofTool) ? YES : NO;
      return known[document] === YES;
    };
  });
  return (segment, document) => scopes[segment]?.(document) === true;
}

const NO_TOOL: Filterable = {
  server: '',
  name: '',
  tags: [],
  readOnly: false,
  destructive: false,
  domains: [],
  categories: [],
};

/** Shows one tool at a time to the filters, without its server. */
class FilteredTool implements Filterable {
  readonly server = '';
  readonly #segment: Segment;
  readonly #classifier: Classifier | undefined;
  #document = 0;

  constructor(segment: Segment, classifier: Classifier | undefined) {
    this.#segment = segment;
    this.#classifier = classifier;
  }

  at(document: number): this {
    this.#document = document;
    return this;
  }

  get name(): string {
    return namesOf(this.#segment)[this.#document] ?? '';
  }

  get tags(): string[] {
    return tagsOf(this.#segment, this.#document);
  }

  get domains(): readonly string[] {
    return this.#classes('domains');
  }

  get categories(): readonly string[] {
    return this.#classes('categories');
  }

  #classes(kind: keyof Classifier): readonly string[] {
    return this.#classifier ? classesOf(this.#segment, this.#document, this.#classifier, kind) : [];
  }

  get readOnly(): boolean {
    return hasFlag(this.#segment, this.#document, FLAG.readOnly);
  }

  get destructive(): boolean {
    return hasFlag(this.#segment, this.#document, FLAG.destructive);
  }
}

/** Decoded names by segment: decoding is most of the cost of a filter by name, and segments do not change. */
const names = new WeakMap<Segment, readonly string[]>();

function namesOf(segment: Segment): readonly string[] {
  let known = names.get(segment);
  if (known === undefined) {
    known = Array.from({ length: documentCount(segment) }, (_, document) => textOf(segment, document, TEXT.name));
    names.set(segment, known);
  }
  return known;
}

type Classes = (readonly string[] | undefined)[];

/** Domains and categories by segment and document, inferred when a filter first asks for them. */
const classes = new WeakMap<Segment, Readonly<Record<keyof Classifier, Classes>>>();

function classesOf(
  segment: Segment,
  document: number,
  classifier: Classifier,
  kind: keyof Classifier,
): readonly string[] {
  const known = classes.get(segment) ?? { domains: [], categories: [] };
  classes.set(segment, known);
  const own = known[kind][document] ?? classifier[kind](toolAt(segment, document)).flatMap(withParents);
  known[kind][document] = own;
  return own;
}

const toolAt = (segment: Segment, document: number): IndexedTool => ({
  server: segment.servers[segment.documentServers[document] as number] ?? '',
  name: namesOf(segment)[document] ?? '',
  summary: textOf(segment, document, TEXT.summary),
  readOnly: hasFlag(segment, document, FLAG.readOnly),
});

/** `cloud.aws` is in `cloud`, too. */
const withParents = (path: string): string[] => path.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.'));
