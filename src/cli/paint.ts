/**
 * Colours text for terminals that support it.
 * @module
 */
import type { Io } from './io.ts';

/** Escape codes that start and end a style. */
const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

/** Applies a style to a text, or returns it unchanged. */
export type Paint = (style: keyof typeof STYLES, text: string) => string;

/** Applies no style. */
const plain: Paint = (_style, text) => text;

const inColour: Paint = (style, text) => {
  const [begin, end] = STYLES[style];
  return `\u001b[${begin}m${text}\u001b[${end}m`;
};

/** Colours only on a terminal, and not with NO_COLOR or a dumb terminal. */
export const paintFor = ({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Paint =>
  stdout.isTTY && !env.NO_COLOR && env.TERM !== 'dumb' ? inColour : plain;
