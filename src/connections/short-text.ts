/**
 * Text from a server, made fit for an error message: one line, no terminal control sequences, not long.
 * @module
 */

import { LIMITS } from '../core/limits.ts';
import type { Redact } from '../secrets/redactor.ts';
import { oneLine } from '../text/plain-text.ts';

/** The beginning of a text as one harmless line, without secrets: those are taken out before anything is cut. */
export const shortText = (text: string, redact: Redact, max = 300): string =>
  redact.cut(oneLine(redact.cut(text, max * 4), max * 4), max);

/** A text with its full stop: what servers say ends with one or does not. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/**
 * Why a program ended, as its log tells it, in one harmless line: its last error, else its last lines. The log has to be
 * one without secrets.
 */
export function lastWords(log: string, redact: Redact, max = 200): string {
  const lines = log
    .split('\n')
    .slice(-LIMITS.text.lastWords)
    .map((line) => shortText(line, redact))
    .filter((line) => !SAYS_NOTHING.test(line));
  const error = lines.findLast((line) => BEGINS_WITH_ERROR.test(line)) ?? lines.findLast((line) => ERROR.test(line));
  return error?.slice(0, max) ?? lines.slice(-3).join(' | ').slice(-max);
}

/** Stack frames, the source line and caret above them, what is printed of an error object, the version below it. */
const SAYS_NOTHING =
  /^$|^at |^File "|^[\^~{}[\](),;]+$|^Node\.js v\d|^node:internal|^throw |^(?:code|errno|syscall|path|requireStack|cause):|complete log of this run/;
const BEGINS_WITH_ERROR = /^(?:Uncaught |\[)?[\w.]{0,60}(?:Error|Exception|panic)\b[^:]{0,60}:/;
const ERROR = /error|exception|fatal|panic|cannot|could not|failed|denied|not found|missing/i;
