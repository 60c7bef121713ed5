/**
 * Parses the text of a JSON, YAML or TOML file. A mistake is an error with file, line and column. Each parser is loaded
 * with the first file of its format.
 * @module
 */

import { extname } from 'node:path';
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { plainJson } from './plain-json.ts';
import { TextSyntaxError } from './text-syntax-error.ts';

/** Tells whether a file is code that must be run to get its value. */
export const isCode = (path: string): boolean => ['.ts', '.mts', '.js', '.mjs'].includes(extname(path).toLowerCase());

const TOO_DEEP = `expected at most ${LIMITS.json.depth} levels`;

type Format = 'JSON' | 'YAML' | 'TOML';
const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['.yaml', 'YAML'],
  ['.yml', 'YAML'],
  ['.toml', 'TOML'],
]);

/** Extensions that `anygpt mcp install` appends to the backup of a file. */
export const KEPT_ENDING = /\.anygpt-(?:backup|taken-over)$/;
/** Extension of a backup whose servers moved behind the gateway. */
export const TAKEN_OVER = '.anygpt-taken-over';

/** Returns the format by file extension. Anything but YAML and TOML counts as JSON. */
export const formatOf = (path: string): Format =>
  FORMATS.get(extname(path.replace(KEPT_ENDING, '')).toLowerCase()) ?? 'JSON';

/**
 * Parses data in the format of the file's extension.
 * @param onRepeat called for a JSON key that is written twice; without it that is a mistake
 */
export async function parseData(
  path: string,
  text: string,
  onRepeat?: (key: string, line: number) => void,
): Promise<unknown> {
  if (text.trim() === '') throw new ConfigurationError(`${path} is empty. Write a configuration into it or delete it.`);
  const format = formatOf(path);
  try {
    if (format === 'YAML') return await parseYaml(text);
    if (format === 'TOML') return await parseToml(text);
    return plainJson(text) ?? (await import('./parse-jsonc.ts')).parseJsonc(text, onRepeat);
  } catch (error) {
    if (!(error instanceof TextSyntaxError)) throw error;
    const place = `${path}:${error.line}:${error.column}`;
    throw new ConfigurationError(`${place} is not valid ${format}: ${error.message}.`, [], { cause: error });
  }
}

async function parseYaml(text: string): Promise<unknown> {
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const mistakeAt = (offset: number, what: string) => {
    const { line, col } = lines.linePos(offset);
    return new TextSyntaxError(what, line, col);
  };
  try {
    refuseDeepYaml(text, yaml);
    // Pretty errors would quote the source line, which may hold a secret. Comparing every key with every other takes
    // the parser seconds for 20,000 keys. The parser's own warnings would go to stderr and quote the file.
    const options = {
      lineCounter: lines,
      prettyErrors: false,
      strict: true,
      uniqueKeys: false,
      logLevel: 'error',
    } as const;
    const document = yaml.parseDocument(text, options);
    const mistake = document.errors[0] ?? document.warnings[0];
    if (mistake !== undefined) throw mistakeAt(mistake.pos[0], mistake.message.replace(/\.$/, ''));
    const repeated = repeatedKey(document, yaml);
    if (repeated !== undefined) throw mistakeAt(repeated, 'Map keys must be unique');
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    refuseDeep(value, 0);
    return value;
  } catch (error) {
    if (error instanceof TextSyntaxError) throw error;
    // The parser's own guards against alias bombs and endless nesting throw other errors.
    throw new TextSyntaxError(error instanceof Error ? error.message : String(error), 1, 1);
  }
}

type Yaml = typeof import('yaml');

/** Entries of the parser's stack beside collections: the document, a key, a scalar. */
const PARSER_ROOM = 8;

/**
 * Refuses deep nesting before the text is composed. Composing recurses, and a stack overflow while a regular expression
 * is compiled ends the whole process. The first stage of the parser has an explicit stack, whose depth is checked here.
 */
function refuseDeepYaml(text: string, { Lexer, Parser }: Yaml): void {
  if (text.length <= LIMITS.json.depth) return;
  const parser = new Parser();
  let line = 1;
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > LIMITS.json.depth + PARSER_ROOM) throw new TextSyntaxError(TOO_DEEP, line, 1);
    for (let at = lexeme.indexOf('\n'); at !== -1; at = lexeme.indexOf('\n', at + 1)) line++;
  }
}

/** Returns the position of a key that its map already has. */
function repeatedKey(document: ReturnType<Yaml['parseDocument']>, { visit, isScalar }: Yaml): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

async function parseToml(text: string): Promise<unknown> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    const value = parse(text, { maxDepth: LIMITS.json.depth });
    refuseDeep(value, 0);
    return value;
  } catch (error) {
    if (error instanceof TextSyntaxError || !(error instanceof TomlError)) throw error;
    // The first line says what is wrong. The rest quotes the source, which may hold a secret.
    const [what = ''] = error.message.split('\n');
    throw new TextSyntaxError(what.replace(/^Invalid TOML document: /, ''), error.line, error.column);
  }
}

/** Refuses values that are too deep. Aliases can make a value contain itself, which no later code expects. */
function refuseDeep(value: unknown, depth: number): void {
  if (depth > LIMITS.json.depth) throw new TextSyntaxError(TOO_DEEP, 1, 1);
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) refuseDeep(inner, depth + 1);
}
