/**
 * The published rules of LLM APIs for definitions of tools, as checkers: a definition in, what the API would refuse out.
 * Written from the documentation, not from the code they check.
 * @module
 */
import { Ajv2020 } from 'ajv/dist/2020.js';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const ajv = new Ajv2020({ strict: false, validateFormats: false, unicodeRegExp: false });

/** Every schema in a schema, itself first, with the way to it. */
function* nodesOf(schema: unknown, path = '$'): Generator<readonly [node: Json, path: string]> {
  if (!isObject(schema)) return;
  yield [schema, path];
  for (const [key, value] of Object.entries(schema)) {
    if (
      /^(items|additionalProperties|additionalItems|not|if|then|else|contains|propertyNames|contentSchema|unevaluated.*)$/.test(
        key,
      )
    )
      yield* nodesOf(value, `${path}.${key}`);
    else if (/^(anyOf|oneOf|allOf|prefixItems)$/.test(key))
      for (const [at, one] of list(value).entries()) yield* nodesOf(one, `${path}.${key}[${at}]`);
    else if (/^(properties|patternProperties|\$defs|definitions|dependentSchemas)$/.test(key) && isObject(value))
      for (const [name, one] of Object.entries(value)) yield* nodesOf(one, `${path}.${key}.${name}`);
  }
}

function pointed(root: Json, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/'))
    return [...nodesOf(root)].find(([node]) => [node.$anchor, node.$dynamicAnchor].includes(reference.slice(1)))?.[0];
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    let name = part;
    try {
      name = decodeURIComponent(part);
    } catch {}
    name = name.replaceAll('~1', '/').replaceAll('~0', '~');
    at = typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Json)[name] : undefined;
  }
  return at;
}

/** What holds for every schema that is sent as JSON Schema. */
function common(schema: unknown): string[] {
  if (!isObject(schema)) return ['the schema is no object'];
  const wrong: string[] = [];
  if (schema.type !== 'object') wrong.push('$: type is not object');
  if (!isObject(schema.properties)) wrong.push('$: no properties');
  for (const key of ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref'])
    if (key in schema) wrong.push(`$: ${key} at the top`);
  if (!ajv.validateSchema(schema)) wrong.push(`not valid JSON Schema: ${ajv.errorsText(ajv.errors).slice(0, 300)}`);
  for (const [node, path] of nodesOf(schema)) {
    if ('$schema' in node || '$id' in node) wrong.push(`${path}: $schema or $id`);
    if (node.$ref !== undefined && (typeof node.$ref !== 'string' || pointed(schema, node.$ref) === undefined))
      wrong.push(`${path}: $ref ${String(node.$ref)} leads nowhere`);
  }
  return wrong;
}

const arraysHaveItems = (schema: unknown): string[] =>
  [...nodesOf(schema)]
    .filter(([node]) => list([node.type].flat()).includes('array') && node.items === undefined)
    .map(([, path]) => `${path}: array without items`);

const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];

function onlyKeys(schema: unknown, allowed: readonly string[]): string[] {
  return [...nodesOf(schema)].flatMap(([node, path]) =>
    Object.keys(node)
      .filter((key) => !allowed.includes(key))
      .map((key) => `${path}: ${key}`),
  );
}

const WORDS = [
  'type',
  'title',
  'description',
  'enum',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  '$ref',
  '$defs',
];

function closedObjects(schema: unknown): string[] {
  return [...nodesOf(schema)]
    .filter(([node]) => [node.type].flat().includes('object') || node.properties !== undefined)
    .filter(([node]) => node.additionalProperties !== false)
    .map(([, path]) => `${path}: object not closed`);
}

function saysSomething(schema: unknown): string[] {
  return [...nodesOf(schema)]
    .filter(([node]) => !['type', 'anyOf', '$ref', 'enum', 'const'].some((key) => key in node))
    .map(([, path]) => `${path}: may be anything`);
}

const plainEnums = (schema: unknown, types: readonly string[]): string[] =>
  [...nodesOf(schema)]
    .filter(([node]) =>
      [...list(node.enum), ...('const' in node ? [node.const] : [])].some(
        (value) => !types.includes(value === null ? 'null' : typeof value),
      ),
    )
    .map(([, path]) => `${path}: enum`);

