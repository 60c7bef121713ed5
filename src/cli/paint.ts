/**
 * Colours for a terminal: whether there are any, and how text gets them.
 * @module
 */
import type { Io } from './io.ts';

/** Escape codes that begin and end a style. */
const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

/** Gives a text a style, or leaves it as it is. */
export type Paint = (style: keyof typeof STYLES, text: string) => string;

/** Paints nothing. */
export const plain: Paint = (_style, text) => text;

const inColour: Paint = (style, text) => {
  const [begin, end] = STYLES[style];
  return `\u001b[${begin}m${text}\u001b[${end}m`;
};

/** Colour only on a terminal, and only where nobody said no. */
export const paintFor = ({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Paint =>
  stdout.isTTY && !env.NO_COLOR && env.TERM !== 'dumb' ? inColour : plain;
