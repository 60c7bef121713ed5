/**
 * Locates the parts of JSON with comments. The text was parsed before, so nothing is checked here.
 * @module
 */

/** A value and its position. */
export interface JsonNode {
  readonly kind: 'object' | 'array' | 'scalar';
  readonly start: number;
  /** The position after the last character. */
  readonly end: number;
  /** Members of an object or list, in order. */
  readonly members: readonly JsonMember[];
}

/** A member of an object, or an item of a list with its index as key. */
export interface JsonMember {
  readonly key: string | number;
  /** The start of the key, or of the item. */
  readonly start: number;
  readonly value: JsonNode;
  /** The position of the comma after it, if any. */
  readonly comma: number | undefined;
}

/** Returns the outermost value. */
export const jsonTree = (text: string): JsonNode => new Finder(text).node();

/** Returns the position after white space and comments. */
export function skipSpace(text: string, from: number): number {
  for (let at = from; ; ) {
    if (/[\s\ufeff]/.test(text.charAt(at))) at++;
    else if (text.startsWith('//', at) || text.startsWith('/*', at)) at = endOfComment(text, at);
    else return at;
  }
}

/** Returns the end of a comment; a line comment ends before the line break. */
export function endOfComment(text: string, at: number): number {
  const block = text[at + 1] === '*';
  const end = block ? text.indexOf('*/', at + 2) + 2 : text.slice(at).search(/\r?\n/) + at;
  return end < at + 2 ? text.length : end;
}

class Finder {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  node(): JsonNode {
    this.at = skipSpace(this.text, this.at);
    const start = this.at;
    const first = this.text.charAt(start);
    if (first !== '{' && first !== '[') {
      this.at =
        first === '"'
          ? this.endOfString()
          : start + (/^[\w.+-]+/.exec(this.text.slice(start, start + 400))?.[0].length ?? 1);
      return { kind: 'scalar', start, end: this.at, members: [] };
    }
    const members = this.members(first === '{');
    return { kind: first === '{' ? 'object' : 'array', start, end: this.at, members };
  }

  private members(keyed: boolean): JsonMember[] {
    const members: JsonMember[] = [];
    this.at++;
    for (;;) {
      const start = skipSpace(this.text, this.at);
      this.at = start;
      if (start >= this.text.length || '}]'.includes(this.text.charAt(start))) break;
      const key = keyed ? this.key() : members.length;
      const value = this.node();
      const next = skipSpace(this.text, this.at);
      const comma = this.text[next] === ',' ? next : undefined;
      if (comma !== undefined) this.at = comma + 1;
      members.push({ key, start, value, comma });
    }
    this.at++;
    return members;
  }

  private key(): string {
    const start = this.at;
    this.at = this.endOfString();
    const key = JSON.parse(this.text.slice(start, this.at)) as string;
    this.at = skipSpace(this.text, this.at) + 1;
    return key;
  }

  private endOfString(): number {
    let at = this.at + 1;
    while (at < this.text.length && this.text[at] !== '"') at += this.text[at] === '\\' ? 2 : 1;
    return at + 1;
  }
}
