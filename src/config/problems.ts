/**
 * Checks a value against a schema; returns the checked value or every problem in words. A problem names its path, what
 * was expected, what was found, and the nearest valid key. Values are not quoted, so that a misplaced secret does not
 * reach a log. The exception is a short value where one of a fixed list was expected.
 * @module
 */
import * as z from 'zod/mini';
import { LIMITS } from '../core/limits.ts';
import { isObject } from '../json/plain-object.ts';
import { nearestName, nearestNames } from '../text/nearest-names.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];
type Schema = z.core.$ZodType;
type Fields = Readonly<Record<string, Schema>>;

/** The result of a check: the value with its schema's type, or the problems. */
type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Checks a value. `prefix` is the value's path inside its file. */
export function check<S extends z.ZodMiniType>(schema: S, value: unknown, prefix = ''): Checked<z.output<S>> {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return { ok: true, value: parsed.data };
  const problems = parsed.error.issues.flatMap((issue) => toProblems(issue, prefix, schema, value));
  return { ok: false, problems: [...new Set(problems)] };
}

/** Formats a path as people write it: `servers[2].connection.command`. */
export function toPathText(prefix: string, path: Path): string {
  let text = prefix;
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part).slice(0, 100))}]`;
  }
  return text;
}

function toProblems(issue: Issue, prefix: string, schema: Schema, root: unknown): string[] {
  const place = toPathText(prefix, issue.path) || 'the configuration';
  if (issue.code === 'unrecognized_keys') {
    const here = fieldsOf(schemaAt(schema, root, issue.path));
    return issue.keys.map((key) => `${toPathText(prefix, [...issue.path, key])}: unknown key${hintForKey(key, here)}`);
  }
  if (issue.code === 'invalid_union') return unionProblems(issue, place, prefix, schema, root);
  if (issue.code === 'invalid_key') {
    return [`${place}: ${issue.issues.map(({ message }) => message).join(', ')}`];
  }
  return [`${place}: ${wordsFor(issue)}`];
}

function unionProblems(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  place: string,
  prefix: string,
  schema: Schema,
  root: unknown,
): string[] {
  if ('discriminator' in issue && issue.discriminator !== undefined) {
    const options = ('options' in issue ? (issue.options as readonly unknown[]) : []).map(String);
    const key = issue.discriminator;
    const written = isObject(issue.input) && Object.hasOwn(issue.input, key) ? issue.input[key] : undefined;
    return [`${place}: ${oneOf(options, written)}`];
  }
  // The branch that matched furthest is the one that was meant. If none matched at all, name what each wanted.
  const branches = issue.errors.filter((branch) => branch.some(({ path }) => path.length > 0));
  const deepest = branches[0];
  if (deepest !== undefined) {
    return deepest.flatMap((inner) =>
      toProblems({ ...inner, path: [...issue.path, ...inner.path] } as Issue, prefix, schema, root),
    );
  }
  const wanted = issue.errors.flatMap((branch) =>
    branch.map((inner) => ('expected' in inner ? inner.expected : 'value')),
  );
  return [`${place}: expected ${wanted.map(article).join(' or ')}, got ${kindOf(issue.input)}`];
}

function wordsFor(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return `is missing, expected ${article(issue.expected)}`;
      if (isMapOfServers(issue)) return `expected a list, got a map in another program's format: ${WHERE_MAPS_BELONG}`;
      if (issue.expected === 'int') return `expected a whole number, got ${String(issue.input)}`;
      return `expected ${article(issue.expected)}, got ${kindOf(issue.input)}`;
    case 'invalid_value':
      return oneOf(issue.values.map(String), issue.input);
    case 'too_small':
      return issue.origin === 'string'
        ? 'must not be empty'
        : `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}, got ${amount(issue.input)}`;
    case 'too_big':
      return `expected at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}, got ${amount(issue.input)}`;
    default:
      return issue.message === 'expected an object' ? `expected an object, got ${kindOf(issue.input)}` : issue.message;
  }
}

const isMapOfServers = ({ path, expected, input }: Extract<Issue, { code: 'invalid_type' }>): boolean =>
  path.length === 1 && path[0] === 'servers' && expected === 'array' && isObject(input);

function oneOf(options: readonly string[], written: unknown): string {
  const near =
    options.length > LIMITS.shown.options && typeof written === 'string' ? nearestNames(written, options, 5) : [];
  const shown =
    options.length <= LIMITS.shown.options ? options : near.length > 0 ? near : options.slice(0, LIMITS.shown.options);
  const rest = shown.length < options.length ? ` and ${options.length - shown.length} more` : '';
  return oneOfList(shown.map((option) => `'${option}'`).join(', ') + rest, options, written);
}

