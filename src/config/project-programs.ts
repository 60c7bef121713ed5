/**
 * Names the files of a project that its servers run. Trust covers the file that names them, not what is in them: a
 * program changes more often than its entry.
 * @module
 */
import { existsSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { isLocal } from '../core/transport-parts.ts';
import type { ServerDefinition } from '../core/types.ts';
import { quotedWords, relativeWords } from './relative-arguments.ts';

/** Says which files of the project the servers run, and which of them are missing. */
export function programNotes(servers: readonly ServerDefinition[], root: string): readonly string[] {
  const files = [...new Set(servers.flatMap((server) => programsOf(server, root)))];
  if (files.length === 0) return [];
  const missing = files.filter((file) => !existsSync(resolve(root, file)));
  return [
    `Servers run files of this folder: ${quotedWords(files)}. Their content is not remembered, so a later change to them does not end the trust.`,
    ...(missing.length === 0 ? [] : [`Not there yet, and run unseen once they are: ${quotedWords(missing)}.`]),
  ];
}

function programsOf({ connection }: ServerDefinition, root: string): string[] {
  if (!isLocal(connection)) return [];
  const { command, args, cwd = root } = connection;
  const absolute = [command, ...args.map((word) => word.replace(/^--?[\w.-]{1,100}=/, ''))].filter((word) =>
    isAbsolute(word),
  );
  return [...absolute, ...relativeWords(command, args)].flatMap((word) => {
    const inside = relative(root, resolve(cwd, word));
    return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? [] : [inside];
  });
}
