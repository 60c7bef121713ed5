/**
 * Describes violations in words, so that an agent can fix its call in one step. Each problem has a path, a sentence and
 * the violated part of the schema. Long values are never repeated.
 * @module
 */

import type { ErrorDetails } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import { nearestName } from '../../text/nearest-names.ts';
import type { Path, Violation } from './check-value.ts';
import { excerpt, literal, shortType } from './excerpt.ts';
import { inPlace, jsonTypeOf, type SchemaNode } from './schema-node.ts';

/** One problem with a value. Plain data, so that it can cross threads. */
export interface Problem {
  /** `labels[0].name`; empty for the value as a whole. */
  readonly path: string;
  readonly message: string;
  /** The violated part of the schema. */
  readonly schema: unknown;
  /** A name or value that was probably meant. */
  readonly suggestion?: string | undefined;
}

/** The problems in one line. */
export const listed = (problems: readonly Problem[]): string => problems.map(({ message }) => message).join('; ');

/** The violated parts of the schema by path, and the suggestions, for an error. */
export const detailsOf = (problems: readonly Problem[]): Pick<ErrorDetails, 'schema' | 'suggestions'> => ({
  schema: Object.fromEntries(problems.map(({ path, schema }) => [path === '' ? '(all)' : path, schema])),
  suggestions: problems.flatMap(({ suggestion }) => (suggestion === undefined ? [] : [suggestion])),
});

/** Describes violations, without duplicates. */
export function describeViolations(violations: readonly Violation[]): readonly Problem[] {
  const problems = new Map<string, Problem>();
  for (const violation of violations.flatMap(unfold)) {
    const problem = describe(violation);
    const key = `${problem.path}\n${problem.message}`;
    if (!problems.has(key)) problems.set(key, problem);
    if (problems.size === LIMITS.validation.problems) break;
  }
  return [...problems.values()];
}

/** Replaces "none of the alternatives" by the violations of the nearest alternative, if one is clearly meant. */
function unfold(violation: Violation): readonly Violation[] {
  const branches = violation.branches ?? [];
  const depth = violation.path.length;
  const meant = branches.filter((branch) => branch.length > 0 && !branch.some((one) => isOtherKind(one, depth)));
  const [best] = meant.sort((a, b) => score(a) - score(b));
  return best === undefined ? [violation] : best.flatMap(unfold);
}

/** The value has another type altogether, so this alternative was not meant. */
const isOtherKind = (violation: Violation, depth: number): boolean =>
  violation.path.length === depth && ['type', 'const', 'enum', 'false'].includes(violation.keyword);

const score = (branch: readonly Violation[]): number =>
  branch.reduce((sum, one) => sum + (one.keyword === 'const' || one.keyword === 'enum' ? 10 : 1), 0);

function describe(violation: Violation): Problem {
  const { keyword, node, value, name } = violation;
  if (keyword === 'required' && name !== undefined) return describeMissing(violation, name);
  if (keyword === 'additionalProperties' && name !== undefined) return describeUnknown(violation, name);
  const path = pathText(violation.path);
  const what = path === '' ? 'The whole value' : `"${path}"`;
  if (keyword === 'enum' && typeof value === 'string') {
    const names = node.enumeration?.all.filter((one) => typeof one === 'string') ?? [];
    const suggestion = nearestName(value, names);
    const hint = suggestion === undefined ? '' : `; did you mean ${literal(suggestion)}?`;
    return { path, message: `${what} ${expectation(violation)}${hint}`, schema: excerpt(node.source), suggestion };
  }
  return { path, message: `${what} ${expectation(violation)}`, schema: excerpt(node.source) };
}

function describeMissing(violation: Violation, name: string): Problem {
  const path = pathText([...violation.path, name]);
  const schema = propertyOf(violation.node, name)?.source;
  const type = schema === undefined ? '' : ` (${shortType(schema)})`;
  return {
    path,
    message: `"${path}" is missing${type}`,
    schema: schema === undefined ? { required: [name] } : excerpt(schema),
  };
}

