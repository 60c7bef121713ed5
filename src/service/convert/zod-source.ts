/**
 * Writes types as the source of a zod schema (zod 4) that accepts and rejects what the JSON Schema does.
 *
 * Parsing changes nothing: unknown fields stay, defaults are not filled in. Differences that remain: lengths of strings
 * count UTF-16 units, integers must be safe ones, formats and patterns that may be slow are not checked.
 * @module
 */
import { isIdentifier, literalText } from './code-text.ts';
import { readTypes, TypeNotes } from './read-types.ts';
import { kindOf, type TypeNote, type TypeTree } from './type-tree.ts';
import { ZOD_HELPERS, type ZodHelper } from './zod-helpers.ts';

/** Schemas as declarations; `zodModule` makes a file of them. */
interface WrittenZod {
  readonly text: string;
  readonly helpers: ReadonlySet<ZodHelper>;
  readonly notes: readonly TypeNote[];
}

interface ZodOptions {
  /** Writes type annotations, which TypeScript needs. Default true. */
  readonly typed?: boolean | undefined;
}

/** Returns `export const <name> = z…;`, after the schemas it refers to. The name must be an identifier. */
export function schemaToZod(schema: unknown, name: string, { typed = true }: ZodOptions = {}): WrittenZod {
  const document = readTypes(schema);
  const writer = new ZodWriter(name);
  const annotation = typed ? ': z.ZodType' : '';
  const definitions = [...document.definitions].map(
    ([own, type]) => `const ${name}${own}${annotation} = z.lazy(() => ${writer.write(type)});\n`,
  );
  const text = `${definitions.join('')}export const ${name} = ${writer.write(document.root)};\n`;
  return { text, helpers: writer.helpers, notes: [...document.notes, ...writer.notes.all()] };
}

/** Returns a whole file: the import, the helpers that are needed, and the declarations. */
export function zodModule(written: Iterable<WrittenZod>, { typed = true }: ZodOptions = {}): string {
  const all = [...written];
  const needed = new Set(all.flatMap(({ helpers }) => [...helpers]));
  for (const helper of needed) for (const other of ZOD_HELPERS[helper].needs) needed.add(other);
  const helpers = (Object.keys(ZOD_HELPERS) as ZodHelper[])
    .filter((helper) => needed.has(helper))
    .map((helper) => `${ZOD_HELPERS[helper].text.replaceAll(/ \/\*(:.*?)\*\//g, typed ? '$1' : '')}\n`);
  return `import { z } from 'zod';\n\n${helpers.join('')}${all.map(({ text }) => text).join('\n')}`;
}

class ZodWriter {
  readonly notes = new TypeNotes();
  readonly helpers = new Set<ZodHelper>();
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  write(type: TypeTree): string {
    const text = type.loose === true ? this.#loose(type) : this.#type(type);
    return type.description === undefined ? text : `${text}.describe(${literalText(type.description)})`;
  }

