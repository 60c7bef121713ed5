// Reads what a built entry point exports from its .d.ts files: names with kind, TSDoc and declaration. TypeScript 7 has
// no compiler API for JavaScript, and TypeDoc and API Extractor need an older compiler; the output of tsc is regular
// enough to be read by its brackets. test/api-page.test.ts compares the result with the real exports.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Matches what is skipped: comments and quoted texts. */
const OPAQUE = /\/\*.*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/sy;
const DECLARATION = /^export (?:declare )?(?:abstract )?(class|interface|type|const|let|function) ([\w$]+)/;
/** A type, exported or not. */
const TYPE = /^(?:export )?(?:declare )?(?:abstract )?(class|interface|type) ([\w$]+)/;
const IMPORT = /^import (?:type )?\{(.*)\} from '(\..+)';$/s;
/** A constant that is called. */
const FUNCTION = /^export declare const [\w$]+: (?:<.+?>)?\(/s;
/** These end with their closing bracket, all others with a semicolon. */
const ENDS_WITH_BRACKET = /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|namespace) /;

/** The statements of a file, each with the last TSDoc comment before it. */
function* statementsOf(text) {
  let [depth, start, doc] = [0, -1, ''];
  for (let at = 0; at < text.length; at++) {
    OPAQUE.lastIndex = at;
    const opaque = OPAQUE.exec(text)?.[0];
    if (opaque !== undefined) {
      if (start === -1 && opaque.startsWith('/**')) doc = opaque;
      at += opaque.length - 1;
      continue;
    }
    const char = text[at];
    if (start === -1 && /\S/.test(char)) start = at;
    if ('([{'.includes(char)) depth++;
    if (')]}'.includes(char)) depth--;
    if (start === -1 || depth > 0) continue;
    const ends = char === ';' || (char === '}' && ENDS_WITH_BRACKET.test(text.slice(start, at)));
    if (!ends) continue;
    yield { statement: text.slice(start, at + 1), doc: doc.includes('@module') ? '' : doc };
    [start, doc] = [-1, ''];
  }
}

/** A TSDoc comment as text and examples. */
export function readDoc(comment) {
  const lines = comment.replace(/^\/\*\*|\*\/$/g, '').split('\n');
  const text = lines.map((line) => line.replace(/^\s*\* ?/, '')).join('\n');
  const [description, ...tags] = text.split(/^@/m);
  const examples = tags
    .filter((tag) => tag.startsWith('example'))
    .map((tag) =>
      tag
        .slice('example'.length)
        .replace(/```\w*\n?/g, '')
        .trim(),
    );
  return { description: description.trim(), examples };
}

/** Says what a file is about, in its `@module` comment. */
export const moduleDoc = (file) => readDoc(/\/\*\*.*?\*\//s.exec(readFileSync(file, 'utf8'))?.[0] ?? '').description;

const fileFrom = (file, path) => resolve(dirname(file), path.replace(/\.[jt]s$/, '.d.ts'));

const NAMES = /^export (type )?\{(.*)\} from '(.+)';$/s;
const STAR = /^export (type )?\* from '(.+)';$/;

/**
 * The exports of one .d.ts file, through all files it re-exports from: by name, `{ file, kind, doc, text, isType }`.
 * Throws if two files give one name, because then neither is exported.
 */
export function exportsOf(file) {
  const found = new Map();
  const stars = new Map();
  const fileOf = (path) => fileFrom(file, path);
  for (const { statement, doc } of statementsOf(readFileSync(file, 'utf8'))) {
    const [, keyword, name] = DECLARATION.exec(statement) ?? [];
    const kind = FUNCTION.test(statement) ? 'function' : keyword;
    const [, allTypes, list, from] = NAMES.exec(statement) ?? [];
    const [, starType, starFrom] = STAR.exec(statement) ?? [];
    if (name !== undefined) {
      const overloads = found.get(name);
      const isType = kind === 'type' || kind === 'interface';
      if (overloads === undefined) found.set(name, { file, kind, doc, text: statement, isType });
      else overloads.text += `\n${statement}`;
    } else if (list !== undefined) {
      const theirs = exportsOf(fileOf(from));
      for (const item of list
        .split(',')
        .map((one) => one.trim())
        .filter(Boolean)) {
        const [, type, inner, outer = inner] = /^(type )?([\w$]+)(?: as ([\w$]+))?$/.exec(item) ?? [];
        const one = theirs.get(inner);
        if (one === undefined) throw new Error(`${file} exports ${item}, which ${from} does not have`);
        found.set(outer, { ...one, isType: one.isType || Boolean(allTypes ?? type) });
      }
    } else if (starFrom !== undefined) {
      for (const [inner, one] of exportsOf(fileOf(starFrom))) {
        const other = stars.get(inner);
        if (other !== undefined && other.file !== one.file) throw new Error(`${file}: two files export ${inner}`);
        stars.set(inner, { ...one, isType: one.isType || starType !== undefined });
      }
    } else if (statement.startsWith('export ') && statement !== 'export {};') {
      throw new Error(`${file}: cannot read ${statement}`);
    }
  }
  for (const [name, one] of stars) if (!found.has(name)) found.set(name, one);
  return found;
}

/** The types that one file declares, exported or not, by name, and where it imports others from. */
function typesOf(file) {
  const declared = new Map();
  const imported = new Map();
  for (const { statement, doc } of statementsOf(readFileSync(file, 'utf8'))) {
    const [, kind, name] = TYPE.exec(statement) ?? [];
    const [, list, from] = IMPORT.exec(statement) ?? [];
    if (name !== undefined) declared.set(name, { name, file, kind, doc, text: statement });
    for (const item of list?.split(',') ?? []) {
      const [, inner, outer = inner] = /^\s*(?:type )?([\w$]+)(?: as ([\w$]+))?\s*$/.exec(item) ?? [];
      if (inner !== undefined) imported.set(outer, { inner, from: fileFrom(file, from) });
    }
  }
  return { declared, imported };
}

/** The types of this package that a declaration mentions, with the names they were declared under. */
export function mentionsOf({ file, text }) {
  const { declared, imported } = typesOf(file);
  const written = text.replace(new RegExp(OPAQUE.source, 'gs'), ' ').match(/(?<![.\w$])[A-Z][\w$]*/g) ?? [];
  return [...new Set(written)].flatMap((name) => {
    const { inner, from } = imported.get(name) ?? {};
    const one = declared.get(name) ?? (from && (typesOf(from).declared.get(inner) ?? exportsOf(from).get(inner)));
    const isType = one !== undefined && ['class', 'interface', 'type'].includes(one.kind);
    return isType && one.text !== text ? [{ name: inner ?? name, ...one }] : [];
  });
}

/** The entry points of the package: name, file of its declarations, file of its code. */
export const entryPoints = (root) =>
  Object.entries(JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')).exports)
    .filter(([, target]) => target.types !== undefined)
    .map(([path, { types, default: code }]) => ({
      name: `@anygpt/discovery${path.slice(1)}`,
      types: resolve(root, types),
      code: resolve(root, code),
    }));
