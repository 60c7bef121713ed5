/**
 * A client and the world in, the files of that client that the gateway is installed into out.
 * @module
 */
import { dirname, resolve } from 'node:path';
import { expandHome } from '../../config/paths.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { type Client, type ClientType, clientOf } from '../importers/clients.ts';
import { isThere } from '../importers/places.ts';

/** The files of a client that is on this machine; empty when it is not. A file that does not exist is to be made. */
export function targetFiles(type: ClientType, world: World): readonly string[] {
  const client = clientOf(type);
  const { everywhere, create, instead } = client.install;
  if (instead !== undefined) return [];
  const files = candidatesOf(client, world);
  const made = create?.(world);
  if (made !== undefined && isThere(made)) return [made];
  const existing = files.filter(isThere);
  if (existing.length > 0) return everywhere ? existing : existing.slice(0, 1);
  const fresh = made ?? files.find((file) => isThere(homeOf(client, world, file)));
  return fresh !== undefined && isThere(homeOf(client, world, fresh)) ? [fresh] : [];
}

/** Every file that may hold our entry, whichever was the right one when it was written; the likeliest first. */
export function possibleFiles(type: ClientType, world: World): readonly string[] {
  const client = clientOf(type);
  const existing = candidatesOf(client, world).filter(isThere);
  return [...new Set([...targetFiles(type, world), ...(client.install.instead === undefined ? existing : [])])];
}

/** The file a person named. */
export const namedTarget = (written: string, world: World): string => resolve(world.cwd, expandHome(written, world));

/** Why there is nothing to install into. */
export function notThere(type: ClientType, world: World): ConfigurationError {
  const client = clientOf(type);
  const [file = ''] = candidatesOf(client, world);
  return new ConfigurationError(
    `${client.title} was not found on this machine: neither ${file} nor ${homeOf(client, world, file)} exists. Name its file with --file PATH if it is elsewhere.`,
  );
}

/** Places without a `*`, those of older versions last. */
function candidatesOf(client: Client, world: World): readonly string[] {
  const files = client.install.files?.(world) ?? [...client.user(world), ...(client.former?.(world) ?? [])];
  return files.filter((file) => !file.includes('*'));
}

const homeOf = ({ install }: Client, world: World, file: string): string => install.home?.(world) ?? dirname(file);
