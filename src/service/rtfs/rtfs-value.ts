/**
 * Defines the values of RTFS documents: strings, numbers, booleans, `nil` (null), vectors (arrays), and the tagged ones.
 * @module
 */

/** `:name`, or a bare `name`. */
interface RtfsName {
  readonly kind: 'keyword' | 'symbol';
  readonly name: string;
}

/** `(…)` */
export interface RtfsList {
  readonly kind: 'list';
  readonly items: readonly RtfsValue[];
}

/** `{key value …}`, in the order of the text. */
export interface RtfsMap {
  readonly kind: 'map';
  readonly entries: readonly (readonly [key: RtfsValue, value: RtfsValue])[];
}

/** A value; an array is a vector. */
export type RtfsValue = string | number | boolean | null | RtfsName | RtfsList | RtfsMap | readonly RtfsValue[];

/** Returns the keyword `:name`. */
export const keyword = (name: string): RtfsName => ({ kind: 'keyword', name });

/** Returns a name as a keyword where the language allows it, else as a string. */
export const nameValue = (name: string): RtfsName | string => (KEYWORD.test(name) ? keyword(name) : name);

/** Names that can be written as keywords. */
const KEYWORD = /^[A-Za-z_][A-Za-z0-9_*.+!?<>=$&%/-]{0,499}$/;

/** Tells whether a value is the keyword `:name`; without a name, whether it is any keyword. */
export const isKeyword = (value: RtfsValue | undefined, name?: string): value is RtfsName =>
  tagOf(value) === 'keyword' && (name === undefined || (value as RtfsName).name === name);

/** Returns the tag of a list, map, keyword or symbol. */
export const tagOf = (value: RtfsValue | undefined): string | undefined =>
  typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;

/** Tells whether a value is a vector. */
export const isVector = (value: RtfsValue | undefined): value is readonly RtfsValue[] => Array.isArray(value);
