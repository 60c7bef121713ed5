/**
 * Writes types as RTFS TypeExpr.
 *
 * `:string`, `:int`, `:float`, `:bool`, `[:vector T]` and `[:map [:key T] [:key {:optional true} T] [:* T]]`. An
 * enumeration is its base type; alternatives, nullable values and recursion are `:any`, with a note.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { typeText } from '../../schema/type-text.ts';
import { keyword, nameValue, type RtfsValue } from '../rtfs/rtfs-value.ts';
import { rtfsText } from '../rtfs/write-rtfs.ts';
import { allOf } from './join-types.ts';
import { readTypes, TypeNotes } from './read-types.ts';
import type { ObjectType, TypeDocument, TypeNote, TypeTree } from './type-tree.ts';

/** A TypeExpr, and what it does not say. */
interface WrittenTypeExpr {
  readonly expr: RtfsValue;
  readonly notes: readonly TypeNote[];
}

/** Returns the TypeExpr of a JSON Schema. Takes any value and never throws. */
export function schemaToTypeExpr(schema: unknown): WrittenTypeExpr {
  const document = readTypes(schema);
  const writer = new TypeExprWriter(document);
  const expr = writer.write(document.root, '');
  return { expr, notes: [...document.notes, ...writer.notes.all()] };
}

const TYPE_ANY = keyword('any');

class TypeExprWriter {
  readonly notes = new TypeNotes();
  readonly #document: TypeDocument;
  readonly #open = new Set<string>();
  #left: number = LIMITS.convert.expanded;

  constructor(document: TypeDocument) {
    this.#document = document;
  }

  write(type: TypeTree, path: string): RtfsValue {
    if (this.#left-- <= 0) return this.#lost(path, 'any: the schema is too large');
    switch (type.kind) {
      case 'string':
        return keyword('string');
      case 'number':
        return keyword(type.integer ? 'int' : 'float');
      case 'boolean':
        return keyword('bool');
      case 'null':
        return this.#lost(path, 'any: null');
      case 'literals':
        return this.#literals(type.values, path);
      case 'array':
        return this.#array(type, path);
      case 'object':
        return this.#object(type, path);
      case 'ref':
        return this.#reference(type.name, path);
      case 'union':
        return this.#union(type.members, path);
      case 'all':
        return this.#all(type, path);
      default:
        return TYPE_ANY;
    }
  }

  #literals(values: readonly unknown[], path: string): RtfsValue {
    const kinds = new Set(values.map((value) => typeof value));
    if (kinds.size === 1) {
      if (kinds.has('string')) return keyword('string');
      if (kinds.has('boolean')) return keyword('bool');
      if (kinds.has('number')) return keyword(values.every(Number.isInteger) ? 'int' : 'float');
    }
    return this.#lost(path, `any: ${typeText({ enum: values })}`);
  }

  #array({ prefix, items }: Extract<TypeTree, { kind: 'array' }>, path: string): RtfsValue {
    const inside = `${path}[]`;
    const [first, ...others] = [...prefix, ...(items.kind === 'never' ? [] : [items])];
    if (first === undefined) return [keyword('vector'), TYPE_ANY];
    return [
      keyword('vector'),
      others.length === 0 ? this.write(first, inside) : this.#union([first, ...others], inside),
    ];
  }

  #object({ fields, patterns, rest }: ObjectType, path: string): RtfsValue {
    const entries = fields.map(({ name, type, optional }): RtfsValue => {
      const written = this.write(type, path === '' ? name : `${path}.${name}`);
      const options: RtfsValue = { kind: 'map', entries: [[keyword('optional'), true]] };
      return optional ? [nameValue(name), options, written] : [nameValue(name), written];
    });
    if (patterns.length > 0) entries.push([keyword('*'), TYPE_ANY]);
    else if (rest !== undefined && rest.kind !== 'never')
      entries.push([keyword('*'), this.write(rest, path === '' ? '*' : `${path}.*`)]);
    return [keyword('map'), ...entries];
  }

  #reference(name: string, path: string): RtfsValue {
    const target = this.#document.definitions.get(name);
    if (target === undefined || this.#open.has(name)) return this.#lost(path, `any: ${name} again`);
    this.#open.add(name);
    const expr = this.write(target, path);
    this.#open.delete(name);
    return expr;
  }

  /** Alternatives that are written alike are that type. */
  #union(members: readonly TypeTree[], path: string): RtfsValue {
    const written = members.map((one) => this.write(one, path));
    const texts = [...new Set(written.map((one) => rtfsText(one)))];
    if (texts.length === 1) return written[0] ?? TYPE_ANY;
    const shown = texts.map((text) => (text.length > LIMITS.text.noteExample ? text.slice(0, 12).trimEnd() : text));
    return this.#lost(path, `any: one of ${shown.slice(0, LIMITS.shown.named).join(', ').replaceAll('\n', ' ')}`);
  }

  /** Objects are merged; of other parts the first one counts. */
  #all({ parts, conditions }: Extract<TypeTree, { kind: 'all' }>, path: string): RtfsValue {
    if (conditions.length > 0) this.notes.add(path, 'a condition (not, if, dependencies) is not expressed');
    const resolved = parts.map((part) => this.#resolved(part));
    const objects = resolved.flatMap((part) => (part.kind === 'object' ? [open(part)] : []));
    const [first] = objects.length > 0 ? [allOf(objects, [])] : resolved;
    if (resolved.length > Math.max(objects.length, 1)) this.notes.add(path, 'alternatives beside it are not expressed');
    return first === undefined ? TYPE_ANY : this.write(first, path);
  }

  #resolved(type: TypeTree): TypeTree {
    let one = type;
    for (let hops = 0; one.kind === 'ref' && hops < LIMITS.schema.hops; hops++)
      one = (this.#open.has(one.name) ? undefined : this.#document.definitions.get(one.name)) ?? { kind: 'any' };
    return one;
  }

  #lost(path: string, text: string): RtfsValue {
    this.notes.add(path, text);
    return TYPE_ANY;
  }
}

/** An object that may be merged with others. */
const open = (type: ObjectType): TypeTree => ({
  ...type,
  loose: undefined,
  rest: undefined,
  patterns: [],
  names: undefined,
});
