/**
 * Converts a schema of any library to JSON Schema, or throws an error that says how to enable that.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import type { JsonSchema } from '../../core/types.ts';
import { isObject } from '../../json/plain-object.ts';
import { messageOf } from '../../text/thrown-message.ts';
import { isStandardSchema, type StandardSchema } from './standard-schema.ts';

/** The side of a schema: before defaults and conversions, or after them. */
type SchemaSide = 'input' | 'output';

/**
 * Converts schemas of a library whose converter is a separate package, such as valibot's `toJsonSchema`, which takes
 * these options.
 */
export type ToJsonSchema = (schema: never, options: { readonly typeMode: SchemaSide }) => object;

/** The JSON Schema, with an object at its root. Throws `ValidationError` if there is none. */
export function exportSchema(
  schema: StandardSchema | JsonSchema,
  side: SchemaSide,
  where: string,
  convert: ToJsonSchema | undefined,
  registry = 'ToolRegistry',
): JsonSchema {
  if (!isStandardSchema(schema)) return withObjectRoot(checkRaw(schema, where), where);
  const exported = tryExport(schema, side, where, convert);
  if (!isObject(exported)) throw new ValidationError(`${where}: ${howToExport(schema['~standard'].vendor, registry)}`);
  const { $schema: _dialect, '~standard': _standard, ...rest } = exported;
  return withObjectRoot(rest, where);
}

function tryExport(
  schema: StandardSchema,
  side: SchemaSide,
  where: string,
  convert: ToJsonSchema | undefined,
): unknown {
  const standard = schema['~standard'];
  const { toJSONSchema, toJsonSchema } = schema as { toJSONSchema?: unknown; toJsonSchema?: unknown };
  try {
    if (standard.jsonSchema !== undefined) return standard.jsonSchema[side]({ target: 'draft-2020-12' });
    if (typeof toJSONSchema === 'function') return toJSONSchema.call(schema, { io: side });
    if (typeof toJsonSchema === 'function') return toJsonSchema.call(schema);
    return convert?.(schema as never, { typeMode: side });
  } catch (cause) {
    const message = `${where}: ${standard.vendor} cannot write this schema as JSON Schema: ${messageOf(cause)}`;
    throw new ValidationError(message, { cause });
  }
}

function howToExport(vendor: string, registry: string): string {
  switch (vendor) {
    case 'valibot':
      return `valibot's JSON Schema export is a separate package. Install @valibot/to-json-schema and pass it: new ${registry}({ toJsonSchema }), or wrap the schema with its toStandardJsonSchema().`;
    case 'zod':
      return 'this version of zod has no JSON Schema export. Use zod 4.2 or later, or give raw JSON Schema.';
    default:
      return `${vendor} schemas have no known JSON Schema export. Pass a converter, new ${registry}({ toJsonSchema }), or give raw JSON Schema.`;
  }
}

function checkRaw(schema: unknown, where: string): JsonSchema {
  if (!isObject(schema))
    throw new ValidationError(`${where} must be a schema of zod, valibot or arktype, or JSON Schema`);
  if (Object.values(schema).some(isStandardSchema)) {
    throw new ValidationError(
      `${where} is an object full of schemas. Make it one schema, for example z.object({ … }).`,
    );
  }
  return schema;
}

/** `tools/list` needs an object at the root; unions of objects do not say so themselves. */
function withObjectRoot(schema: JsonSchema, where: string): JsonSchema {
  if (schema.type === 'object') return schema;
  const isOpen = schema.type === undefined && typeof schema.enum === 'undefined' && typeof schema.const === 'undefined';
  if (!isOpen)
    throw new ValidationError(`${where} must describe an object, not ${JSON.stringify(schema.type ?? 'a value')}`);
  return { type: 'object', ...schema };
}
