/**
 * Merges the written settings of all layers: the stronger file wins field by field. Defaults are not filled in yet.
 * @module
 */

import { isObject } from '../json/plain-object.ts';
import type { Layer } from './layers.ts';
import { expandPath } from './paths.ts';
import { settingsShape } from './settings-schema.ts';
import type { World } from './world.ts';

type Written = Record<string, unknown>;

const PATHS = [
  ['cache', 'dir'],
  ['audit', 'file'],
  ['log', 'file'],
  ['search', 'phrases'],
] as const;

/**
 * Merges the settings of all layers, strongest first.
 * @param world expands the paths; without it they stay as written
 */
export function mergeSettings(layers: readonly Layer[], world: World | undefined): Written {
  return layers.map((layer) => settingsOf(layer, world)).reduceRight((lower, upper) => merge(upper, lower), {});
}

function settingsOf({ raw, base, file, prefix }: Layer, world: World | undefined): Written {
  const settings: Written = {};
  for (const key of Object.keys(settingsShape)) settings[key] = raw[key];
  if (world === undefined) return settings;
  for (const [group, key] of PATHS) {
    const fields = settings[group];
    if (!isObject(fields) || typeof fields[key] !== 'string') continue;
    const where = `${prefix === '' ? '' : `${prefix}.`}${group}.${key} in ${file}`;
    settings[group] = { ...fields, [key]: expandPath(fields[key], base, world, where) };
  }
  return settings;
}

/** Only keys of the schema get here, so plain objects are safe to build. */
function merge(upper: Written, lower: Written): Written {
  const result: Written = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    if (value === undefined) continue;
    const below = result[key];
    result[key] = isObject(value) && isObject(below) ? merge(value, below) : value;
  }
  return result;
}
