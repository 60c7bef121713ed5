/**
 * Finds the words of a command line that are paths relative to the working folder. Servers of the user's own files
 * start in the home folder, so such paths no longer mean the folder the client works in.
 * @module
 */

import { LIMITS } from '../core/limits.ts';

/** Endings of what people name as scripts, data and settings. */
const FILE =
  /\.(?:[cm]?[jt]sx?|py|pyz|rb|php|sh|bash|ps1|jar|wasm|json[c5]?|ya?ml|toml|ini|env|db|sqlite3?|csv|txt|md|log)$/i;

/** Returns the relative paths without their option: `./x` of `--config=./x`. */
export const relativeWords = (command: string, args: readonly string[]): readonly string[] => [
  ...(isPathCommand(command) ? [command] : []),
  ...args.map((word) => word.replace(/^--?[\w.-]{1,100}=/, '')).filter(isRelative),
];

/** Tells the user what to write instead. */
export function howToWriteThem(words: readonly string[]): string {
  const [first = '.'] = words;
  const inside = first.replace(/^\.(?:[/\\]|$)/, '');
  return `write the full path, or "\${workspaceFolder}${inside === '' ? '' : `/${inside}`}" for the folder the client works in, or give it a "cwd"`;
}

/** Quotes the words, or the first few of many: `"./server.js"`. */
export const quotedWords = (words: readonly string[]): string => {
  const shown = words.slice(0, LIMITS.shown.named).map((word) => JSON.stringify(word.slice(0, 100)));
  return words.length > LIMITS.shown.named
    ? `${shown.join(', ')} and ${words.length - LIMITS.shown.named} more`
    : shown.join(', ');
};

/** `bin/server`, but not `server`, which is looked up on PATH. */
const isPathCommand = (command: string): boolean => !isElsewhere(command) && /[/\\]/.test(command);

function isRelative(word: string): boolean {
  if (isElsewhere(word) || word.startsWith('-')) return false;
  // `owner/name` and `@scope/name` may be anything; with an extension they are files.
  return /^\.{1,2}(?:[/\\]|$)/.test(word) || (FILE.test(word) && !/[\s@]/.test(word));
}

/** Absolute, a URL, below the home folder, or containing references. */
const isElsewhere = (word: string): boolean =>
  /^(?:[/\\~]|[A-Za-z]:[/\\]|[A-Za-z][\w+.-]*:)/.test(word) || word.includes('${');
