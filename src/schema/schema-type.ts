/**
 * Maps a JSON Schema written as a literal to the TypeScript type of its values, for the ordinary keywords: `type`,
 * `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `anyOf`, `oneOf`. Anything else is `unknown`.
 * @module
 */

/** The type of the values that fit a schema; `unknown` where that cannot be told. */
export type SchemaType<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
      ? OfEach<Branch>
      : Schema extends { readonly type: readonly (infer Name)[] }
        ? OfType<Name, Schema>
        : Schema extends { readonly type: infer Name }
          ? OfType<Name, Schema>
          : Schema extends { readonly properties: object }
            ? ObjectType<Schema>
            : unknown;

type OfEach<Branch> = Branch extends unknown ? SchemaType<Branch> : never;

type OfType<Name, Schema> = Name extends 'string'
  ? string
  : Name extends 'number' | 'integer'
    ? number
    : Name extends 'boolean'
      ? boolean
      : Name extends 'null'
        ? null
        : Name extends 'array'
          ? ArrayType<Schema>
          : Name extends 'object'
            ? ObjectType<Schema>
            : unknown;

type ArrayType<Schema> = Schema extends { readonly prefixItems: unknown }
  ? readonly unknown[]
  : Schema extends { readonly items: infer Item }
    ? readonly SchemaType<Item>[]
    : readonly unknown[];

type ObjectType<Schema> = Schema extends { readonly properties: infer Properties extends object }
  ? Flat<
      { readonly [Key in keyof Properties & RequiredKeys<Schema>]: SchemaType<Properties[Key]> } & {
        readonly [Key in Exclude<keyof Properties, RequiredKeys<Schema>>]?: SchemaType<Properties[Key]>;
      }
    >
  : Schema extends { readonly additionalProperties: infer Value extends object }
    ? Readonly<Record<string, SchemaType<Value>>>
    : Readonly<Record<string, unknown>>;

/** Names that are known one by one; a plain `string[]` says nothing. */
type RequiredKeys<Schema> = Schema extends { readonly required: readonly (infer Key)[] }
  ? string extends Key
    ? never
    : Key
  : never;

type Flat<Type> = { [Key in keyof Type]: Type[Key] };
