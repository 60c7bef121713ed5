/**
 * Makes text from a server fit for an error message: one line, short, without terminal control sequences.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { Redact } from '../secrets/redactor.ts';
import { oneLine } from '../text/plain-text.ts';

/** Returns the beginning of a text as one harmless line. Secrets are removed before the text is cut. */
export const shortText = (text: string, redact: Redact, max = LIMITS.text.reason): string =>
  redact.cut(oneLine(redact.cut(text, max * 4), max * 4), max);

/** Returns a text with a full stop at its end. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/**
 * Returns why a program ended according to its log, in one harmless line: its last error, or else its last lines. The
 * log must be free of secrets.
 */
export function lastWords(log: string, redact: Redact, max = LIMITS.text.lastError): string {
  const lines = log
    .split('\n')
    .slice(-LIMITS.text.lastWords)
    .map((line) => shortText(line, redact))
    .filter((line) => !SAYS_NOTHING.test(line));
  const error =
    lines.findLast((line) => BEGINS_WITH_ERROR.test(line)) ??
    lines.find((line) => NPM_REASON.test(line)) ??
    lines.findLast((line) => ERROR.test(line));
  return error?.slice(0, max) ?? lines.slice(-3).join(' | ').slice(-max);
}

/** Stack frames, the source line and caret above them, the printed fields of an error object, the version below it. */
const SAYS_NOTHING =
  /^$|^at |^File "|^[\^~{}[\](),;]+$|^Node\.js v\d|^node:internal|^throw |^(?:code|errno|syscall|path|requireStack|cause):|complete log of this run/;
const BEGINS_WITH_ERROR = /^(?:Uncaught |\[)?[\w.]{0,60}(?:Error|Exception|panic)\b[^:]{0,60}:/;
/** npm gives the reason first and general advice after it; above the reason stand only the fields of its error. */
const NPM_REASON =
  /^npm (?:error|ERR!) (?!(?:code|errno|syscall|path|dest|cwd|command|workspace|location|Lifecycle script)\b)\S+ \S/;
const ERROR = /error|exception|fatal|panic|cannot|could not|failed|denied|not found|missing/i;
