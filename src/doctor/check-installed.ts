/**
 * Checks the entries that start this gateway in clients: whether a folder can redirect them, and whether their program
 * still exists.
 * @module
 */
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { CLIENT_TYPES, type ClientType } from '../clients/importers/clients.ts';
import { type OwnEntry, ownEntryIn } from '../clients/installers/installed.ts';
import { possibleFiles } from '../clients/installers/target-files.ts';
import type { World } from '../config/world.ts';
import type { Check } from './check.ts';

/** One finding for each file with an entry of ours. Unreadable files are reported as sources. */
export async function checkInstalled(world: World): Promise<Check[]> {
  const files = CLIENT_TYPES.flatMap((type) => possibleFiles(type, world).map((file) => ({ type, file })));
  const found = await Promise.all(
    files.map(async ({ type, file }) => {
      const entry = await ownEntryIn(type, file, world);
      return entry === undefined ? [] : [checkEntry(type, file, entry)];
    }),
  );
  return found.flat();
}

function checkEntry(type: ClientType, file: string, { name, command, byHand }: OwnEntry): Check {
  const about = { kind: 'machine', subject: `${type} ${file}`, check: 'entry' } as const;
  const again = `anygpt mcp install ${type}`;
  const fix = byHand ? `Remove the entry "${name}", then run: ${again}` : again;
  const [program, ...args] = command;
  if (program === undefined) return { ...about, status: 'ok', detail: `"${name}" connects to the gateway by URL` };
  if (!isAbsolute(program)) {
    const detail = `"${name}" starts ${JSON.stringify(program)}, which the folder a client works in can replace by another program`;
    return { ...about, status: 'warn', detail, fix };
  }
  const gone = [program, ...args.filter((word) => isAbsolute(word) && /\.[cm]?js$/.test(word))].find(
    (path) => !existsSync(path),
  );
  if (gone !== undefined)
    return { ...about, status: 'warn', detail: `"${name}" starts ${gone}, which no longer exists`, fix };
  return { ...about, status: 'ok', detail: `"${name}" starts the gateway by its full path` };
}
