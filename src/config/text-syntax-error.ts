/**
 * Defines the error for a mistake in a text file, and how deep such a file may nest.
 * @module
 */

/** A mistake in a text. Line and column count from one. The message never quotes more than one character. */
export class TextSyntaxError extends Error {
  override readonly name = 'TextSyntaxError';
  readonly line: number;
  readonly column: number;

  constructor(message: string, line: number, column: number) {
    super(message);
    this.line = line;
    this.column = column;
  }
}
