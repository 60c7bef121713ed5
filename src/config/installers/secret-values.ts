/**
 * A document in, the values in it that must not be shown out: whatever stands in environments, headers and logins, and
 * what an address carries beside the place.
 * @module
 */
import { isMarked } from '../importers/ourselves.ts';
import { isObject } from '../plain-object.ts';

const HOLDERS =
  /^(?:env|environment|envs|headers|http_headers|requestOptions|oauth\w*|auth|credentials|primaryApiKey|.*(?:token|secret|password|api_?key).*)$/i;
const MAX_VALUES = 2_000;
// Shorter ones are words that stand everywhere, such as `true`.
const SHORTEST = 5;

/** The values, the longest first so that none is hidden inside another. References are no secrets. */
export function secretValues(document: unknown): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown, secret: boolean): void => {
    if (found.size >= MAX_VALUES) return;
    if (typeof value === 'string') {
      const carried = secret
        ? [value]
        : [...value.matchAll(/\/\/([^/@\s]+)@|[?&][^=\s]{1,100}=([^&\s]+)/g)].flatMap(
            ([, user, query]) => user ?? query ?? [],
          );
      for (const text of carried) if (text.length >= SHORTEST && !/^(?:Bearer )?\$/.test(text)) found.add(text);
    } else if (Array.isArray(value)) for (const item of value) visit(item, secret);
    else if (isObject(value)) {
      // What we wrote ourselves is no secret.
      const ours = isMarked(value);
      for (const [key, item] of Object.entries(value)) visit(item, secret || (!ours && HOLDERS.test(key)));
    }
  };
  visit(document, false);
  return [...found].sort((a, b) => b.length - a.length);
}
