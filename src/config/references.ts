/**
 * Expands `${NAME}` references in a text. Paths are expanded when a configuration is loaded, secrets only when a
 * connection opens. `${NAME}` is the variable; `${NAME:-default}` has a default for an unset or empty variable;
 * `${env:NAME}` is the spelling of Windsurf and Cursor; `${file:PATH}` is the trimmed content of a file;
 * `${envFile:PATH#NAME}` is a variable in a dotenv file; `$${` is a literal `${`. Other text in braces is left alone.
 * @module
 */
import { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import type { LookedUp, ReferencedValue } from '../secrets/server-secrets.ts';
import { type FileReference, readReferencedFile } from './referenced-file.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FOREIGN = /^(?:input|command|config|workspaceFolder):|^workspaceFolder(?:Basename)?$/;

/** One reference found in a text. */
export interface Reference {
  readonly name: string;
  readonly fallback: string | undefined;
}

type Piece = string | Reference | FileReference | { readonly foreign: string };

/** Splits a text once from left to right. Each character is read a bounded number of times. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf('${', from);
    if (start === -1) {
      pieces.push(text.slice(from));
      return pieces;
    }
    if (text[start - 1] === '$' && start - 1 >= from) {
      pieces.push(text.slice(from, start - 1), '${');
      from = start + 2;
      continue;
    }
    const end = closingBrace(text, start + 2);
    const piece = end === -1 ? undefined : readReference(text.slice(start + 2, end));
    if (piece === undefined) {
      pieces.push(text.slice(from, start + 2));
      from = start + 2;
      continue;
    }
    pieces.push(text.slice(from, start), piece);
    from = end + 1;
  }
}

/** Returns the position of the closing brace, or -1. */
export function closingBrace(text: string, start: number): number {
  const end = text.slice(start, start + LIMITS.files.reference).indexOf('}');
  return end === -1 ? -1 : start + end;
}

function readReference(inside: string): Exclude<Piece, string> | undefined {
  const cut = inside.indexOf(':-');
  const name = cut === -1 ? inside : inside.slice(0, cut);
  if (FOREIGN.test(inside)) return { foreign: inside };
  if (NAME.test(name)) return { name, fallback: cut === -1 ? undefined : inside.slice(cut + 2) };
  if (inside.startsWith('env:') && NAME.test(inside.slice(4))) return { name: inside.slice(4), fallback: undefined };
  return fileReference(inside);
}

function fileReference(inside: string): FileReference | undefined {
  if (inside.startsWith('file:')) return { file: inside.slice(5), variable: undefined };
  const cut = inside.lastIndexOf('#');
  if (!inside.startsWith('envFile:') || !NAME.test(inside.slice(cut + 1))) return undefined;
  return { file: inside.slice(8, cut), variable: inside.slice(cut + 1) };
}

/** Returns the references in a text, in order, without expanding them. */
export const referencesIn = (text: string): readonly Reference[] =>
  piecesOf(text).filter((piece): piece is Reference => typeof piece === 'object' && 'name' in piece);

/** Tells whether a text is one reference to a variable or a file, and nothing else. */
export function isReference(text: string): boolean {
  const [before, piece, after, ...more] = piecesOf(text);
  return before === '' && typeof piece === 'object' && !('foreign' in piece) && after === '' && more.length === 0;
}

/** Lists the variables and files that the references in a text read, for display. Expands nothing. */
export const readBy = (text: string): readonly string[] =>
  piecesOf(text).flatMap((piece) => {
    if (typeof piece === 'string') return [];
    if ('foreign' in piece) return [piece.foreign];
    if ('name' in piece) return [piece.name];
    const file = `file ${piece.file.replace(/^sha256-[0-9a-f]{64}:/, '')}`;
    return [piece.variable === undefined ? file : `${piece.variable} in ${file}`];
  });

/**
 * Expands references as far as possible, to collect the values that must be masked. Never throws for a missing value.
 */
export function lookUpReferences(text: string, env: Readonly<Record<string, string | undefined>>): LookedUp {
  const values: ReferencedValue[] = [];
  const expanded = piecesOf(text).map((piece) => {
    if (typeof piece === 'string') return piece;
    if ('foreign' in piece) return '';
    if ('name' in piece) {
      const { name: variable, fallback = '' } = piece;
      const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
      for (const one of [value, fallback]) if (one) values.push({ value: one, variable });
      return value || fallback;
    }
    try {
      const value = readReferencedFile(piece, env, '');
      values.push({ value, variable: piece.variable });
      return value;
    } catch (error) {
      // An unreadable value cannot leak either; the code that needs it reports why it is missing.
      if (error instanceof ConfigurationError) return '';
      throw error;
    }
  });
  return { expanded: expanded.join(''), values };
}

/**
 * Replaces every reference by its value.
 * @param where what the text belongs to, for the error message: `server "github", env TOKEN`
 * @param onValue called with each value when it is used, so that it is masked from then on
 * @throws ConfigurationError naming the variable, never a value
 */
export function expandReferences(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  where = 'a configured value',
  onValue: (value: ReferencedValue) => void = () => {},
): string {
  if (!text.includes('${')) return text;
  const used = (value: string, variable: string | undefined) => {
    onValue({ value, variable });
    return value;
  };
  return piecesOf(text)
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      if ('foreign' in piece) {
        throw new ConfigurationError(
          `\${${piece.foreign}} in ${where} is a reference in another program's format. Write \${NAME} and set that environment variable.`,
        );
      }
      if ('file' in piece) return used(readReferencedFile(piece, env, where), piece.variable);
      const value = Object.hasOwn(env, piece.name) ? env[piece.name] : undefined;
      if (piece.fallback !== undefined) return used(value || piece.fallback, piece.name);
      if (value !== undefined) return used(value, piece.name);
      throw new ConfigurationError(
        `The environment variable ${piece.name} is not set; ${where} needs it. Set it, or write \${${piece.name}:-default}.`,
      );
    })
    .join('');
}
