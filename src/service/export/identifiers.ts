/**
 * Makes unique identifiers of the names of servers and tools, for generated code.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { nameWords } from '../infer/name-words.ts';

/** Returns an identifier in camel case for each name: `list_issues` becomes `listIssues`. */
export function identifiers(names: Iterable<string>): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  return new Map(
    [...new Set(names)].sort().map((name) => {
      const plain = identifier(name);
      let own = plain;
      let count = counts.get(plain) ?? 1;
      while (taken.has(own.toLowerCase())) own = `${plain}${++count}`;
      counts.set(plain, count);
      taken.add(own.toLowerCase());
      return [name, own];
    }),
  );
}

/**
 * Writes the declarations of one file. What a schema refers to is named after it, and may be called like a declaration of
 * another tool; then the schema gets another name.
 */
export class Declarations {
  readonly #taken = new Set<string>();

  write<T extends { readonly text: string }>(
    wanted: string,
    write: (name: string) => T,
  ): T & { readonly name: string } {
    for (let count = 1; ; count++) {
      const name = count === 1 ? wanted : `${wanted}${count}`;
      const written = write(name);
      const declared = [...written.text.matchAll(/^(?:export )?(?:type|const) (\w+)/gm)].map(([, own = '']) => own);
      if (declared.some((own) => this.#taken.has(own))) continue;
      for (const own of declared) this.#taken.add(own);
      return { ...written, name };
    }
  }
}

/** The same in Pascal case, for types. */
export const pascal = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

function identifier(name: string): string {
  const [first = '', ...others] = nameWords(name)
    .map((word) => word.replace(/[^a-z0-9]/g, ''))
    .filter(Boolean);
  const plain = [first, ...others.map(pascal)].join('').slice(0, LIMITS.names.compared);
  return /^[a-z]/.test(plain) && !RESERVED.has(plain) ? plain : `tool${pascal(plain)}`;
}

/** Words of the language, and `client`: `createClient` is the whole. */
const RESERVED: ReadonlySet<string> = new Set(
  'client arguments await break case catch class const constructor continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected prototype public return static super switch then this throw true try typeof undefined var void while with yield any unknown never string number boolean object symbol bigint'.split(
    ' ',
  ),
);
