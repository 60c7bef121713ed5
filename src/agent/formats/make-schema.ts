/**
 * Makes one tool's input schema for one API from what the server sent. Returns the schema, what the caller should know,
 * and how to read the arguments of a call.
 * @module
 */
import type { ToolFormat } from './definition-types.ts';
import {
  ANTHROPIC_STRICT,
  GEMINI_JSON_SCHEMA,
  GEMINI_OPEN_API,
  OPENAI_STRICT,
  type SchemaDialect,
} from './dialects.ts';
import { fitSchema } from './fit-schema.ts';
import { typesOf } from './merge-schemas.ts';
import { objectRoot } from './object-root.ts';
import { ANTHROPIC_PARAMETER_RULE, GEMINI_PARAMETER_RULE, NONE_RENAMED, renameParameters } from './parameter-names.ts';
import { readSchema } from './readable-schema.ts';
import { dropNulls, restoreNames } from './restore-arguments.ts';
import { mapSchema, type Node } from './schema-tree.ts';
import { type StrictAllowance, sizeOf, tooLargeForOpenAi } from './strict-limits.ts';

type Arguments = Readonly<Record<string, unknown>>;

export type SchemaTarget = 'anthropic' | 'openai' | 'gemini-json-schema' | 'gemini-open-api';

/** The rules that the schemas of each format follow. */
export const TARGETS: Readonly<Record<ToolFormat, SchemaTarget>> = {
  anthropic: 'anthropic',
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  gemini: 'gemini-json-schema',
  'ai-sdk': 'openai',
  langchain: 'openai',
};

/** A schema that an API accepts. */
export interface MadeSchema {
  readonly schema: Node;
  readonly strict: boolean;
  /** Why it is not strict, if strict was wanted. */
  readonly notStrict?: string | undefined;
  /** What it no longer expresses. */
  readonly simplified: readonly string[];
  /** Renamed parameters: new name to the tool's own. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Returns the arguments as the tool's own schema expects them. */
  readonly readArguments: (args: Arguments) => Arguments;
}

/** Whether strict is wanted, and what is left of a request's allowance. */
interface Strictness {
  readonly strict: boolean;
  readonly allowance: StrictAllowance;
}

/** Makes the schema, or says why it cannot. Never throws. */
export function makeSchema(
  input: unknown,
  target: SchemaTarget,
  { strict, allowance }: Strictness,
): MadeSchema | { readonly refused: string } {
  const read = readSchema(input);
  if (read.refused !== undefined) return read;
  const root = objectRoot(read.schema, read.refers);
  const notes = [...read.notes, ...root.notes];
  if (target === 'gemini-open-api' && root.isFree)
    notes.push('it allows properties of any name, which OpenAPI cannot express');
  if (target === 'gemini-json-schema') return simplify(root.schema, GEMINI_JSON_SCHEMA, notes);
  if (target === 'gemini-open-api') return simplify(root.schema, GEMINI_OPEN_API, notes);
  const { schema, renamed } =
    target === 'anthropic'
      ? renameParameters(root.schema, ANTHROPIC_PARAMETER_RULE)
      : { schema: withItems(root.schema), renamed: NONE_RENAMED };
  const rename = (args: Arguments) => restoreNames(args, renamed);
  const plain: MadeSchema = { schema, strict: false, simplified: notes, renamed, readArguments: rename };
  if (!strict) return plain;
  if (root.isFree) {
    // Closing it would forbid every argument. The empty property list was added by us.
    const open = { ...schema, additionalProperties: schema.additionalProperties ?? true };
    return { ...plain, schema: open, notStrict: 'it allows properties that are not listed' };
  }
  // The allowance is spent, so skip the check whether the schema fits: it is the slowest part.
  if (target === 'anthropic' && allowance.spent !== undefined) return { ...plain, notStrict: allowance.spent };
  const fitted = fitSchema(schema, target === 'anthropic' ? ANTHROPIC_STRICT : OPENAI_STRICT);
  const size = sizeOf(fitted.schema);
  const why = fitted.misfits[0] ?? (target === 'anthropic' ? allowance.take(size) : tooLargeForOpenAi(size));
  if (why !== undefined) return { ...plain, notStrict: why };
  return {
    schema: fitted.schema,
    strict: true,
    simplified: [...notes, ...leftOut(fitted.left)],
    renamed,
    readArguments: target === 'anthropic' ? rename : (args) => dropNulls(args, root.schema),
  };
}

/** Simplifies a schema for Gemini, which has no other mode to fall back to. */
function simplify(root: Node, dialect: SchemaDialect, notes: readonly string[]): MadeSchema {
  const fitted = fitSchema(root, dialect);
  const { schema, renamed } = renameParameters(fitted.schema, GEMINI_PARAMETER_RULE);
  return {
    schema,
    strict: false,
    simplified: [...notes, ...leftOut(fitted.left)],
    renamed,
    readArguments: (args) => dropNulls(restoreNames(args, renamed), root),
  };
}

const leftOut = (keywords: readonly string[]): string[] =>
  keywords.length > 0 ? [`left out or rewritten: ${[...keywords].sort().join(', ')}`] : [];

/** OpenAI refuses arrays without `items`; `{}` allows any item. */
const withItems = (schema: Node): Node =>
  mapSchema(schema, (node) => (isArray(node) && node.items === undefined ? { ...node, items: {} } : node)) as Node;

const isArray = ({ type }: Node): boolean => typesOf(type).includes('array');
