// Generates values for a JSON Schema: some that should fit, the others broken in one place. The same schema always gets
// the same values.

/** Returns `count` values. */
export function valuesFor(schema, count) {
  let state = 0x9e3779b9;
  const random = () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x12345) | 0;
    state ^= state >>> 12;
    return (state >>> 0) / 2 ** 32;
  };
  const pick = (list) => list[Math.floor(random() * list.length)];
  const values = [];
  for (let at = 0; at < count; at++) {
    const value = fitting(schema, schema, 5, random, pick);
    values.push(at % 3 === 0 ? value : broken(value, random, pick));
  }
  return values;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function resolve(node, root) {
  for (let hops = 0; isObject(node) && typeof node.$ref === 'string' && hops < 8; hops++) {
    let target = root;
    for (const part of node.$ref.split('/').slice(1))
      target = target?.[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')];
    if (!isObject(target)) break;
    const { $ref, ...beside } = node;
    node = { ...target, ...beside };
  }
  return node;
}

function fitting(schema, root, levels, random, pick) {
  const node = resolve(schema, root);
  if (!isObject(node)) return 'anything';
  const again = (one) => fitting(one, root, levels - 1, random, pick);
  if ('const' in node) return node.const;
  if (Array.isArray(node.enum) && node.enum.length > 0) return pick(node.enum);
  const parts = [...(node.allOf ?? [])];
  for (const key of ['anyOf', 'oneOf'])
    if (Array.isArray(node[key]) && node[key].length > 0) parts.push(pick(node[key]));
  if (parts.length > 0 && levels > 0) {
    const { anyOf, oneOf, allOf, ...base } = node;
    const made = parts.map((part) =>
      again(isObject(part) && base.type !== undefined && part.type === undefined ? { type: base.type, ...part } : part),
    );
    if (base.properties === undefined && base.type !== 'object') return made[0];
    return Object.assign({}, again(base), ...made.filter(isObject));
  }
  const type = Array.isArray(node.type) ? pick(node.type) : node.type;
  if (type === 'object' || (type === undefined && isObject(node.properties))) {
    const properties = isObject(node.properties) ? node.properties : {};
    const names = Object.keys(properties).filter(
      (name) => node.required?.includes(name) || (levels > 0 && random() < 0.5),
    );
    const entries = names.map((name) => [name, again(properties[name])]);
    for (const name of Array.isArray(node.required) ? node.required : [])
      if (!Object.hasOwn(properties, name)) entries.push([name, 'given']);
    if (isObject(node.additionalProperties) && levels > 0)
      entries.push(['extra key', again(node.additionalProperties)]);
    return Object.fromEntries(entries);
  }
  if (type === 'array' || (type === undefined && node.items !== undefined)) {
    if (levels <= 0 && !(node.minItems > 0)) return [];
    const tuple = node.prefixItems ?? (Array.isArray(node.items) ? node.items : undefined);
    if (tuple) return tuple.map(again);
    const length = Math.min(Math.max(node.minItems ?? 0, Math.floor(random() * 4)), node.maxItems ?? 4, 50);
    return Array.from({ length }, () => (node.items === undefined ? 1 : again(node.items)));
  }
  if (type === 'integer' || type === 'number') {
    const from =
      node.minimum ??
      (typeof node.exclusiveMinimum === 'number' ? node.exclusiveMinimum + 1 : (node.maximum ?? 10) - 10);
    const to = Math.min(node.maximum ?? from + 100, from + 100);
    const value = from + random() * (to - from);
    return type === 'integer' || random() < 0.5 ? Math.round(value) : value;
  }
  if (type === 'boolean') return random() < 0.5;
  if (type === 'null') return null;
  const text = pick([
    'x',
    'hello world',
    '2024-05-01',
    '2024-05-01T10:00:00Z',
    'a@b.org',
    'https://example.org/a',
    'ab12',
    '0123456789',
    'abc-def',
  ]);
  const long = text.padEnd(Math.min(node.minLength ?? 0, 1000), 'x');
  return typeof node.maxLength === 'number' ? long.slice(0, node.maxLength) : long;
}

const ODD = [null, true, 0, -1, 1.5, 1e9, '', 'text', 'x'.repeat(300), [], ['a'], [1, 1], {}, { a: 1 }];

/** Returns the value with one change somewhere inside. */
function broken(value, random, pick) {
  if (typeof value !== 'object' || value === null || random() < 0.15) {
    if (typeof value === 'number') return pick([value + 0.5, value - 1000, value + 100000, String(value), null]);
    if (typeof value === 'string') return pick(['', `${value}!`, value.toUpperCase(), value.repeat(40), 5, null]);
    return pick(ODD);
  }
  if (Array.isArray(value)) {
    if (value.length === 0 || random() < 0.3) return [...value, pick([...value, ...ODD])];
    const at = Math.floor(random() * value.length);
    return value.map((one, index) => (index === at ? broken(one, random, pick) : one));
  }
  const names = Object.keys(value);
  const name = pick(names);
  if (name === undefined || random() < 0.2) return { ...value, [pick(['unknown_field', 'toString', ''])]: pick(ODD) };
  if (random() < 0.35) return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  return { ...value, [name]: broken(value[name], random, pick) };
}
