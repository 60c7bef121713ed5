/**
 * What each API takes in a schema, as data: its published rules (see `CLIENTS.md` §12 of the project's notes).
 * @module
 */

/** The rules of one API. */
export interface Dialect {
  /** As it is called in messages. */
  readonly title: string;
  /** Keywords that stay as they are. All others are left out, and said in a description. */
  readonly keeps: ReadonlySet<string>;
  /** Keywords that cannot be left out: a schema with one does not fit. */
  readonly misfits: ReadonlySet<string>;
  /** Whether a schema that does not fit is refused; otherwise it is simplified until it fits. */
  readonly exact: boolean;
  /** Whether every object names all its properties and is closed with `additionalProperties: false`. */
  readonly closed: boolean;
  /** Whether every property is required; the optional ones then allow `null`. */
  readonly allRequired: boolean;
  /** Whether references stay, under `$defs`, or are written out. */
  readonly references: 'kept' | 'inline';
  /** Whether a schema may refer to itself. */
  readonly recursion: boolean;
  /** Whether `oneOf` is known. */
  readonly oneOf: boolean;
  /** Whether `const` is known; otherwise it becomes an `enum`. */
  readonly constants: boolean;
  /** What an enum may hold. */
  readonly enumTypes: readonly string[];
  /** Formats that are known; undefined: all. */
  readonly formats: ReadonlySet<string> | undefined;
  /** Whether only patterns without look-around, back references and word boundaries are known. */
  readonly simplePatterns: boolean;
  /** The largest `minItems`, where there is one. */
  readonly maxMinItems: number | undefined;
}

const BASE = [
  'additionalProperties',
  'anyOf',
  'description',
  'enum',
  'items',
  'properties',
  'required',
  'title',
  'type',
];
const LOGIC = [
  '$dynamicRef',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'else',
  'if',
  'not',
  'patternProperties',
  'prefixItems',
  'then',
];
const FORMATS = ['date', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uuid'];

/** OpenAI, `strict: true`. */
export const OPENAI_STRICT: Dialect = {
  title: 'OpenAI strict mode',
  keeps: new Set([
    ...BASE,
    'const',
    'exclusiveMaximum',
    'exclusiveMinimum',
    'format',
    'maxItems',
    'maximum',
    'minItems',
    'minimum',
    'multipleOf',
    'pattern',
  ]),
  misfits: new Set(LOGIC),
  exact: true,
  closed: true,
  allRequired: true,
  references: 'kept',
  recursion: true,
  oneOf: false,
  constants: true,
  enumTypes: ['string', 'number', 'boolean', 'null'],
  formats: new Set(FORMATS),
  simplePatterns: true,
  maxMinItems: undefined,
};

/** Anthropic, `strict: true`. */
export const ANTHROPIC_STRICT: Dialect = {
  title: 'Anthropic strict mode',
  keeps: new Set([...BASE, 'const', 'default', 'format', 'minItems', 'pattern']),
  misfits: new Set(LOGIC),
  exact: true,
  closed: true,
  allRequired: false,
  references: 'kept',
  recursion: false,
  oneOf: false,
  constants: true,
  enumTypes: ['string', 'number', 'boolean', 'null'],
  formats: new Set([...FORMATS, 'uri']),
  simplePatterns: true,
  maxMinItems: 1,
};

/** Gemini, `parametersJsonSchema`. */
export const GEMINI_JSON_SCHEMA: Dialect = {
  title: 'Gemini',
  keeps: new Set([
    ...BASE,
    'format',
    'maxItems',
    'maximum',
    'minItems',
    'minimum',
    'oneOf',
    'prefixItems',
    'propertyOrdering',
  ]),
  misfits: new Set(),
  exact: false,
  closed: false,
  allRequired: false,
  references: 'kept',
  recursion: false,
  oneOf: true,
  constants: false,
  enumTypes: ['string', 'number'],
  formats: undefined,
  simplePatterns: false,
  maxMinItems: undefined,
};

/** Gemini, `parameters`: what is left is then written as OpenAPI wants it. */
export const GEMINI_OPEN_API: Dialect = {
  title: 'Gemini parameters',
  keeps: new Set([
    ...BASE.filter((key) => key !== 'additionalProperties'),
    'format',
    'maxItems',
    'maxLength',
    'maxProperties',
    'maximum',
    'minItems',
    'minLength',
    'minProperties',
    'minimum',
    'pattern',
    'propertyOrdering',
  ]),
  misfits: new Set(),
  exact: false,
  closed: false,
  allRequired: false,
  references: 'inline',
  recursion: false,
  oneOf: false,
  constants: false,
  enumTypes: ['string'],
  formats: new Set(['date-time', 'double', 'enum', 'float', 'int32', 'int64']),
  simplePatterns: false,
  maxMinItems: undefined,
};