  /** Keywords without a type apply only to their own kind of value. */
  #loose(type: TypeTree): string {
    const members = type.kind === 'union' ? type.members : [type];
    return members.reduce((text, member) => {
      const strict: TypeTree = { ...member, loose: false, description: undefined };
      return `${text}.superRefine(${this.#help('onlyFor')}(${literalText(kindOf(strict))}, ${this.#type(strict)}))`;
    }, 'z.any()');
  }

  #type(type: TypeTree): string {
    switch (type.kind) {
      case 'any':
      case 'never':
      case 'null':
      case 'boolean':
        return `z.${type.kind}()`;
      case 'literals':
        return this.#literals(type.values);
      case 'ref':
        return `${this.#prefix}${type.name}`;
      case 'string':
        return `z.string()${calls({ min: type.minLength, max: type.maxLength })}${
          type.pattern === undefined ? '' : `.regex(${patternText(type.pattern)})`
        }${type.format === undefined ? '' : `.meta({ format: ${literalText(type.format)} })`}`;
      case 'number':
        return `${type.integer ? 'z.int()' : 'z.number()'}${calls({
          min: type.minimum,
          max: type.maximum,
          gt: type.exclusiveMinimum,
          lt: type.exclusiveMaximum,
          multipleOf: type.multipleOf,
        })}`;
      case 'array':
        return this.#array(type);
      case 'object':
        return this.#object(type);
      case 'union':
        return `z.${type.exclusive ? 'xor' : 'union'}([${type.members.map((one) => this.write(one)).join(', ')}])`;
      case 'all':
        return this.#all(type);
    }
  }

  #literals(values: readonly unknown[]): string {
    const scalars = values.filter((value) => typeof value !== 'object' || value === null);
    const others = values.filter((value) => typeof value === 'object' && value !== null);
    const written = others.map((value) => `z.any().refine(${this.#help('equalTo')}(${literalText(value)}))`);
    if (scalars.length > 0) {
      const list = [...new Set(scalars)].map((value) => literalText(value)).join(', ');
      // An enumeration keeps its values in an object, which has fields of its own.
      const isPlain = scalars.every((value) => typeof value === 'string' && !isInherited(value));
      written.unshift(isPlain ? `z.enum([${list}])` : `z.literal([${list}])`);
    }
    return written.length === 1 ? String(written[0]) : `z.union([${written.join(', ')}])`;
  }

  #array(type: Extract<TypeTree, { kind: 'array' }>): string {
    const { prefix, items, minItems, maxItems, unique, contains } = type;
    let text: string;
    if (prefix.length === 0) text = `z.array(${this.write(items)})${calls({ min: minItems, max: maxItems })}`;
    else {
      // Items may be missing at the end; `sized` checks how many.
      const fixed = prefix.map((one) => `${this.write(one)}.optional()`);
      text = `z.tuple([${fixed.join(', ')}]${items.kind === 'never' ? '' : `, ${this.write(items)}`})`;
      if ((minItems ?? maxItems) !== undefined) text += this.#refine('sized', [minItems ?? 0, maxItems ?? null]);
    }
    if (unique) text += this.#refine('distinct', []);
    if (contains)
      text += `.refine(${this.#help('containing')}(${this.write(contains.type)}, ${contains.min}, ${contains.max ?? 'Infinity'}))`;
    return text;
  }

  #object(type: Extract<TypeTree, { kind: 'object' }>): string {
    const { fields, patterns, rest, names, minFields, maxFields } = type;
    // zod looks fields up through the prototype, so these are checked by hand.
    const odd = fields.filter(({ name }) => isInherited(name));
    const plain = fields.filter(({ name }) => !isInherited(name));
    const shape = plain
      .map(({ name, type: one, optional }) => {
        const key = isIdentifier(name) ? name : literalText(name);
        return `${key}: ${this.write(one)}${optional ? '.optional()' : ''}`;
      })
      .join(', ');
    let text: string;
    if (odd.length > 0 || patterns.length > 0) {
      const known = plain.map(({ name }) => name);
      const own = odd.map(
        ({ name, type: one, optional }) => `[${literalText(name)}, ${this.write(one)}, ${String(optional)}]`,
      );
      const matching = patterns.map(([pattern, one]) => `[${patternText(pattern)}, ${this.write(one)}]`);
      text = `z.looseObject({${shape && ` ${shape} `}}).superRefine(${this.#help('entries')}(${literalText(known)}, [${own.join(', ')}], [${matching.join(', ')}], ${rest ? this.write(rest) : 'z.any()'}))`;
    } else if (rest === undefined || rest.kind === 'any') text = `z.looseObject({${shape && ` ${shape} `}})`;
    else if (rest.kind === 'never') text = `z.strictObject({${shape && ` ${shape} `}})`;
    else if (shape === '') text = `z.record(z.string(), ${this.write(rest)})`;
    else text = `z.object({ ${shape} }).catchall(${this.write(rest)})`;
    if ((minFields ?? maxFields) !== undefined) text += this.#refine('sized', [minFields ?? 0, maxFields ?? null]);
    if (names) text += `.refine(${this.#help('named')}(${this.write(names)}))`;
    return text;
  }

  #all({ parts, conditions }: Extract<TypeTree, { kind: 'all' }>): string {
    const [first, ...others] = parts;
    let text = first === undefined ? 'z.any()' : this.write(first);
    // Not an intersection: zod lets one side of it take the fields that the other refuses.
    for (const other of others) text += `.superRefine(${this.#help('also')}(${this.write(other)}))`;
    for (const condition of conditions)
      text +=
        'not' in condition
          ? `.refine(${this.#help('unless')}(${this.write(condition.not)}))`
          : `.superRefine(${this.#help('either')}(${this.write(condition.if)}, ${this.write(condition.yes)}, ${this.write(condition.no)}))`;
    return text;
  }

  #refine(helper: ZodHelper, values: readonly unknown[]): string {
    return `.refine(${this.#help(helper)}(${values.map((value) => literalText(value)).join(', ')}))`;
  }

  #help(helper: ZodHelper): ZodHelper {
    this.helpers.add(helper);
    return helper;
  }
}

/** `.min(1).max(9)` of the limits that there are. */
const calls = (limits: Readonly<Record<string, number | undefined>>): string =>
  Object.entries(limits)
    .flatMap(([name, value]) => (value === undefined ? [] : [`.${name}(${value})`]))
    .join('');

/** Whether every object has a field of this name. */
const isInherited = (name: string): boolean => name in {};

/** A constructor call rather than a literal: compilers are stricter with literals than the language is. */
function patternText(source: string): string {
  let flags = ', "u"';
  try {
    new RegExp(source, 'u');
  } catch {
    flags = '';
  }
  return `new RegExp(${literalText(source)}${flags})`;
}
