/**
 * Defines the neutral type tree that a JSON Schema is read into, and that each language is written from.
 * @module
 */
import type { JsonType } from '../../execution/validation/schema-node.ts';

/** One field of an object. */
export interface TypeField {
  readonly name: string;
  readonly type: TypeTree;
  readonly optional: boolean;
}

/** Holds for a value beside its type; only zod can express it. */
export type TypeCondition =
  | { readonly not: TypeTree }
  | { readonly if: TypeTree; readonly yes: TypeTree; readonly no: TypeTree };

export interface StringType {
  readonly kind: 'string';
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string | undefined;
  readonly format: string | undefined;
}

export interface NumberType {
  readonly kind: 'number';
  readonly integer: boolean;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMinimum: number | undefined;
  readonly exclusiveMaximum: number | undefined;
  readonly multipleOf: number | undefined;
}

export interface ArrayType {
  readonly kind: 'array';
  /** The types of the first items, for a tuple. */
  readonly prefix: readonly TypeTree[];
  /** The type of all other items. */
  readonly items: TypeTree;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly unique: boolean;
  readonly contains: { readonly type: TypeTree; readonly min: number; readonly max: number | undefined } | undefined;
}

export interface ObjectType {
  readonly kind: 'object';
  readonly fields: readonly TypeField[];
  /** The types of fields whose names match a regular expression. */
  readonly patterns: readonly (readonly [pattern: string, type: TypeTree])[];
  /** The type of all other fields; undefined: the schema says nothing about them. */
  readonly rest: TypeTree | undefined;
  /** The type of the names. */
  readonly names: TypeTree | undefined;
  readonly minFields: number | undefined;
  readonly maxFields: number | undefined;
}

interface UnionType {
  readonly kind: 'union';
  readonly members: readonly TypeTree[];
  /** Exactly one member may match. */
  readonly exclusive: boolean;
}

/** All parts hold at once. */
interface AllType {
  readonly kind: 'all';
  readonly parts: readonly TypeTree[];
  readonly conditions: readonly TypeCondition[];
}

/** What every type may have. */
interface Described {
  readonly description?: string | undefined;
  /** The schema names no type: the keywords apply only to values of this kind, and other values fit too. */
  readonly loose?: boolean | undefined;
}

/** A type. */
export type TypeTree = Described &
  (
    | { readonly kind: 'any' | 'never' | 'null' | 'boolean' }
    | { readonly kind: 'literals'; readonly values: readonly unknown[] }
    | { readonly kind: 'ref'; readonly name: string }
    | StringType
    | NumberType
    | ArrayType
    | ObjectType
    | UnionType
    | AllType
  );

/** Something that a type does not say although the schema does. */
export interface TypeNote {
  /** The dotted path of the part; empty for the whole schema. */
  readonly path: string;
  readonly text: string;
}

/** A schema as types: the root, and named types for parts that recur. */
export interface TypeDocument {
  readonly root: TypeTree;
  readonly definitions: ReadonlyMap<string, TypeTree>;
  readonly notes: readonly TypeNote[];
}

export const ANY: TypeTree = { kind: 'any' };
export const NEVER: TypeTree = { kind: 'never' };

/** Returns the kind of JSON value that a type allows; undefined: several, or unknown. */
export function kindOf(type: TypeTree): JsonType | undefined {
  if (type.loose === true) return undefined;
  switch (type.kind) {
    case 'null':
    case 'boolean':
    case 'string':
    case 'number':
    case 'array':
    case 'object':
      return type.kind;
    default:
      return undefined;
  }
}
