/**
 * Imports the servers of a client's document: finds, switches and converts the entries as that client does.
 * @module
 */
import { dirname } from 'node:path';
import type { Pins } from '../../config/pins.ts';
import type { World } from '../../config/world.ts';
import { isObject } from '../../json/plain-object.ts';
import { type EntryContext, toServer } from './client-entry.ts';
import type { Client } from './clients.ts';
import { entriesUnder } from './containers.ts';
import { type Imported, joinImported } from './imported-entry.ts';
import type { FileScope } from './list-clients.ts';

/** A document and its origin. */
export interface ClientDocument {
  readonly document: unknown;
  readonly file: string;
  readonly scope?: FileScope | undefined;
  /** The folder of the project that the file belongs to. */
  readonly root?: string | undefined;
  /** The parsed document of the file that `switches.beside` names. */
  readonly beside?: unknown;
  /** Pins the files that a project's entries name. */
  readonly pins?: Pins | undefined;
}

/** Converts a document; a string result says what was expected instead. */
export function fromClientDocument(client: Client, about: ClientDocument, world: World): Imported | string {
  const { document, file, scope, root, beside, pins } = about;
  if (!isObject(document)) return 'expected an object';
  const found = (client.find ?? entriesUnder)(document, { world, file, keys: client.keys });
  if (typeof found === 'string') return `expected ${found}`;
  const context: EntryContext = {
    world,
    folder: dirname(file),
    workspace: root,
    inputs: document.inputs,
    dialect: client.dialect,
    adapt: client.adapt,
    pins,
  };
  const isOff = (name: string) => client.switches?.isOff(name, { world, document, beside, scope }) ?? false;
  return joinImported(
    found.map(({ name, raw, path }) => {
      const imported = toServer(name, raw, path, context);
      return isOff(name) ? switchedOff(imported) : imported;
    }),
  );
}

const switchedOff = (imported: Imported): Imported => ({
  ...imported,
  entries: imported.entries.map((found) => ({ ...found, entry: { ...found.entry, enabled: false } })),
});