function loneReferences(schema: unknown): string[] {
  return [...nodesOf(schema)]
    .filter(([node]) => '$ref' in node && Object.keys(node).length > 1)
    .map(([, path]) => `${path}: keywords beside $ref`);
}

/** OpenAI's rules for `strict: true`. */
export function openAiStrict(schema: unknown): string[] {
  const wrong = [
    ...onlyKeys(schema, [
      ...WORDS,
      'const',
      'pattern',
      'format',
      'multipleOf',
      'minimum',
      'maximum',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'minItems',
      'maxItems',
    ]),
    ...closedObjects(schema),
    ...saysSomething(schema),
    ...loneReferences(schema),
    ...plainEnums(schema, ['string', 'number', 'boolean', 'null']),
  ];
  let [properties, values, characters] = [0, 0, 0];
  for (const [node, path] of nodesOf(schema)) {
    const names = Object.keys(isObject(node.properties) ? node.properties : {});
    const required = list(node.required);
    properties += names.length;
    values += list(node.enum).length;
    characters += names.join('').length + list(node.enum).join('').length;
    if (
      isObject(node.properties) &&
      !(names.length === required.length && names.every((name) => required.includes(name)))
    )
      wrong.push(`${path}: not all required`);
    if (node.format !== undefined && !FORMATS.includes(String(node.format)))
      wrong.push(`${path}: format ${String(node.format)}`);
    if (path.split(/\.(?:properties|items)/).length - 1 > 10) wrong.push(`${path}: deeper than 10 levels`);
  }
  if (properties > 5000 || values > 1000 || characters > 120_000) wrong.push('too large');
  return wrong;
}

