/**
 * Defines the part of a client's row about installing: its format of an entry, its files, and the user's next step.
 * @module
 */
import type { World } from '../../config/world.ts';

/** How the gateway is reached: started as a program, or by its address. */
export type Gateway =
  | {
      readonly type: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** Variables that the client should pass on by name, if it can. */
      readonly inherit: readonly string[];
    }
  | {
      readonly type: 'http';
      readonly url: string;
      /** A command line that reaches the address, for clients that start programs only. */
      readonly bridge?: readonly string[] | undefined;
    };

/** Writes the gateway's entry in a client's format, for the map or list at `way`. */
export type EntryWriter = (gateway: Gateway, way: readonly string[]) => Readonly<Record<string, unknown>>;

/** How the gateway is installed into a client. */
export interface Installation {
  readonly entry: EntryWriter;
  /** The files to install into, if they differ from the user's files for import. */
  readonly files?: ((world: World) => readonly string[]) | undefined;
  /** Where a new file goes. Default: the first of the files whose client is present. */
  readonly create?: ((world: World) => string) | undefined;
  /** Each existing file belongs to a separate program, so the entry goes into all of them. */
  readonly everywhere?: boolean | undefined;
  /** A folder that shows that the client is present. Default: the folder of the file. */
  readonly home?: ((world: World) => string) | undefined;
  /**
   * Returns the path of keys to the servers in a document; a string result says why there is none. Default: the row's
   * keys.
   */
  readonly way?:
    | ((document: Readonly<Record<string, unknown>>, file: string) => readonly string[] | string)
    | undefined;
  /** For clients with lists: whether new servers are a list. */
  readonly list?: ((file: string) => boolean) | undefined;
  /** The beginning of a new file with a list. */
  readonly blank?: string | undefined;
  /** The client starts with a short `PATH`, so programs need their full path. */
  readonly shortPath?: boolean | undefined;
  /** The user's next step. Default: restart the client. */
  readonly next?: string | undefined;
  /** The client's own command for the same. */
  readonly otherWay?: ((gateway: Gateway) => string) | undefined;
  /** Why no file of this client can be written, and what to do instead; `always`: not even a named file. */
  readonly instead?: { readonly text: string; readonly always?: boolean | undefined } | undefined;
}
