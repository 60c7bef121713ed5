/**
 * Lists every string of a tool definition, keys included, with its JSON pointer. Bounded for any definition.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { pointerPart } from '../definition-diff.ts';

/** One string. The place of a key is that of its value. */
interface DefinitionText {
  readonly place: string;
  readonly text: string;
}

/** Returns the strings in the order of the definition, up to a number of characters. */
export function textsOf(definition: unknown): DefinitionText[] {
  const texts: DefinitionText[] = [];
  let room = LIMITS.approvals.scanned;
  let values = 0;
  const add = (place: string, text: string): void => {
    if (room <= 0) return;
    texts.push({ place, text: text.slice(0, room) });
    room -= text.length;
  };
  const walk = (value: unknown, place: string, depth: number): void => {
    values += 1;
    if (room <= 0 || values > LIMITS.approvals.values || depth > LIMITS.json.depth) return;
    if (typeof value === 'string') add(place, value);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, one] of Object.entries(value)) {
      const below = `${place}/${pointerPart(key)}`;
      if (!Array.isArray(value)) add(below, key);
      walk(one, below, depth + 1);
    }
  };
  walk(definition, '', 0);
  return texts;
}