/** Anthropic's rules for `strict: true`, for one tool. */
export function anthropicStrict(schema: unknown): string[] {
  const wrong = [
    ...onlyKeys(schema, [...WORDS, 'const', 'format', 'default', 'pattern', 'minItems']),
    ...closedObjects(schema),
    ...saysSomething(schema),
    ...plainEnums(schema, ['string', 'number', 'boolean', 'null']),
  ];
  for (const [node, path] of nodesOf(schema)) {
    if (node.minItems !== undefined && node.minItems !== 0 && node.minItems !== 1) wrong.push(`${path}: minItems`);
    if (typeof node.pattern === 'string' && /\(\?[=!<]|\\[1-9bB]/.test(node.pattern)) wrong.push(`${path}: pattern`);
  }
  return [...wrong, ...circles(schema)];
}

/** Whether a reference leads back to where it stands: what is left after taking away all that leads nowhere. */
function circles(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  const { $defs: defs, ...top } = schema;
  const stands: (readonly [place: unknown, node: unknown])[] = [
    [schema, top],
    ...Object.values(isObject(defs) ? defs : {}).map((node) => [node, node] as const),
  ];
  const leads = new Map(
    stands.map(([place, node]) => [
      place,
      new Set(
        [...nodesOf(node)].flatMap(([inner]) => (typeof inner.$ref === 'string' ? [pointed(schema, inner.$ref)] : [])),
      ),
    ]),
  );
  for (let before = -1; before !== leads.size; ) {
    before = leads.size;
    for (const [place, targets] of [...leads].reverse())
      if (![...targets].some((target) => leads.has(target))) leads.delete(place);
  }
  return leads.size > 0 ? ['refers to itself'] : [];
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const COMMON_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

function named(name: unknown): string[] {
  return typeof name === 'string' && NAME.test(name) && COMMON_NAME.test(name) ? [] : [`name ${String(name)}`];
}

const described = (description: unknown): string[] =>
  description === undefined || typeof description === 'string' ? [] : ['description'];

const GEMINI_KEYS = [
  '$id',
  '$defs',
  '$ref',
  '$anchor',
  'type',
  'format',
  'title',
  'description',
  'enum',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'anyOf',
  'oneOf',
  'properties',
  'additionalProperties',
  'required',
  'propertyOrdering',
];
const GEMINI_PARAMETER = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;

/** Gemini's `parametersJsonSchema`. */
export function geminiJsonSchema(schema: unknown): string[] {
  return [
    ...common(schema),
    ...arraysHaveItems(schema),
    ...onlyKeys(schema, GEMINI_KEYS),
    ...loneReferences(schema),
    ...plainEnums(schema, ['string', 'number']),
    ...circles(schema),
    ...Object.keys(isObject(schema) && isObject(schema.properties) ? schema.properties : {})
      .filter((name) => !GEMINI_PARAMETER.test(name))
      .map((name) => `parameter ${name}`),
    ...requiredKnown(schema),
  ];
}

const requiredKnown = (schema: unknown): string[] =>
  [...nodesOf(schema)].flatMap(([node, path]) =>
    list(node.required)
      .filter((name) => !isObject(node.properties) || !Object.hasOwn(node.properties, String(name)))
      .map((name) => `${path}: requires ${String(name)}`),
  );

const OPEN_API_KEYS = [
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'minProperties',
  'maxProperties',
  'required',
  'minLength',
  'maxLength',
  'pattern',
  'example',
  'anyOf',
  'propertyOrdering',
  'minimum',
  'maximum',
];
const OPEN_API_TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'];

/** Gemini's `parameters`. */
export function geminiOpenApi(schema: unknown): string[] {
  if (schema === undefined) return [];
  const wrong = [...onlyKeys(schema, OPEN_API_KEYS), ...requiredKnown(schema)];
  if (isObject(schema) && schema.type !== 'OBJECT') wrong.push('$: type is not OBJECT');
  for (const [node, path] of nodesOf(schema)) {
    if (node.anyOf !== undefined) {
      if (Object.keys(node).length > 1) wrong.push(`${path}: keywords beside anyOf`);
      continue;
    }
    if (!OPEN_API_TYPES.includes(String(node.type))) wrong.push(`${path}: type ${String(node.type)}`);
    if (
      node.enum !== undefined &&
      (node.type !== 'STRING' || !list(node.enum).every((value) => typeof value === 'string' && value !== ''))
    )
      wrong.push(`${path}: enum`);
    if (node.type === 'ARRAY' && node.items === undefined) wrong.push(`${path}: array without items`);
    if (isObject(node.properties) && Object.keys(node.properties).length === 0) wrong.push(`${path}: empty properties`);
  }
  const parameters = isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : [];
  return [...wrong, ...parameters.filter((name) => !GEMINI_PARAMETER.test(name)).map((name) => `parameter ${name}`)];
}

/** A request to Anthropic. */
export function anthropicTools(tools: readonly object[]): string[] {
  const all = tools as readonly Json[];
  const strict = all.filter((tool) => tool.strict === true);
  let [optional, unions] = [0, 0];
  for (const [node] of strict.flatMap((tool) => [...nodesOf(tool.input_schema)])) {
    optional += Object.keys(isObject(node.properties) ? node.properties : {}).filter(
      (name) => !list(node.required).includes(name),
    ).length;
    if (node.anyOf !== undefined || list(node.type).length > 1) unions++;
  }
  return [
    ...unique(all.map((tool) => tool.name)),
    ...all.flatMap((tool) => [
      ...onlyOf(tool, ['name', 'description', 'input_schema', 'strict', 'defer_loading']),
      ...named(tool.name),
      ...described(tool.description),
      ...common(tool.input_schema),
      ...Object.keys(
        isObject(tool.input_schema) && isObject(tool.input_schema.properties) ? tool.input_schema.properties : {},
      )
        .filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
        .map((name) => `parameter ${name}`),
      ...(tool.strict === true ? anthropicStrict(tool.input_schema) : []),
    ]),
    ...(strict.length > 20 ? [`${strict.length} strict tools`] : []),
    ...(optional > 24 ? [`${optional} optional parameters`] : []),
    ...(unions > 16 ? [`${unions} parameters with alternatives`] : []),
  ];
}

/** A request to OpenAI Chat Completions. */
export function openAiChatTools(tools: readonly object[]): string[] {
  const functions = (tools as readonly Json[]).map((tool) => tool.function as Json);
  return [
    ...(tools as readonly Json[]).flatMap((tool) =>
      tool.type === 'function' ? onlyOf(tool, ['type', 'function']) : ['type'],
    ),
    ...unique(functions.map((one) => one.name)),
    ...functions.flatMap(openAiFunction),
    ...(tools.length > 128 ? [`${tools.length} tools`] : []),
  ];
}

/** A request to OpenAI Responses. */
export function openAiResponsesTools(tools: readonly object[]): string[] {
  const all = tools as readonly Json[];
  return [
    ...unique(all.map((tool) => `${String(tool.type)} ${String(tool.name)}`)),
    ...all.flatMap((tool) => {
      if (tool.type === 'namespace') {
        const inner = list(tool.tools) as readonly Json[];
        return [
          ...onlyOf(tool, ['type', 'name', 'description', 'tools']),
          ...named(tool.name),
          ...(typeof tool.description === 'string' ? [] : ['description']),
          ...unique(inner.map((one) => one.name)),
          ...inner.flatMap(openAiFunction),
        ];
      }
      return [
        ...(tool.type === 'function' ? [] : ['type']),
        ...(typeof tool.strict === 'boolean' ? [] : ['strict']),
        ...openAiFunction(tool),
      ];
    }),
  ];
}

const openAiFunction = (one: Json): string[] => [
  ...onlyOf(one, ['type', 'name', 'description', 'parameters', 'strict', 'defer_loading']),
  ...named(one.name),
  ...described(one.description),
  ...common(one.parameters),
  ...arraysHaveItems(one.parameters),
  ...(one.strict === true ? openAiStrict(one.parameters) : []),
];

/** A request to Gemini. */
export function geminiTools(tools: readonly object[]): string[] {
  const functions = (tools as readonly Json[]).flatMap((tool) => list(tool.functionDeclarations)) as readonly Json[];
  return [
    ...unique(functions.map((one) => one.name)),
    ...functions.flatMap((one) => [
      ...onlyOf(one, ['name', 'description', 'parameters', 'parametersJsonSchema']),
      ...named(one.name),
      ...(typeof one.description === 'string' ? [] : ['description']),
      ...('parametersJsonSchema' in one ? geminiJsonSchema(one.parametersJsonSchema) : geminiOpenApi(one.parameters)),
    ]),
  ];
}

/** Tools for LangChain. */
export const langChainTools = (tools: readonly object[]): string[] => [
  ...unique((tools as readonly Json[]).map((tool) => tool.name)),
  ...(tools as readonly Json[]).flatMap((tool) => [
    ...onlyOf(tool, ['name', 'description', 'schema']),
    ...named(tool.name),
    ...(typeof tool.description === 'string' ? [] : ['description']),
    ...common(tool.schema),
    ...arraysHaveItems(tool.schema),
  ]),
];

/** Tools for the AI SDK, which passes schemas on to any provider. */
export const aiSdkTools = (tools: object): string[] =>
  Object.entries(
    tools as Readonly<Record<string, { inputSchema: { jsonSchema: unknown }; description?: unknown }>>,
  ).flatMap(([name, tool]) => [
    ...named(name),
    ...described(tool.description),
    ...common(tool.inputSchema.jsonSchema),
    ...arraysHaveItems(tool.inputSchema.jsonSchema),
  ]);

const onlyOf = (value: Json, keys: readonly string[]): string[] =>
  Object.keys(value)
    .filter((key) => !keys.includes(key))
    .map((key) => `key ${key}`);
const unique = (names: readonly unknown[]): string[] =>
  names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${String(name)} twice`);

/** A block of Anthropic's next user message. */
export function anthropicResult(block: object): string[] {
  const { type, tool_use_id: id, content, is_error: isError } = block as Json;
  const blocks = list(content).filter(isObject);
  return [
    ...onlyOf(block as Json, ['type', 'tool_use_id', 'content', 'is_error']),
    ...(type === 'tool_result' ? [] : ['type']),
    ...(typeof id === 'string' && id !== '' ? [] : ['tool_use_id']),
    ...blocks.filter((one) => one.type === 'text' && String(one.text).trim() === '').map(() => 'blank text'),
    ...(isError === true && blocks.some((one) => one.type !== 'text') ? ['is_error with more than text'] : []),
  ];
}
