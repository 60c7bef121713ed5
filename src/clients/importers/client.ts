/**
 * What a row of the table of clients says, and the words the rows have in common.
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

/** One program whose files can be imported, and which this gateway can be installed into. */
export interface Client {
  readonly title: string;
  /** The user's own files, all of which count, the most likely first. `*` stands for any name. */
  readonly user: (world: World) => readonly string[];
  /** Where they were in older versions: read only when there is none of `user`. */
  readonly former?: ((world: World) => readonly string[]) | undefined;
  /** Files an administrator wrote for all users. */
  readonly system?: ((world: World) => readonly string[]) | undefined;
  /** Files that come with a project, relative to its folder. They are used only once they are trusted. */
  readonly project?: readonly string[] | undefined;
  /** Which of two entries of one name counts. Default `project`. */
  readonly precedence?: 'user' | 'project' | undefined;
  /** The way to the servers inside the file; where there are several, the first that exists. */
  readonly keys: readonly (readonly string[])[];
  /** Finds the servers where `keys` is not enough. */
  readonly find?: FindEntries | undefined;
  /** What else decides whether an entry is on. */
  readonly switches?: Switches | undefined;
  /** What concerns servers in a file that the client keeps much else in. */
  readonly excerpt?: ((world: World) => Policy) | undefined;
  readonly dialect: Dialect;
  readonly adapt?: Adapter | undefined;
  /** How this gateway gets into it. */
  readonly install: Installation;
}

/** A field that limits a call. */
export const calls = (unit: 1 | 1_000, key = 'timeout'): TimeoutField => ({ key, limits: 'call', unit });
/** A field that limits connecting. */
export const connects = (unit: 1 | 1_000, key = 'timeout'): TimeoutField => ({ key, limits: 'connect', unit });
/** The time-outs of Codex and of what follows it. */
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
