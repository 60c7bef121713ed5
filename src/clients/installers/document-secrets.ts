/**
 * A document in, the values in it that must not be shown out: what stands in environments, headers and logins, behind the
 * names of options, and what an argument or an address carries beside its place. Errs on the side of secrecy.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import { isObject } from '../../json/plain-object.ts';
import { endsWithSecretNoun, isSecretName } from '../../secrets/secret-names.ts';
import { secretParts } from '../../secrets/secret-values.ts';
import { isMarked } from '../importers/ourselves.ts';

/** Whatever their names are, all in them is meant for one server. */
const HOLDERS = /^(?:headers|http_headers|requestOptions|oauth\w*|auth|credentials)$/i;
/** The same, but settings that are no secrets stand there, too. */
const ENVIRONMENTS = /^(?:env|environment|envs)$/i;
// Shorter ones are words that stand everywhere, such as `true`.
const SHORTEST = 5;
const ADDRESS_PARTS = /\/\/([^/@\s]+)@|[?&][^=\s]{1,100}=([^&\s]+)/g;
/** `--api-key=x`, `TOKEN=x`, `Authorization: Bearer x`, also behind `--env=` and `--header=`. */
const ASSIGNMENT = /^(?:-{1,2}[\w-]{1,100}=)?-{0,2}([\w.-]{1,100})[ \t]*[=:][ \t]*(\S.*)$/s;
/** A plain word, a small number: what a name of something may be as well. */
const WORD = /^(?:[A-Za-z]{1,20}|\d{1,6})$/;
/** What is called so is a name. */
const NAMING = /^(?:name|id|type|command|server|title)$/i;
const SWITCH = /^(?:true|false|null|none|yes|no|on|off|\d)$/i;

/** What must not be shown of a document. */
export interface SecretValues {
  /** Hidden wherever they stand; the longest first so that none is hidden inside another. */
  readonly anywhere: readonly string[];
  /** Hidden only behind their names: something else may be called the same. */
  readonly named: readonly { readonly name: string; readonly value: string }[];
}

/** The values. References are no secrets. */
export function secretValues(document: unknown): SecretValues {
  const parts = new Set<string>();
  const named = new Map<string, { readonly name: string; readonly value: string }>();
  const names: string[] = [];
  const add = (value: string, name: string) => {
    if (/^(?:Bearer )?\$/.test(value)) return;
    if (value.length >= SHORTEST || (value !== '' && endsWithSecretNoun(name) && !SWITCH.test(value)))
      named.set(JSON.stringify([name, value]), { name, value });
  };
  const visit = (value: unknown, name: string, secret: boolean, inEnvironment: boolean): void => {
    if (parts.size + named.size >= LIMITS.secrets.documentValues) return;
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value);
      const isSetting = inEnvironment && WORD.test(text) && !isSecretName(name);
      if (secret && !isSetting) return add(text, name);
      if (NAMING.test(name)) names.push(text);
      const [, key = '', assigned = ''] = ASSIGNMENT.exec(text) ?? [];
      if (isSecretName(key)) add(assigned, key);
      for (const part of partsOf(text, optionName(name)))
        if (part.length >= SHORTEST && !/^\$/.test(part)) parts.add(part);
    } else if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) {
        const before = typeof value[at - 1] === 'string' ? value[at - 1] : '';
        visit(item, before, secret || isSecretName(optionName(before)), inEnvironment);
      }
    } else if (isObject(value)) {
      // What we wrote ourselves is no secret.
      const ours = isMarked(value);
      for (const [key, item] of Object.entries(value)) {
        names.push(key);
        const isEnvironment = !ours && ENVIRONMENTS.test(key);
        const isSecret = isEnvironment || (!ours && (HOLDERS.test(key) || isSecretName(key)));
        visit(item, key, secret || isSecret, inEnvironment || isEnvironment);
      }
    }
  };
  visit(document, '', false, false);
  const all = names.join('\n');
  const mayBeName = ({ value }: { readonly value: string }) =>
    value.length < SHORTEST || WORD.test(value) || all.includes(value);
  const anywhere = [...named.values()].filter((one) => !mayBeName(one)).map(({ value }) => value);
  return {
    anywhere: [...new Set([...anywhere, ...parts])].sort((a, b) => b.length - a.length),
    named: [...named.values()].filter(mayBeName),
  };
}

const partsOf = (text: string, option: string): readonly string[] => [
  ...[...text.matchAll(ADDRESS_PARTS)].map(([, user, query]) => user ?? query ?? ''),
  ...secretParts(text, option),
];

/** The name of an option whose value comes next. */
const optionName = (item: string): string => (/^--?[\w.-]{1,100}$/.test(item) ? item.replace(/^-+/, '') : '');
