/**
 * What a row of the table of clients says about installing: how the client writes an entry, and where and how a person
 * goes on from there.
 * @module
 */
import type { World } from '../../config/world.ts';

/** How the gateway is reached: started as a program, or found at an address. */
export type Gateway =
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** Variables the client should hand on, where it does that by name. */
      readonly inherit: readonly string[];
    }
  | {
      readonly type: 'http';
      readonly url: string;
      /** A command line that reaches the address, for clients that start programs only. */
      readonly bridge?: readonly string[] | undefined;
    };

/** Writes the gateway as one client writes a server that stands at the end of a way of keys. */
export type EntryWriter = (gateway: Gateway, way: readonly string[]) => Readonly<Record<string, unknown>>;

/** How the gateway gets into a client. */
export interface Installation {
  readonly entry: EntryWriter;
  /** The files, where these are not the user's files the client is imported from. */
  readonly files?: ((world: World) => readonly string[]) | undefined;
  /** Where a new file goes. Default: the first of the files whose client is there. */
  readonly create?: ((world: World) => string) | undefined;
  /** Each existing file belongs to a program of its own, so the entry goes into all of them. */
  readonly everywhere?: boolean | undefined;
  /** A folder that shows that the client is there. Default: the folder of the file. */
  readonly home?: ((world: World) => string) | undefined;
  /** The way to the servers in a document; a text says why there is none. Default: the keys of the row. */
  readonly way?:
    | ((document: Readonly<Record<string, unknown>>, file: string) => readonly string[] | string)
    | undefined;
  /** For clients that have lists: whether servers are one where there are none yet. */
  readonly list?: ((file: string) => boolean) | undefined;
  /** What a new file with a list begins with. */
  readonly blank?: string | undefined;
  /** Started from a desktop with a short `PATH`, so that programs must be named in full. */
  readonly shortPath?: boolean | undefined;
  /** What to do next. Default: restart it. */
  readonly next?: string | undefined;
  /** The client's own command for the same. */
  readonly otherWay?: ((gateway: Gateway) => string) | undefined;
  /** Why no file of this client can be written, and what to do instead; `always` where not even a named one can. */
  readonly instead?: { readonly text: string; readonly always?: boolean | undefined } | undefined;
}
