/**
 * Finds the files of a client into which the gateway is installed.
 * @module
 */
import { dirname, resolve } from 'node:path';
import { expandHome } from '../../config/paths.ts';
import type { World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { type Client, type ClientType, clientOf } from '../importers/clients.ts';
import { isThere } from '../importers/places.ts';

/** Returns the files of a client on this machine; empty when the client is absent. A missing file is to be created. */
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

/** Returns every file that may hold our entry, the likeliest first. */
export function possibleFiles(type: ClientType, world: World): readonly string[] {
  const client = clientOf(type);
  const existing = candidatesOf(client, world).filter(isThere);
  return [...new Set([...targetFiles(type, world), ...(client.install.instead === undefined ? existing : [])])];
}

/** Returns the path of a file that the user named. */
export const namedTarget = (written: string, world: World): string => resolve(world.cwd, expandHome(written, world));

/** Explains why there is no file to install into. */
export function notThere(type: ClientType, world: World): ConfigurationError {
  const client = clientOf(type);
  const [file = ''] = candidatesOf(client, world);
  return new ConfigurationError(
    `${client.title} was not found on this machine: neither ${file} nor ${homeOf(client, world, file)} exists. Name its file with --file PATH if it is elsewhere.`,
  );
}

/** Returns places without a `*`; those of older versions last. */
function candidatesOf(client: Client, world: World): readonly string[] {
  const files = client.install.files?.(world) ?? [...client.user(world), ...(client.former?.(world) ?? [])];
  return files.filter((file) => !file.includes('*'));
}

const homeOf = ({ install }: Client, world: World, file: string): string => install.home?.(world) ?? dirname(file);
