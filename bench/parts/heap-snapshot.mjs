// Reads a heap snapshot: what the program holds, apart from what V8 holds for itself.

/** Kinds of nodes that V8's compilers make: code, feedback, lists of code that depends on something. */
const COMPILER = new Set(['code', 'hidden']);

/** Bytes that the program holds, bytes of V8's compilers, and how many objects each constructor has. */
export function readHeap({ snapshot, nodes, strings }) {
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field));
  const held = { program: 0, compiler: 0, objects: new Map() };
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = types[type][nodes[at + type]];
    held[COMPILER.has(kind) ? 'compiler' : 'program'] += nodes[at + size];
    if (kind !== 'object') continue;
    const called = strings[nodes[at + name]];
    held.objects.set(called, (held.objects.get(called) ?? 0) + 1);
  }
  return held;
}
