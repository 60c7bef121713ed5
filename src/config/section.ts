/**
 * Finds the `discovery` section of a file and checks it. The section may stand alone or under `discovery`; a file
 * shared with other products must have it under that key.
 * @module
 */

import { isObject } from '../json/plain-object.ts';
import { isSharedFile } from './find-config.ts';
import { check, isForeignMap, toPathText, WHERE_MAPS_BELONG } from './problems.ts';
import { type DiscoverySection, discoverySchema } from './schema.ts';

/** The section as written, and its place in the file. */
export interface WrittenSection {
  readonly raw: Readonly<Record<string, unknown>>;
  /** `discovery`, or empty when the section is the whole file. */
  readonly prefix: string;
  readonly warnings: readonly string[];
}

/** A section that passed the schema, or its problems. */
type CheckedSection =
  | { readonly ok: true; readonly value: DiscoverySection }
  | { readonly ok: false; readonly problems: readonly string[] };

const OWN_KEYS = Object.keys(discoverySchema.shape);

/** Returns the section of a document; undefined when it has none; an error text when it cannot have one. */
export function findSection(document: unknown, file = ''): WrittenSection | string | undefined {
  if (!isObject(document)) return `expected an object, got ${describe(document)}`;
  const shared = isSharedFile(file);
  const { discovery } = document;
  if (discovery === undefined) return shared ? undefined : { raw: document, prefix: '', warnings: [] };
  if (!isObject(discovery)) return `discovery: expected an object, got ${describe(discovery)}`;
  if (shared) return { raw: discovery, prefix: 'discovery', warnings: [] };
  const { extends: above, ...beside } = document;
  const foreign = Object.keys(beside).filter(isForeignMap);
  const misplaced = Object.keys(beside).filter((key) => OWN_KEYS.includes(key));
  return {
    raw: above === undefined || discovery.extends !== undefined ? discovery : { extends: above, ...discovery },
    prefix: 'discovery',
    warnings: [
      ...misplaced.map((key) => `\`${key}\` is beside \`discovery\` and is ignored; move it into \`discovery\`.`),
      ...foreign.map((key) => `\`${key}\` is beside \`discovery\` and is ignored: ${WHERE_MAPS_BELONG}.`),
    ],
  };
}

/** Checks a section: its shape, and that names are unique. */
export function checkSection({ raw, prefix }: WrittenSection): CheckedSection {
  const checked = check(discoverySchema, raw, prefix);
  const repeated = repeatedNames(raw.servers, prefix);
  if (checked.ok && repeated.length === 0) return checked;
  return { ok: false, problems: [...(checked.ok ? [] : checked.problems), ...repeated] };
}

function repeatedNames(servers: unknown, prefix: string): string[] {
  if (!Array.isArray(servers)) return [];
  const first = new Map<string, string>();
  const problems: string[] = [];
  servers.forEach((server, index) => {
    const name: unknown = isObject(server) ? server.name : undefined;
    if (typeof name !== 'string') return;
    const place = toPathText(prefix, ['servers', index]);
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, place);
    else problems.push(`${place}.name: ${JSON.stringify(name.slice(0, 200))} is already the name of ${earlier}`);
  });
  return problems;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
