/**
 * Infers JSON Schemas from values, and merges them. Every value that went in is valid against what comes out. Pure and
 * bounded: what is too large or too deep is anything.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import type { JsonSchema } from '../../core/types.ts';

/** A schema that this module has made. Without `type` it is anything. */
interface ValueSchema extends JsonSchema {
  readonly type?: string | readonly string[];
  /** Absent while only empty arrays were seen. */
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  /** The values of an object whose keys are data. */
  readonly additionalProperties?: ValueSchema;
}

const ANYTHING: ValueSchema = {};

/** Keys that look like the names of fields. Others are data, and are not repeated. */
const FIELD = /^[A-Za-z_$@][\w$.:-]{0,63}$/;

/** Returns the schema of a JSON value. */
export const schemaOfValue = (value: unknown): JsonSchema => new ValueReader().read(value, LIMITS.observe.depth);

/** Returns a schema that accepts what either of two schemas of `schemaOfValue` accepts. */
export function mergeSchemas(one: JsonSchema, other: JsonSchema): JsonSchema {
  const [a, b]: [ValueSchema, ValueSchema] = [one, other];
  if (a.type === undefined || b.type === undefined) return ANYTHING;
  const types = new Set([a.type, b.type].flat());
  if (types.has('number')) types.delete('integer');
  const items = a.items && b.items ? mergeSchemas(a.items, b.items) : (a.items ?? b.items);
  const hasObject = (schema: ValueSchema): boolean => [schema.type].flat().includes('object');
  const objects = hasObject(a) && hasObject(b) ? mergeObjects(a, b) : objectPart(hasObject(a) ? a : b);
  const [type, ...more] = types;
  return { type: more.length === 0 ? type : [...types].sort(), ...(items && { items }), ...objects };
}

const objectPart = ({ properties, required, additionalProperties }: ValueSchema): ValueSchema => ({
  ...(properties && { properties }),
  ...(required && { required }),
  ...(additionalProperties && { additionalProperties }),
});

function mergeObjects(a: ValueSchema, b: ValueSchema): ValueSchema {
  const first = new Map(Object.entries(a.properties ?? {}));
  const second = new Map(Object.entries(b.properties ?? {}));
  const names = new Set([...first.keys(), ...second.keys()]);
  const shared = first.size + second.size - names.size;
  // Two objects without a common field: their keys are data.
  const areApart = first.size > 0 && second.size > 0 && shared === 0;
  const isMap = a.additionalProperties !== undefined || b.additionalProperties !== undefined;
  if (isMap || areApart || names.size > LIMITS.observe.properties) {
    const values = [a, b].flatMap(({ additionalProperties: one }): ValueSchema[] => (one ? [one] : []));
    return asMap([...values, ...first.values(), ...second.values()]);
  }
  const properties = [...names].map((name) => {
    const [one, other] = [first.get(name), second.get(name)];
    return [name, one && other ? mergeSchemas(one, other) : (one ?? other)];
  });
  const required = (a.required ?? []).filter((name) => b.required?.includes(name));
  return {
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
  };
}

const asMap = (values: readonly JsonSchema[]): ValueSchema =>
  values.length === 0 ? {} : { additionalProperties: values.reduce(mergeSchemas) as ValueSchema };

class ValueReader {
  #left: number = LIMITS.observe.values;

  read(value: unknown, levels: number): ValueSchema {
    if (levels < 0 || this.#left-- <= 0) return ANYTHING;
    if (value === null) return { type: 'null' };
    if (Array.isArray(value)) return this.#array(value, levels - 1);
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return { type: typeof value };
      case 'number':
        return Number.isFinite(value) ? { type: Number.isInteger(value) ? 'integer' : 'number' } : ANYTHING;
      case 'object':
        return this.#object(value, levels - 1);
      default:
        return ANYTHING;
    }
  }

  #array(values: readonly unknown[], levels: number): ValueSchema {
    return { type: 'array', ...(values.length > 0 && { items: this.#merged(values, levels) }) };
  }

  #object(value: object, levels: number): ValueSchema {
    const entries = Object.entries(value);
    if (entries.length > LIMITS.observe.properties || !entries.every(([name]) => FIELD.test(name)))
      return { type: 'object', ...asMap([this.#merged(Object.values(value), levels)]) };
    if (entries.length === 0) return { type: 'object' };
    return {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, inner]) => [name, this.read(inner, levels)])),
      required: entries.map(([name]) => name),
    };
  }

  #merged(values: readonly unknown[], levels: number): ValueSchema {
    let merged: ValueSchema | undefined;
    for (const value of values) {
      const schema = this.read(value, levels);
      merged = merged === undefined ? schema : mergeSchemas(merged, schema);
      if (merged.type === undefined) return ANYTHING;
    }
    return merged ?? ANYTHING;
  }
}
