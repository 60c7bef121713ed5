/**
 * Two texts in, what changes from one to the other out, line by line: `-` goes, `+` comes. Secrets are masked.
 * @module
 */
import { maskSecrets } from '../mask-secrets.ts';
import { plainText } from '../plain-text.ts';

const MAX_LINES = 40;

/** The lines that differ; what both begin and end with is left out. */
export function lineChanges(before: string, after: string, env: Readonly<Record<string, string | undefined>>): string {
  const [old, fresh] = [before.trimEnd().split(/\r?\n/), after.trimEnd().split(/\r?\n/)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  const most = Math.min(old.length, fresh.length) - start;
  while (end < most && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const lines = [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...fresh.slice(start, fresh.length - end).map((line) => `+ ${line}`),
  ];
  const shown = lines.slice(0, MAX_LINES).map((line) => `  ${plainText(maskSecrets(line, env), 500)}`);
  return [...shown, ...(lines.length > MAX_LINES ? [`  and ${lines.length - MAX_LINES} lines more`] : [])].join('\n');
}
