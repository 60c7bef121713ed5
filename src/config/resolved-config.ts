/**
 * Defines the configuration that the program reads: after every file was read, checked, merged and normalised.
 * @module
 */

import type { SourceType } from '../clients/importers/source-types.ts';
import type { ServerDefinition, ToolRule } from '../core/types.ts';
import type { Settings } from './settings-schema.ts';

/** A file that servers were, or should have been, taken from. */
export interface ResolvedSource {
  readonly type: SourceType;
  /** Absolute path; the most likely one when no file was found. */
  readonly path: string;
  /**
   * The owner of the file: the user, an administrator or a project. Undefined for a file that the configuration names.
   */
  readonly scope?: 'user' | 'system' | 'project' | undefined;
  readonly status: 'ok' | 'missing' | 'error' | 'untrusted';
  /** The reason for the status. */
  readonly message?: string | undefined;
  readonly serverCount: number;
}

/** Tells whether a source cannot be used, or is named by the configuration but missing. */
export const isBrokenSource = ({ status, scope, type }: ResolvedSource): boolean =>
  status === 'error' || (status === 'missing' && scope === undefined && type !== 'auto');

/** The complete configuration. Paths are absolute; secrets are still `${NAME}`. */
export interface ResolvedConfig {
  readonly enabled: boolean;
  readonly cache: { readonly enabled: boolean; readonly ttl: number; readonly dir: string };
  /** In order of appearance, with unique names. Disabled servers are included, with `enabled: false`. */
  readonly servers: readonly ServerDefinition[];
  readonly sources: readonly ResolvedSource[];
  readonly toolRules: readonly ToolRule[];
  readonly rulePrecedence: Settings['rulePrecedence'];
  /** The rules of the user's own file, if a project's configuration is in use. A tool is on only if both allow it. */
  readonly floorRules?:
    | {
        readonly toolRules: readonly ToolRule[];
        readonly rulePrecedence: Settings['rulePrecedence'];
        /** Servers that share a name with a different server of the user's file. */
        readonly strangers: readonly string[];
      }
    | undefined;
  readonly approval?: Settings['approval'];
  /** Parts for groups of users, by name. */
  readonly profiles: Readonly<Settings['profiles']>;
  /** Tools shown beside the five, as globs of `server:tool`. */
  readonly pinned: Settings['pinned'];
  readonly search: Readonly<Settings['search']>;
  readonly registries: Readonly<Settings['registries']>;
  readonly validation: Readonly<Settings['validation']>;
  readonly limits: Readonly<Settings['limits']>;
  readonly retry: Readonly<Settings['retry']>;
  readonly audit: Readonly<Settings['audit']> & { readonly file: string };
  readonly log: Readonly<Settings['log']>;
  /** What replicas share. Secrets are still `${NAME}`. */
  readonly cluster?: Settings['cluster'];
  /** Who may ask over HTTP. Secrets are still `${NAME}`. */
  readonly auth?: Settings['auth'];
  /** Every file that was read, for watching. */
  readonly files: readonly string[];
  readonly warnings: readonly string[];
  /** The file the configuration was read from; undefined for the built-in defaults. */
  readonly origin: string | undefined;
  /** The user's own file beside a project's, and the files it extends. */
  readonly floorFiles?: readonly string[] | undefined;
  /** The state folder: `ANYGPT_HOME`, else `~/.anygpt`. */
  readonly home: string;
}

/** The result of `validate`. */
export interface ValidationResult {
  readonly valid: boolean;
  /** Every problem, with its path. */
  readonly errors: readonly string[];
}
