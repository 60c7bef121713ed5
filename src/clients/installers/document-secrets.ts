/**
 * Collects the values of a document that must not be shown: values in environments, headers and logins, values of
 * options, and credentials in arguments and URLs. When in doubt, a value counts as secret.
 * @module
 */

import { LIMITS } from '../../core/limits.ts';
import { isObject } from '../../json/plain-object.ts';
import { endsWithSecretNoun, isSecretName } from '../../secrets/secret-names.ts';
import { secretParts } from '../../secrets/secret-values.ts';
import { isMarked } from '../importers/ourselves.ts';

/** Every value under these keys is meant for one server, whatever its name. */
const HOLDERS = /^(?:headers|http_headers|requestOptions|oauth\w*|auth|credentials)$/i;
/** Like `HOLDERS`, but with settings that are not secret. */
const ENVIRONMENTS = /^(?:env|environment|envs)$/i;
// Shorter ones are words that stand everywhere, such as `true`.
const SHORTEST = 5;
const ADDRESS_PARTS = /\/\/([^/@\s]+)@|[?&][^=\s]{1,100}=([^&\s]+)/g;
/** `--api-key=x`, `TOKEN=x`, `Authorization: Bearer x`, also after `--env=` and `--header=`. */
const ASSIGNMENT = /^(?:-{1,2}[\w-]{1,100}=)?-{0,2}([\w.-]{1,100})[ \t]*[=:][ \t]*(\S.*)$/s;
/** A plain word or a small number, which may also be a name. */
const WORD = /^(?:[A-Za-z]{1,20}|\d{1,6})$/;
/** Keys whose value is a name. */
const NAMING = /^(?:name|id|type|command|server|title)$/i;
const SWITCH = /^(?:true|false|null|none|yes|no|on|off|\d)$/i;

/** What must not be shown of a document. */
export interface SecretValues {
  /** Hidden everywhere; the longest first, so that none is hidden inside another. */
  readonly anywhere: readonly string[];
  /** Hidden only after their names, because the value may also be a name. */
  readonly named: readonly { readonly name: string; readonly value: string }[];
}

/** Returns the secret values of a document. References are not secret. */
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
      // Entries written by `install` are not secret.
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

/** Returns the name of an option whose value is the next item. */
const optionName = (item: string): string => (/^--?[\w.-]{1,100}$/.test(item) ? item.replace(/^-+/, '') : '');
