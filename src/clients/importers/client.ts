/**
 * Defines a row of the table of clients, and helpers that rows share.
 * @module
 */
import { join } from 'node:path';
import type { Policy } from '../../config/json-excerpt.ts';
import type { World } from '../../config/world.ts';
import type { Installation } from '../installers/installation.ts';
import type { Adapter } from './adapters.ts';
import type { FindEntries } from './containers.ts';
import type { Dialect, TimeoutField } from './dialect.ts';
import { EDITORS, editorFolder } from './places.ts';
import type { Switches } from './switches.ts';

/** A program whose files can be imported, and into which this gateway can be installed. */
export interface Client {
  readonly title: string;
  /** The user's own files, most likely first. All of them count. `*` matches any name. */
  readonly user: (world: World) => readonly string[];
  /** Files of older versions, read only if none of `user` exists. */
  readonly former?: ((world: World) => readonly string[]) | undefined;
  /** Files that an administrator wrote for all users. */
  readonly system?: ((world: World) => readonly string[]) | undefined;
  /** Project files, relative to the project's folder. They need trust. */
  readonly project?: readonly string[] | undefined;
  /** Which of two entries of one name wins. Default `project`. */
  readonly precedence?: 'user' | 'project' | undefined;
  /** The path of keys to the servers inside the file; of several, the first that exists. */
  readonly keys: readonly (readonly string[])[];
  /** Finds the servers if `keys` is not enough. */
  readonly find?: FindEntries | undefined;
  /** Lists outside the entries that switch servers off. */
  readonly switches?: Switches | undefined;
  /** Selects the parts about servers in a file that holds much else. */
  readonly excerpt?: ((world: World) => Policy) | undefined;
  readonly dialect: Dialect;
  readonly adapt?: Adapter | undefined;
  /** How this gateway is installed into the client. */
  readonly install: Installation;
}

/** A field with a timeout for calls. */
export const calls = (unit: 1 | 1_000, key = 'timeout'): TimeoutField => ({ key, limits: 'call', unit });
/** A field with a timeout for connecting. */
export const connects = (unit: 1 | 1_000, key = 'timeout'): TimeoutField => ({ key, limits: 'connect', unit });
/** The timeouts of Codex and clients like it. */
export const STARTUP_AND_TOOL = [
  connects(1, 'startup_timeout_ms'),
  connects(1_000, 'startup_timeout_sec'),
  calls(1_000, 'tool_timeout_sec'),
];

/** The key most clients use. */
export const MCP_SERVERS = [['mcpServers']] as const;
/** No variables. */
export const LITERAL: Dialect = { variables: 'literal' };
/** `${NAME}`. */
export const BRACES: Dialect = { variables: 'braces' };

/** Files below the home folder. */
export const inHome =
  (...paths: readonly string[]) =>
  ({ home }: World): readonly string[] =>
    paths.map((path) => join(home, path));

/** Files of an extension, in every editor that may have it. */
export const inEditors =
  (...paths: readonly string[]) =>
  (world: World): readonly string[] =>
    EDITORS.flatMap((editor) => paths.map((path) => join(editorFolder(world, editor), path)));
