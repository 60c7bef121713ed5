/**
 * `${NAME}` references: text with references and an environment in, the expanded text out. Used for paths when a
 * configuration is loaded, and for secrets only at the moment a connection opens.
 *
 * `${NAME}` is the variable, `${NAME:-default}` the default when the variable is unset or empty, `${env:NAME}` is how
 * Windsurf and Cursor spell the first, `$${` is a literal `${`. Other text in braces is left alone.
 * @module
 */
import { ConfigurationError } from '../errors.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FOREIGN = /^(?:file|input|command|config):/;

/** One reference found in a text. */
export interface Reference {
  readonly name: string;
  readonly fallback: string | undefined;
}

type Piece = string | Reference | { readonly foreign: string };

/** Splits once from left to right; each character is looked at a bounded number of times. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf('${', from);
    const end = start === -1 ? -1 : text.indexOf('}', start);
    if (end === -1) {
      pieces.push(text.slice(from));
      return pieces;
    }
    if (text[start - 1] === '$' && start - 1 >= from) {
      pieces.push(text.slice(from, start - 1), '${');
      from = start + 2;
      continue;
    }
    const inside = text.slice(start + 2, end);
    const piece = readReference(inside);
    if (piece === undefined) {
      pieces.push(text.slice(from, start + 2));
      from = start + 2;
      continue;
    }
    pieces.push(text.slice(from, start), piece);
    from = end + 1;
  }
}

function readReference(inside: string): Reference | { foreign: string } | undefined {
  const cut = inside.indexOf(':-');
  const name = cut === -1 ? inside : inside.slice(0, cut);
  if (NAME.test(name)) return { name, fallback: cut === -1 ? undefined : inside.slice(cut + 2) };
  if (inside.startsWith('env:') && NAME.test(inside.slice(4))) return { name: inside.slice(4), fallback: undefined };
  return FOREIGN.test(inside) ? { foreign: inside } : undefined;
}

/** The references in a text, in order, without looking any of them up. */
export const referencesIn = (text: string): readonly Reference[] =>
  piecesOf(text).filter((piece): piece is Reference => typeof piece === 'object' && 'name' in piece);

/**
 * Replaces every reference by its value.
 * @param where what the text belongs to, for the message when a variable is missing: `server "github", env TOKEN`
 * @throws ConfigurationError naming the variable, never a value
 */
export function expandReferences(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  where = 'a configured value',
): string {
  if (!text.includes('${')) return text;
  return piecesOf(text)
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      if ('foreign' in piece) {
        throw new ConfigurationError(
          `\${${piece.foreign}} in ${where} is another program's kind of reference. Write \${NAME} and set that environment variable.`,
        );
      }
      const value = Object.hasOwn(env, piece.name) ? env[piece.name] : undefined;
      if (piece.fallback !== undefined) return value || piece.fallback;
      if (value !== undefined) return value;
      throw new ConfigurationError(
        `The environment variable ${piece.name} is not set; ${where} needs it. Set it, or write \${${piece.name}:-default}.`,
      );
    })
    .join('');
}