function describeUnknown(violation: Violation, name: string): Problem {
  const path = pathText([...violation.path, name]);
  const names = [...propertyNames(violation.node)];
  const suggestion = nearestName(name, names);
  const shown = names.slice(0, LIMITS.validation.names).map((known) => clip(known));
  const known =
    names.length === 0
      ? 'none are'
      : `known: ${shown.join(', ')}${names.length > LIMITS.validation.names ? ', …' : ''}`;
  const hint = suggestion === undefined ? known : `did you mean "${suggestion}"?`;
  return {
    path,
    message: `"${path}" is not a known property; ${hint}`,
    schema: { properties: shown, additionalProperties: false },
    suggestion,
  };
}

function expectation({ keyword, node, value, name, branches }: Violation): string {
  switch (keyword) {
    case 'type':
      return `must be ${shortType(node.source)}, got ${gotType(value)}`;
    case 'const':
      return `must be ${literal(node.constant?.value)}${gotValue(value)}`;
    case 'enum':
      if (node.enumeration?.all.length === 0) return 'accepts no value: the list of permitted values is empty';
      return `must be one of ${shortType({ enum: node.enumeration?.all })}${gotValue(value)}`;
    case 'minimum':
      return `must be >= ${node.minimum}${gotValue(value)}`;
    case 'maximum':
      return `must be <= ${node.maximum}${gotValue(value)}`;
    case 'exclusiveMinimum':
      return `must be > ${node.exclusiveMinimum}${gotValue(value)}`;
    case 'exclusiveMaximum':
      return `must be < ${node.exclusiveMaximum}${gotValue(value)}`;
    case 'multipleOf':
      return `must be a multiple of ${node.multipleOf}${gotValue(value)}`;
    case 'minLength':
      return `must have at least ${node.minLength} characters`;
    case 'maxLength':
      return `must have at most ${node.maxLength} characters`;
    case 'pattern':
      return `must match /${clip(node.pattern?.source ?? '', 120)}/`;
    case 'minItems':
      return `must have at least ${node.minItems} items, has ${sizeOf(value)}`;
    case 'maxItems':
      return `must have at most ${node.maxItems} items, has ${sizeOf(value)}`;
    case 'uniqueItems':
      return 'must not contain the same item twice';
    case 'contains':
      return `must contain ${node.maxContains === undefined ? 'at least' : `at most ${node.maxContains} and at least`} ${node.minContains} item(s) of type ${shortType(node.contains?.source)}`;
    case 'minProperties':
      return `must have at least ${node.minProperties} properties, has ${sizeOf(value)}`;
    case 'maxProperties':
      return `must have at most ${node.maxProperties} properties, has ${sizeOf(value)}`;
    case 'propertyNames':
      return `must not have a property called "${clip(name ?? '')}"`;
    case 'anyOf':
    case 'oneOf':
      if (branches === undefined) return 'matches more than one of the alternatives, but must match exactly one';
      return `must be ${shortType({ anyOf: branches.length > 0 ? (node.anyOf ?? node.oneOf)?.map((one) => one.source) : [] })}, got ${gotType(value)}`;
    case 'not':
      return 'has a form that is not allowed here';
    default:
      return 'is not allowed';
  }
}

const gotType = (value: unknown): string =>
  typeof value === 'number' && !Number.isInteger(value) ? 'a fraction' : jsonTypeOf(value);

/** Short scalars help; long or composite values stay out of messages and logs. */
function gotValue(value: unknown): string {
  if (typeof value === 'object' && value !== null) return `, got ${jsonTypeOf(value)}`;
  return typeof value === 'string' && value.length > 40 ? '' : `, got ${literal(value)}`;
}

const sizeOf = (value: unknown): number =>
  Array.isArray(value) ? value.length : typeof value === 'object' && value !== null ? Object.keys(value).length : 0;

/** Returns a property's node, also if an in-place sub-schema declares it. */
function propertyOf(node: SchemaNode, name: string, depth = 0): SchemaNode | undefined {
  const own = node.properties?.get(name);
  if (own !== undefined || depth > 4) return own;
  for (const part of inPlace(node)) {
    const found = propertyOf(part, name, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function propertyNames(node: SchemaNode, depth = 0, names = new Set<string>()): Set<string> {
  for (const name of node.properties?.keys() ?? []) names.add(name);
  if (depth <= 4) for (const part of inPlace(node)) propertyNames(part, depth + 1, names);
  return names;
}

function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(part)) text += text === '' ? clip(part) : `.${clip(part)}`;
    else text += `[${JSON.stringify(clip(part))}]`;
  }
  return clip(text, LIMITS.text.path);
}

const clip = (text: string, length = LIMITS.validation.value): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;
