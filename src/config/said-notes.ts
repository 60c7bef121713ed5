/**
 * Selects which notes about a configuration to print now. Every note is printed in full once, and notes about broken
 * sources every time, but never so many that they hide the result. One line points to the rest. Printed notes are
 * recorded in the state folder, per configuration and folder; a note that disappears and returns is printed again. Two
 * processes at once may lose each other's record and print a note twice.
 * @module
 */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LIMITS } from '../core/limits.ts';
import { counted } from '../text/counted.ts';
import { isBrokenSource, type ResolvedConfig } from './resolved-config.ts';

/** More notes than this at once would hide the result. */
const FEW = 3;

/** What decides how much is printed. */
interface Telling {
  /** The command is about the configuration, so every note is printed every time. */
  readonly whole: boolean;
  /** A person reads the output; only then a note counts as printed. */
  readonly toPerson: boolean;
  readonly cwd: string;
}

type Told = Pick<ResolvedConfig, 'warnings' | 'sources' | 'servers' | 'origin' | 'home'>;

/** Returns the notes to print, in order. Never rejects: a note that cannot be recorded is printed again. */
export async function notesToSay(config: Told, { whole, toPerson, cwd }: Telling): Promise<readonly string[]> {
  const { warnings, origin = '', home } = config;
  const file = join(home, 'said.json');
  const place = digest(`${origin}\n${cwd}`);
  const places = await readPlaces(file);
  const before = new Set(places.get(place));
  const broken = new Set(
    config.sources.filter(isBrokenSource).map(({ type, message }) => `Source ${type}: ${message}`),
  );
  // Without servers nothing works, and the notes are the reason.
  const always = warnings.filter((warning) => config.servers.length === 0 || broken.has(warning));
  const fresh = warnings.filter((warning) => !always.includes(warning) && !before.has(digest(warning)));
  const inFull = new Set(whole ? warnings : [...always.slice(0, FEW), ...(fresh.length <= FEW ? fresh : [])]);
  const rest = warnings.filter((warning) => !inFull.has(warning) && !before.has(digest(warning)));
  const known = warnings.filter((warning) => inFull.has(warning) || before.has(digest(warning))).map(digest);
  if (toPerson && (known.length !== before.size || known.some((hash) => !before.has(hash))))
    await remember(file, places, place, known);
  const count = counted(rest.length, inFull.size > 0 ? 'more note' : 'note');
  const more = `${count} about the configuration: anygpt mcp config validate`;
  return [...inFull, ...(rest.length > 0 ? [more] : [])];
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

async function readPlaces(file: string): Promise<Map<string, readonly string[]>> {
  try {
    const { places } = JSON.parse(await readFile(file, 'utf8'));
    return new Map(
      Object.entries<unknown>(places).map(([place, hashes]) => [
        place,
        Array.isArray(hashes) ? hashes.map(String) : [],
      ]),
    );
  } catch {
    // Missing or unreadable: no note was printed yet.
    return new Map();
  }
}

async function remember(
  file: string,
  places: Map<string, readonly string[]>,
  place: string,
  hashes: readonly string[],
): Promise<void> {
  places.delete(place);
  if (hashes.length > 0) places.set(place, hashes);
  const latest = Object.fromEntries([...places].slice(-LIMITS.files.notes));
  const { writeAtomically } = await import('../disk/write-atomically.ts');
  // A failed write only means that a note is printed again, so it is not reported.
  await writeAtomically(file, `${JSON.stringify({ version: 1, places: latest })}\n`).catch(() => undefined);
}
