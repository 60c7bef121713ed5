/**
 * Joins types: alternatives into a union, parts that all hold into one type, simplified where nothing is lost.
 * @module
 */
import { jsonTypeOf } from '../../execution/validation/schema-node.ts';
import { ANY, kindOf, NEVER, type ObjectType, type TypeCondition, type TypeField, type TypeTree } from './type-tree.ts';

/** Returns the type of which one member, or with `exclusive` exactly one member, fits. */
export function unionOf(all: readonly TypeTree[], exclusive: boolean): TypeTree {
  const members = all.filter((one) => one.kind !== 'never');
  if (members.length === 0) return NEVER;
  const [first] = members;
  if (first !== undefined && members.length === 1) return first;
  if (members.every((one) => one.kind === 'literals')) {
    const values = members.flatMap((one) => (one.kind === 'literals' ? one.values : []));
    const isDistinct = new Set(values.map((value) => JSON.stringify(value))).size === values.length;
    if (!exclusive || isDistinct) return { kind: 'literals', values };
  }
  const isExclusive = exclusive && !areDisjoint(members);
  if (!isExclusive && members.some((one) => one.kind === 'any')) return ANY;
  return { kind: 'union', members, exclusive: isExclusive };
}

/** Tells whether no value can fit two members, by the kind of value. */
function areDisjoint(members: readonly TypeTree[]): boolean {
  const seen = new Set<string>();
  for (const member of members) {
    const kinds =
      member.kind === 'literals' ? new Set(member.values.map(jsonTypeOf)) : new Set([kindOf(member) ?? 'any']);
    for (const kind of kinds) {
      if (kind === 'any' || seen.has(kind)) return false;
      seen.add(kind);
    }
  }
  return true;
}

/** Returns the type that fits if all parts and conditions hold. */
export function allOf(all: readonly TypeTree[], conditions: readonly TypeCondition[]): TypeTree {
  const parts: TypeTree[] = [];
  for (const part of all) {
    if (part.kind === 'any') continue;
    if (part.kind === 'never') return NEVER;
    const last = parts.at(-1);
    const merged = last && mergedObjects(last, part);
    if (merged) parts[parts.length - 1] = merged;
    else parts.push(part);
  }
  const [only] = parts;
  if (conditions.length > 0) return { kind: 'all', parts, conditions };
  if (only === undefined) return ANY;
  return parts.length === 1 ? only : { kind: 'all', parts, conditions };
}

/** Returns two object types as one, if that says the same. */
function mergedObjects(one: TypeTree, other: TypeTree): TypeTree | undefined {
  if (one.kind !== 'object' || other.kind !== 'object' || one.loose !== other.loose) return undefined;
  if (!isOpen(other) || other.names !== undefined) return undefined;
  const known = new Map(one.fields.map((field) => [field.name, field]));
  // A closed object takes no further fields.
  if (!isOpen(one) && other.fields.some(({ name }) => !known.has(name))) return undefined;
  for (const field of other.fields) {
    const before = known.get(field.name);
    known.set(field.name, before ? bothFields(before, field) : field);
  }
  return {
    ...one,
    description: one.description ?? other.description,
    fields: [...known.values()],
    minFields: larger(one.minFields, other.minFields),
    maxFields: smaller(one.maxFields, other.maxFields),
  };
}

const isOpen = ({ rest, patterns }: ObjectType): boolean => rest === undefined && patterns.length === 0;

const bothFields = (one: TypeField, other: TypeField): TypeField => ({
  name: one.name,
  optional: one.optional && other.optional,
  type: { ...allOf([one.type, other.type], []), description: one.type.description ?? other.type.description },
});

const larger = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
const smaller = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
