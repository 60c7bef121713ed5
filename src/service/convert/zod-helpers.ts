/**
 * Holds functions for generated zod schemas, for what zod has no method for. Text in a comment that starts
 * with a colon is a type annotation.
 * @module
 */

export type ZodHelper =
  | 'kindOf'
  | 'also'
  | 'onlyFor'
  | 'either'
  | 'unless'
  | 'sized'
  | 'canonical'
  | 'equalTo'
  | 'distinct'
  | 'containing'
  | 'named'
  | 'entries';

interface Helper {
  readonly needs: readonly ZodHelper[];
  readonly text: string;
}

/** In the order in which they are written. */
export const ZOD_HELPERS: Readonly<Record<ZodHelper, Helper>> = {
  kindOf: {
    needs: [],
    text: `const kindOf = (value /*: unknown*/) /*: string*/ =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
`,
  },
  also: {
    needs: [],
    text: `/** Adds what another schema finds. */
const also = (schema /*: z.ZodType*/) => (value /*: unknown*/, context /*: z.core.$RefinementCtx*/) /*: void*/ => {
  for (const { message, path } of schema.safeParse(value).error?.issues ?? [])
    context.addIssue({ code: 'custom', message, path: [...path] });
};
`,
  },
  onlyFor: {
    needs: ['kindOf', 'also'],
    text: `/** Applies a schema to one kind of value. */
const onlyFor = (kind /*: string*/, schema /*: z.ZodType*/) => (value /*: unknown*/, context /*: z.core.$RefinementCtx*/) /*: void*/ => {
  if (kindOf(value) === kind) also(schema)(value, context);
};
`,
  },
  either: {
    needs: ['also'],
    text: `/** Applies one of two schemas, depending on a third. */
const either = (test /*: z.ZodType*/, yes /*: z.ZodType*/, no /*: z.ZodType*/) => (value /*: unknown*/, context /*: z.core.$RefinementCtx*/) /*: void*/ =>
  also(test.safeParse(value).success ? yes : no)(value, context);
`,
  },
  unless: {
    needs: [],
    text: `const unless = (schema /*: z.ZodType*/) => (value /*: unknown*/) /*: boolean*/ => !schema.safeParse(value).success;
`,
  },
  sized: {
    needs: [],
    text: `const sized = (min /*: number*/, max /*: number | null*/) => (value /*: unknown*/) /*: boolean*/ => {
  const { length } = Object.keys(Object(value));
  return length >= min && length <= (max ?? length);
};
`,
  },
  canonical: {
    needs: [],
    text: `/** The text of a JSON value, with the fields of objects in order. */
const canonical = (value /*: unknown*/) /*: string*/ =>
  JSON.stringify(value, (_key, part) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)).flat()
      : Array.isArray(part) ? [part.length, ...part] : part,
  );
`,
  },
  equalTo: {
    needs: ['canonical'],
    text: `const equalTo = (expected /*: unknown*/) => (value /*: unknown*/) /*: boolean*/ => canonical(value) === canonical(expected);
`,
  },
  distinct: {
    needs: ['canonical'],
    text: `const distinct = () => (value /*: unknown*/) /*: boolean*/ =>
  !Array.isArray(value) || new Set(value.map(canonical)).size === value.length;
`,
  },
  containing: {
    needs: [],
    text: `const containing = (schema /*: z.ZodType*/, min /*: number*/, max /*: number*/) => (value /*: unknown*/) /*: boolean*/ => {
  const found = Array.isArray(value) ? value.filter((item) => schema.safeParse(item).success).length : min;
  return found >= min && found <= max;
};
`,
  },
  named: {
    needs: [],
    text: `const named = (schema /*: z.ZodType*/) => (value /*: unknown*/) /*: boolean*/ =>
  Object.keys(Object(value)).every((name) => schema.safeParse(name).success);
`,
  },
  entries: {
    needs: ['also'],
    text: `/** Checks fields with special names, fields whose names match a pattern, and all others. */
const entries = (
  known /*: string[]*/,
  own /*: [string, z.ZodType, boolean][]*/,
  patterns /*: [RegExp, z.ZodType][]*/,
  rest /*: z.ZodType*/,
) => (value /*: unknown*/, context /*: z.core.$RefinementCtx*/) /*: void*/ => {
  const fields = new Map(Object.entries(Object(value)));
  for (const [name, , isOptional] of own)
    if (!isOptional && !fields.has(name)) context.addIssue({ code: 'custom', message: 'Required', path: [name] });
  for (const [name, field] of fields) {
    const schemas = own.filter(([one]) => one === name).map(([, schema]) => schema);
    for (const [pattern, schema] of patterns) if (pattern.test(name)) schemas.push(schema);
    if (schemas.length === 0 && !known.includes(name)) schemas.push(rest);
    for (const schema of schemas) also(schema)(field, context);
  }
};
`,
  },
};
