/**
 * Converts references in a client's dialect into our own `${NAME}`. Nothing is looked up or run: values are read when a
 * connection opens. Text that is literal to the client is escaped, so that it stays literal.
 * @module
 */
import { resolve } from 'node:path';
import { expandHome } from '../../config/paths.ts';
import { closingBrace } from '../../config/references.ts';
import type { World } from '../../config/world.ts';
import { isObject } from '../../json/plain-object.ts';
import type { VariableStyle } from './dialect.ts';

/** What conversion depends on, besides the text. */
export interface Surroundings {
  readonly world: World;
  /** The folder of the file. */
  readonly folder: string;
  /** The project that the file belongs to; undefined for a user's own file. */
  readonly workspace?: string | undefined;
  /** The `inputs` of VS Code: values it would ask the user for. */
  readonly inputs?: unknown;
}

const REFERENCE = /^([A-Za-z_][A-Za-z0-9_]*)(:-[\s\S]*)?$/;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const SECRET = /^\s*(?:secrets|inputs)\.([A-Za-z_][A-Za-z0-9_]*)\s*$/;

/** Converts the texts of one entry and collects notes for the user. */
export class VariableReader {
  readonly #style: VariableStyle;
  readonly #around: Surroundings;
  readonly #notes = new Set<string>();
  /** Why the entry cannot work as it is, if so. */
  attention: string | undefined;

  constructor(style: VariableStyle, around: Surroundings) {
    this.#style = style;
    this.#around = around;
  }

  /** Notes about the converted texts, each once. */
  get notes(): readonly string[] {
    return [...this.#notes];
  }

  convert(text: string): string {
    if (!/[$%{`\\]/.test(text)) return text;
    let result = '';
    for (let at = 0; at < text.length; ) {
      const found = this.#at(text, at);
      result += found?.text ?? text.charAt(at);
      at = found?.end ?? at + 1;
    }
    return result;
  }

  #at(text: string, at: number): { readonly text: string; readonly end: number } | undefined {
    const character = text.charAt(at);
    if (character === '$') return this.#dollar(text, at);
    if (character === '{' && this.#style === 'opencode') {
      const end = closingBrace(text, at + 1);
      const converted = end === -1 ? undefined : this.#prefixed(text.slice(at + 1, end));
      return converted === undefined ? undefined : { text: converted, end: end + 1 };
    }
    if (character === '%' && this.#style === 'dollar' && this.#around.world.platform === 'win32') {
      const name = nameAt(text, at + 1);
      const end = at + 1 + name.length;
      return name !== '' && text[end] === '%' ? { text: `\${${name}}`, end: end + 1 } : undefined;
    }
    if (this.#style === 'shell') return this.#shell(character, text, at);
    return undefined;
  }

  #shell(character: string, text: string, at: number) {
    if (character === '`') this.attention ??= 'it runs a shell command for a value; shell commands are never run here';
    return character === '\\' && text[at + 1] === '$' ? { text: '$', end: at + 2 } : undefined;
  }

  #dollar(text: string, at: number) {
    const bare = this.#style === 'dollar' || this.#style === 'shell';
    if (text[at + 1] !== '{') {
      const name = bare ? nameAt(text, at + 1) : '';
      if (name !== '') return { text: `\${${name}}`, end: at + 1 + name.length };
      if (this.#style === 'shell' && text[at + 1] === '(') {
        this.attention ??= 'it runs a shell command for a value; shell commands are never run here';
      }
      return undefined;
    }
    const end = closingBrace(text, at + 2);
    if (end !== -1) {
      if (this.#style === 'continue' && text[at + 2] === '{' && text[end + 1] === '}') {
        const name = SECRET.exec(text.slice(at + 3, end))?.[1];
        if (name !== undefined) return { text: `\${${name}}`, end: end + 2 };
      }
      const converted = this.#braces(text.slice(at + 2, end));
      if (converted !== undefined) return { text: converted, end: end + 1 };
    }
    return { text: '$${', end: at + 2 };
  }

  /** Converts `${inside}`; undefined when it is literal to the client. */
  #braces(inside: string): string | undefined {
    switch (this.#style) {
      case 'braces':
        return plain(inside) ?? this.#prefixed(inside);
      case 'dollar':
        return plain(inside);
      case 'shell':
        if (plain(inside) === undefined) this.attention ??= 'it uses a shell expansion that is not understood here';
        return plain(inside);
      case 'vscode':
        return this.#vscode(inside);
      default:
        return undefined;
    }
  }

  #prefixed(inside: string): string | undefined {
    if (inside.startsWith('env:')) return plain(inside.slice(4));
    if (!inside.startsWith('file:')) return undefined;
    const { folder, world } = this.#around;
    return `\${file:${resolve(folder, expandHome(inside.slice(5).trim(), world))}}`;
  }

  #vscode(inside: string): string | undefined {
    const { world, workspace } = this.#around;
    if (inside === 'userHome') return escaped(world.home);
    if (inside === '/' || inside === 'pathSeparator') return world.platform === 'win32' ? '\\' : '/';
    if (/^workspaceFolder(?:Basename)?(?::|$)/.test(inside)) {
      if (workspace === undefined) {
        this.#notes.add(
          inside.includes(':')
            ? `it uses \${${inside}}, which only works in a project's own file; it cannot start as it is`
            : `it uses \${${inside}}; it starts only in folders you have trusted (anygpt mcp trust)`,
        );
        return `\${${inside}}`;
      }
      const basename = workspace.slice(Math.max(workspace.lastIndexOf('/'), workspace.lastIndexOf('\\')) + 1);
      return escaped(inside.startsWith('workspaceFolderBasename') ? basename : workspace);
    }
    if (inside.startsWith('input:')) return this.#input(inside.slice('input:'.length));
    if (/^(?:command|config):/.test(inside)) {
      this.attention ??= `it uses \${${inside.slice(0, 100)}}, which only VS Code can resolve`;
      return undefined;
    }
    return inside.startsWith('env:') ? plain(inside.slice(4)) : undefined;
  }

  /**
   * Takes a value that VS Code would ask for from a variable, because the user cannot be asked when a server starts.
   */
  #input(id: string): string {
    const { inputs, world } = this.#around;
    const asked: unknown = Array.isArray(inputs)
      ? inputs.find((input: unknown) => isObject(input) && input.id === id)
      : undefined;
    const name = `INPUT_${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
    const about = isObject(asked) ? asked : {};
    const { description, default: fallback } = about;
    if (typeof fallback === 'string' && !fallback.includes('}')) return `\${${name}:-${fallback}}`;
    if (world.env[name] === undefined) {
      const what = typeof description === 'string' ? ` (${description.slice(0, 100)})` : '';
      this.#notes.add(`VS Code asks for "${id.slice(0, 100)}"${what}; set the environment variable ${name} instead`);
    }
    return `\${${name}}`;
  }
}

/** Returns `X` and `X:-default` as our reference. */
const plain = (inside: string): string | undefined => (REFERENCE.test(inside) ? `\${${inside}}` : undefined);

/** Escapes text, so that it stays literal when references are expanded. */
export const escaped = (text: string): string => text.replaceAll('${', () => '$${');

function nameAt(text: string, at: number): string {
  NAME.lastIndex = at;
  return NAME.exec(text)?.[0] ?? '';
}
