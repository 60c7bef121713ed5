/**
 * Writes types as TypeScript declarations. What TypeScript cannot say is `unknown` or left out, with a note.
 * @module
 */
import { commentText, keyText, literalText } from './code-text.ts';
import { readTypes, TypeNotes } from './read-types.ts';
import type { ArrayType, ObjectType, TypeNote, TypeTree } from './type-tree.ts';

/** Source code, and what it does not say. */
interface WrittenTypes {
  readonly text: string;
  readonly notes: readonly TypeNote[];
}

/** Returns `export type <name> = …;`, after the types it refers to. The name must be an identifier. */
export function schemaToTypeScript(schema: unknown, name: string): WrittenTypes {
  const document = readTypes(schema);
  const writer = new TypeScriptWriter(name);
  const definitions = [...document.definitions].map(([own, type]) => writer.declaration(`${name}${own}`, type));
  const text = `${definitions.join('')}${writer.declaration(name, document.root)}`;
  return { text, notes: [...document.notes, ...writer.notes.all()] };
}

class TypeScriptWriter {
  readonly notes = new TypeNotes();
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  declaration(name: string, type: TypeTree): string {
    return `${commentText(type.description)}export type ${name} = ${this.#write(type, '')};\n`;
  }

  #write(type: TypeTree, indent: string): string {
    switch (type.kind) {
      case 'any':
        return 'unknown';
      case 'literals':
        return [...new Set(type.values.map((value) => literalText(value)))].join(' | ');
      case 'ref':
        return `${this.#prefix}${type.name}`;
      case 'array':
        return this.#array(type, indent);
      case 'object':
        return this.#object(type, indent);
      case 'union':
        return [...new Set(type.members.map((one) => this.#inner(one, indent)))].join(' | ');
      case 'all': {
        if (type.conditions.length > 0) this.notes.add('', 'a condition (not, if, dependencies) is not expressed');
        return type.parts.map((one) => this.#inner(one, indent)).join(' & ') || 'unknown';
      }
      default:
        return type.kind;
    }
  }

  /** A type inside another one, in parentheses where it has several parts. */
  #inner(type: TypeTree, indent: string): string {
    const text = this.#write(type, indent);
    const isCompound =
      type.kind === 'union' || type.kind === 'all' || (type.kind === 'literals' && type.values.length > 1);
    return isCompound ? `(${text})` : text;
  }

  #array({ prefix, items, minItems = 0 }: ArrayType, indent: string): string {
    if (prefix.length === 0) return items.kind === 'never' ? '[]' : `${this.#inner(items, indent)}[]`;
    const fixed = prefix.map((one, at) => `${this.#inner(one, indent)}${at < minItems ? '' : '?'}`);
    return `[${[...fixed, ...(items.kind === 'never' ? [] : [`...${this.#inner(items, indent)}[]`])].join(', ')}]`;
  }

  #object({ fields, patterns, rest }: ObjectType, indent: string): string {
    const inside = `${indent}  `;
    const values = patterns.length > 0 || rest?.kind !== 'never' ? rest : undefined;
    if (fields.length === 0) {
      if (patterns.length > 0 || rest === undefined || rest.kind === 'any') return 'Record<string, unknown>';
      // A type alias may refer to itself in an index signature, not in `Record`.
      return rest.kind === 'never' ? 'Record<string, never>' : `{ [key: string]: ${this.#write(rest, indent)} }`;
    }
    const lines = fields.map(
      ({ name, type, optional }) =>
        `${commentText(type.description, inside)}${inside}${keyText(name)}${optional ? '?' : ''}: ${this.#write(type, inside)};\n`,
    );
    if (values !== undefined || patterns.length > 0) {
      if (values !== undefined && values.kind !== 'any')
        this.notes.add('', 'the type of further fields is unknown: TypeScript wants it to include the named ones');
      lines.push(`${inside}[key: string]: unknown;\n`);
    }
    return `{\n${lines.join('')}${indent}}`;
  }
}