function oneOfList(list: string, options: readonly string[], written: unknown): string {
  if (written === undefined) return `is missing, expected one of ${list}`;
  if (typeof written !== 'string') return `expected one of ${list}, got ${kindOf(written)}`;
  const slip = nearestName(written, options);
  const meant = slip === undefined ? namesWithWord(written, options) : [slip];
  const shown = written.length <= 40 ? ` ${JSON.stringify(written)}` : ' something else';
  const hint = meant.map((name) => `'${name}'`).join(' or ');
  return `expected one of ${list}, got${shown}${hint === '' ? '' : `; did you mean ${hint}?`}`;
}

/** `claude` is not a typo of `claude-desktop`, but one of its words. */
const namesWithWord = (written: string, options: readonly string[]): readonly string[] =>
  options.filter((option) => option.split('-').includes(written.toLowerCase())).slice(0, 3);

/** Other programs' names for the map of servers, which people paste into our file. */
const FOREIGN_MAPS: ReadonlySet<string> = new Set(['mcpServers', 'mcp_servers', 'context_servers', 'mcp']);

/** The hint for a map of servers in another program's format. */
export const WHERE_MAPS_BELONG =
  'keep the map in a file of its own and name that file in `sources`: { "type": "custom", "path": "./mcp.json" }, or write each server as { "name": "…", "connection": { "type": "stdio", "command": "…", "args": […] } } into the list `servers`';

/** Tells whether a key is another program's name for its map of servers. */
export const isForeignMap = (key: string): boolean => FOREIGN_MAPS.has(key);

function hintForKey(key: string, here: Fields | undefined): string {
  if (here === undefined) return '';
  if (isForeignMap(key) && 'sources' in here) return `; this is another program's format: ${WHERE_MAPS_BELONG}`;
  const meant = nearestName(key, Object.keys(here));
  if (meant !== undefined) return `, did you mean \`${meant}\`?`;
  const owner = Object.entries(here).find(([, inner]) => keysOf(inner).includes(key));
  if (owner !== undefined) return `, it belongs in \`${owner[0]}\``;
  const valid = Object.keys(here).join(', ');
  return valid === '' ? '; there are no keys here' : `; valid keys are ${valid}`;
}

/** Returns a schema's definition without the wrappers that make a value optional. */
function definitionOf(schema: Schema): z.core.$ZodTypes['_zod']['def'] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  return 'innerType' in def ? definitionOf(def.innerType) : def;
}

function fieldsOf(schema: Schema | undefined): Fields | undefined {
  const definition = schema && definitionOf(schema);
  return definition?.type === 'object' ? definition.shape : undefined;
}

function keysOf(schema: Schema): readonly string[] {
  const definition = definitionOf(schema);
  if (definition.type === 'union') return definition.options.flatMap(keysOf);
  return Object.keys(fieldsOf(schema) ?? {});
}

/** Returns the part of the schema for a path. Of alternatives, it is the one whose `type` the value names. */
function schemaAt(schema: Schema, root: unknown, path: Path): Schema | undefined {
  let here: Schema | undefined = schema;
  let value = root;
  for (const part of path) {
    value = isObject(value) || Array.isArray(value) ? (value as Record<PropertyKey, unknown>)[part] : undefined;
    here = here && chosenBranch(partOf(here, part), value);
  }
  return here;
}

function partOf(schema: Schema, part: PropertyKey): Schema | undefined {
  const definition = definitionOf(schema);
  if (definition.type === 'array') return definition.element;
  return definition.type === 'object' ? definition.shape[String(part)] : undefined;
}

function chosenBranch(schema: Schema | undefined, value: unknown): Schema | undefined {
  const definition = schema && definitionOf(schema);
  if (definition?.type !== 'union' || !isObject(value)) return schema;
  return definition.options.find((option) => {
    const type = fieldsOf(option)?.type;
    return type !== undefined && z.safeParse(type, value.type).success;
  });
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return value === undefined ? 'nothing' : typeof value;
}

/** Returns the size of a value without the value. */
function amount(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' || Array.isArray(value)) return String(value.length);
  return kindOf(value);
}

function article(kind: string): string {
  if (kind === 'int') return 'whole number';
  return kind === 'record' ? 'object' : kind;
}
