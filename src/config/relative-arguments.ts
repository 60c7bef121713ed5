/**
 * Finds the words of a command line that name a file or folder relative to where the program starts. Servers of the
 * user's own files start at home, so such words no longer mean the folder that the client works in.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** Endings of what people name as scripts, data and settings. */
const FILE =
  /\.(?:[cm]?[jt]sx?|py|pyz|rb|php|sh|bash|ps1|jar|wasm|json[c5]?|ya?ml|toml|ini|env|db|sqlite3?|csv|txt|md|log)$/i;

/** The relative words, without what they are the value of: `./x` of `--config=./x`. */
export const relativeWords = (command: string, args: readonly string[]): readonly string[] => [
  ...(isPathCommand(command) ? [command] : []),
  ...args.map((word) => word.replace(/^--?[\w.-]{1,100}=/, '')).filter(isRelative),
];

/** What to write instead, for people. */
export function howToWriteThem(words: readonly string[]): string {
  const [first = '.'] = words;
  const inside = first.replace(/^\.(?:[/\\]|$)/, '');
  return `write the full path, or "\${workspaceFolder}${inside === '' ? '' : `/${inside}`}" for the folder the client works in, or give it a "cwd"`;
}

/** `"./server.js"`, or the first few of many. */
export const quotedWords = (words: readonly string[]): string => {
  const shown = words.slice(0, LIMITS.shown.named).map((word) => JSON.stringify(word.slice(0, 100)));
  return words.length > LIMITS.shown.named
    ? `${shown.join(', ')} and ${words.length - LIMITS.shown.named} more`
    : shown.join(', ');
};

/** `bin/server`, but not `server`, which is looked for on the search path. */
const isPathCommand = (command: string): boolean => !isElsewhere(command) && /[/\\]/.test(command);

function isRelative(word: string): boolean {
  if (isElsewhere(word) || word.startsWith('-')) return false;
  // `owner/name` and `@scope/name` may be anything; with an ending they are files.
  return /^\.{1,2}(?:[/\\]|$)/.test(word) || (FILE.test(word) && !/[\s@]/.test(word));
}

/** Absolute, an address, below the home folder, or put together from references. */
const isElsewhere = (word: string): boolean =>
  /^(?:[/\\~]|[A-Za-z]:[/\\]|[A-Za-z][\w+.-]*:)/.test(word) || word.includes('${');
