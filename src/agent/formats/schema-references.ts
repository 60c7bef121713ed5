/**
 * Tracks the references of one schema: which are kept, under which names, their targets, and whether they form a cycle.
 * @module
 */
import { LIMITS } from '../../core/limits.ts';
import { lastPart, lookUp } from './schema-pointer.ts';
import { isNode, type Node } from './schema-tree.ts';

/** Collects what is referred to while a schema is written, and writes it after. */
export class References {
  readonly #root: Node;
  readonly #names = new Map<string, string>();
  /** How often a name was wanted. */
  readonly #taken = new Map<string, number>();
  readonly #open: string[] = [];
  /** Which definition refers to which; the schema itself is `#`. */
  readonly #edges = new Map<string, Set<string>>();
  #writing = '#';

  constructor(root: Node) {
    this.#root = root;
  }

  target(reference: string): unknown {
    return lookUp(reference, this.#root);
  }

  /** Follows a node's reference, a bounded number of times; keywords beside a reference win. */
  expand(node: Node): Node {
    let whole = node;
    for (let hops = 0; hops < LIMITS.schema.hops && typeof whole.$ref === 'string'; hops++) {
      const { $ref, ...beside } = whole;
      const target = this.target($ref as string);
      // `true` allows anything, and so does an empty schema.
      whole = isNode(target) ? { ...target, ...beside } : target === false ? { not: {} } : beside;
    }
    const { $ref: _left, ...rest } = whole;
    return rest;
  }

  /** Keeps a reference and returns its new path. */
  keep(reference: string): string {
    const pointsAtRoot = this.target(reference) === this.#root;
    const name = pointsAtRoot ? '#' : this.#nameOf(reference);
    const edges = this.#edges.get(this.#writing);
    if (edges) edges.add(name);
    else this.#edges.set(this.#writing, new Set([name]));
    return pointsAtRoot ? '#' : `#/$defs/${name}`;
  }

  /** Writes every referenced schema, including those they refer to. */
  writeAll(write: (target: unknown, name: string) => Node): [string, Node][] {
    const written: [string, Node][] = [];
    for (let reference = this.#open.shift(); reference !== undefined; reference = this.#open.shift()) {
      const name = this.#nameOf(reference);
      this.#writing = name;
      written.push([name, write(this.target(reference), name)]);
    }
    return written.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Tells whether kept references form a cycle. */
  areCircular(): boolean {
    const done = new Set<string>();
    for (const start of this.#edges.keys()) {
      // Depth-first with an explicit stack, because chains of references can be long.
      const path = new Set<string>();
      const stack: { name: string; leave: boolean }[] = [{ name: start, leave: false }];
      for (let step = stack.pop(); step; step = stack.pop()) {
        if (step.leave) {
          path.delete(step.name);
          done.add(step.name);
        } else if (path.has(step.name)) return true;
        else if (!done.has(step.name)) {
          path.add(step.name);
          stack.push({ name: step.name, leave: true });
          for (const next of this.#edges.get(step.name) ?? []) stack.push({ name: next, leave: false });
        }
      }
    }
    return false;
  }

  #nameOf(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const plain = lastPart(reference)
      .replace(/[^a-zA-Z0-9_-]/g, '_')
      .slice(0, 40)
      .replace(/^(?![a-zA-Z_])/, '_');
    let name = plain;
    for (let count = this.#taken.get(plain) ?? 1; this.#taken.has(name); count++) {
      name = `${plain}_${count + 1}`;
      this.#taken.set(plain, count + 1);
    }
    this.#names.set(reference, name);
    this.#taken.set(name, 1);
    this.#open.push(reference);
    return name;
  }
}
