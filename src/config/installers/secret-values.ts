/**
 * A document in, the values in it that must not be shown out: whatever stands in environments, headers and logins,
 * behind the names of options, and what an address carries beside the place.
 * @module
 */

import { isObject } from '../../plain-object.ts';
import { isSecretName } from '../../secrets/secret-names.ts';
import { isMarked } from '../importers/ourselves.ts';

/** Whatever their names are, all in them is meant for one server. */
const HOLDERS = /^(?:env|environment|envs|headers|http_headers|requestOptions|oauth\w*|auth|credentials)$/i;
const MAX_VALUES = 2_000;
// Shorter ones are words that stand everywhere, such as `true`.
const SHORTEST = 5;
const ADDRESS_PARTS = /\/\/([^/@\s]+)@|[?&][^=\s]{1,100}=([^&\s]+)/g;
/** `--api-key=x`, `TOKEN=x`, `Authorization: Bearer x`, also behind `--env=` and `--header=`. */
const ASSIGNMENT = /^(?:-{1,2}[\w-]{1,100}=)?-{0,2}([\w.-]{1,100})[ \t]*[=:][ \t]*(\S.*)$/s;

/** The values, the longest first so that none is hidden inside another. References are no secrets. */
export function secretValues(document: unknown): readonly string[] {
  const found = new Set<string>();
  const add = (text: string | undefined) => {
    if (text !== undefined && text.length >= SHORTEST && !/^(?:Bearer )?\$/.test(text)) found.add(text);
  };
  const visit = (value: unknown, secret: boolean): void => {
    if (found.size >= MAX_VALUES) return;
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      if (secret) add(text);
      else for (const part of partsOf(text)) add(part);
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) visit(item, secret || isSecretName(optionName(value[at - 1])));
    } else if (isObject(value)) {
      // What we wrote ourselves is no secret.
      const ours = isMarked(value);
      for (const [key, item] of Object.entries(value))
        visit(item, secret || (!ours && (HOLDERS.test(key) || isSecretName(key))));
    }
  };
  visit(document, false);
  return [...found].sort((a, b) => b.length - a.length);
}

function partsOf(text: string): readonly (string | undefined)[] {
  const [, name, assigned] = ASSIGNMENT.exec(text) ?? [];
  return [
    ...[...text.matchAll(ADDRESS_PARTS)].map(([, user, query]) => user ?? query),
    name !== undefined && isSecretName(name) ? assigned : undefined,
  ];
}

/** The name of an option whose value comes next. */
const optionName = (item: unknown): string =>
  typeof item === 'string' && /^--?[\w.-]{1,100}$/.test(item) ? item.replace(/^-+/, '') : '';
