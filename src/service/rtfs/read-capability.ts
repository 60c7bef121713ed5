/**
 * Reads an RTFS capability document back into a manifest. The schemas are those that the types stand for.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import { typeExprToSchema } from '../convert/type-expr.ts';
import { type CapabilityManifest, serverOfId } from '../manifest.ts';
import { readRtfs } from './read-rtfs.ts';
import { isKeyword, isVector, type RtfsList, type RtfsMap, type RtfsValue, tagOf } from './rtfs-value.ts';

/** Returns the manifest of a document. Throws a `ValidationError` that names what is wrong with it. */
export function readCapability(text: string): CapabilityManifest {
  const values = readRtfs(text);
  const [document] = values;
  if (values.length !== 1 || tagOf(document) !== 'list') throw invalid('holds no single (capability …)');
  const [head, name, ...rest] = (document as RtfsList).items;
  if (tagOf(head) !== 'symbol' || (head as { name: string }).name !== 'capability')
    throw invalid('does not begin with (capability');
  const id = typeof name === 'string' ? name : isKeyword(name) ? name.name : undefined;
  if (id === undefined) throw invalid('has no id');
  const fields = pairs(rest.map((one, at) => [one, rest[at + 1] ?? null] as const).filter((_, at) => at % 2 === 0));
  const provider = fields.get('provider');
  const where = tagOf(provider) === 'map' ? pairs((provider as RtfsMap).entries) : new Map<string, RtfsValue>();
  const toolName = stringIn(where, 'tool-name');
  const server = serverOfId(id, toolName);
  if (server === undefined) throw invalid(`has the id ${id}, which does not end with the tool's name ${toolName}`);
  const serverUrl = where.has('server-url') ? stringIn(where, 'server-url') : undefined;
  const output = fields.get('output-schema');
  return {
    id,
    version: stringIn(fields, 'version'),
    description: stringIn(fields, 'description'),
    inputSchema: typeExprToSchema(fields.get('input-schema') ?? null),
    ...(output !== undefined && { outputSchema: typeExprToSchema(output) }),
    provider: { type: 'mcp', server, ...(serverUrl !== undefined && { serverUrl }), toolName },
    domains: stringsIn(fields, 'domains'),
    categories: stringsIn(fields, 'categories'),
  };
}

const pairs = (entries: readonly (readonly [RtfsValue, RtfsValue])[]): ReadonlyMap<string, RtfsValue> =>
  new Map(entries.flatMap(([key, value]) => (isKeyword(key) ? [[key.name, value]] : [])));

function stringIn(fields: ReadonlyMap<string, RtfsValue>, name: string): string {
  const value = fields.get(name);
  if (typeof value !== 'string') throw invalid(`has no text as :${name}`);
  return value;
}

function stringsIn(fields: ReadonlyMap<string, RtfsValue>, name: string): string[] {
  const value = fields.get(name) ?? [];
  if (!isVector(value) || !value.every((one) => typeof one === 'string')) throw invalid(`has no texts as :${name}`);
  return [...value];
}

const invalid = (what: string): ValidationError =>
  new ValidationError(`The RTFS document ${what}. Export it again, or mend it by hand.`);
