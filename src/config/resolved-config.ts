/**
 * What the program reads: the configuration after every file was read, checked, merged and normalised.
 * @module
 */

import type { SourceType } from '../clients/importers/source-types.ts';
import type { ServerDefinition, ToolRule } from '../core/types.ts';
import type { Settings } from './settings-schema.ts';

/** A file servers were, or should have been, taken from. */
export interface ResolvedSource {
  readonly type: SourceType;
  /** Absolute; the most likely place when no file was found. */
  readonly path: string;
  /** Whose file it is: the user's, an administrator's or a project's. Undefined for a file the configuration names. */
  readonly scope?: 'user' | 'system' | 'project' | undefined;
  readonly status: 'ok' | 'missing' | 'error' | 'untrusted';
  /** Why the status is what it is. */
  readonly message?: string | undefined;
  readonly serverCount: number;
}

/** A file that cannot be used, or that the configuration names and that is not there. */
export const isBrokenSource = ({ status, scope, type }: ResolvedSource): boolean =>
  status === 'error' || (status === 'missing' && scope === undefined && type !== 'auto');

/** The complete configuration. Paths are absolute; secrets are still `${NAME}`. */
export interface ResolvedConfig {
  readonly enabled: boolean;
  readonly cache: { readonly enabled: boolean; readonly ttl: number; readonly dir: string };
  /** In order of appearance, names unique. Switched-off ones are here too, with `enabled: false`. */
  readonly servers: readonly ServerDefinition[];
  readonly sources: readonly ResolvedSource[];
  readonly toolRules: readonly ToolRule[];
  readonly rulePrecedence: Settings['rulePrecedence'];
  /** The rules of the user's own file beside a project's configuration: a tool is on only where both say so. */
  readonly floorRules?:
    | {
        readonly toolRules: readonly ToolRule[];
        readonly rulePrecedence: Settings['rulePrecedence'];
        /** Servers that have a name which the user's file gives to another. */
        readonly strangers: readonly string[];
      }
    | undefined;
  readonly search: Readonly<Settings['search']>;
  readonly validation: Readonly<Settings['validation']>;
  readonly limits: Readonly<Settings['limits']>;
  readonly retry: Readonly<Settings['retry']>;
  readonly audit: Readonly<Settings['audit']> & { readonly file: string };
  readonly log: Readonly<Settings['log']>;
  /** Every file that was read, for watching. */
  readonly files: readonly string[];
  readonly warnings: readonly string[];
  /** The file the configuration came from; undefined for the built-in defaults. */
  readonly origin: string | undefined;
  /** The user's own file beside a project's, and what it extends. */
  readonly floorFiles?: readonly string[] | undefined;
  /** The state folder: `ANYGPT_HOME`, else `~/.anygpt`. */
  readonly home: string;
}

/** What `validate` found in a configuration. */
export interface ValidationResult {
  readonly valid: boolean;
  /** Every problem, with its path. */
  readonly errors: readonly string[];
}
