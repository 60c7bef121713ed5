/**
 * Lists what each API accepts in a schema, as data. These are the published rules of each API.
 * @module
 */

/** The rules of one API. */
export interface SchemaDialect {
  /** The name in messages. */
  readonly title: string;
  /** Keywords that stay. All others are left out and described in words. */
  readonly keeps: ReadonlySet<string>;
  /** Keywords that cannot be left out: a schema with one does not fit. */
  readonly misfits: ReadonlySet<string>;
  /** Whether a schema that does not fit is refused; otherwise it is simplified until it fits. */
  readonly exact: boolean;
  /** Whether every object must list all its properties and be closed with `additionalProperties: false`. */
  readonly closed: boolean;
  /** Whether every property must be required; optional ones then allow `null`. */
  readonly allRequired: boolean;
  /** Whether references stay, under `$defs`, or are expanded in place. */
  readonly references: 'kept' | 'inline';
  /** Whether a schema may refer to itself. */
  readonly recursion: boolean;
  /** Whether `oneOf` is supported. */
  readonly oneOf: boolean;
  /** Whether `const` is supported; otherwise it becomes an `enum`. */
  readonly constants: boolean;
  /** The value types of an enum. */
  readonly enumTypes: readonly string[];
  /** Supported formats; undefined: all. */
  readonly formats: ReadonlySet<string> | undefined;
  /** Whether patterns must do without look-around, back references and word boundaries. */
  readonly simplePatterns: boolean;
  /** The largest `minItems`, if limited. */
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
export const OPENAI_STRICT: SchemaDialect = {
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
export const ANTHROPIC_STRICT: SchemaDialect = {
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
export const GEMINI_JSON_SCHEMA: SchemaDialect = {
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

/** Gemini, `parameters`: the result is then converted to OpenAPI. */
export const GEMINI_OPEN_API: SchemaDialect = {
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
