/**
 * Fits keywords with plain values to an API: keeps them, rewrites them, or describes them in words.
 * @module
 */
import type { SchemaDialect } from './dialects.ts';
import { isSimplePattern } from './schema-facts.ts';
import { distinct, type Node } from './schema-tree.ts';

/** The result for keywords. */
export interface FittedKeywords {
  readonly kept?: Node | undefined;
  /** To be described in words. */
  readonly left?: Node | undefined;
  /** Rewritten keywords. */
  readonly changed?: string | undefined;
  readonly misfit?: string | undefined;
}

export function fitValues({ const: constant, enum: values }: Node, dialect: SchemaDialect): readonly FittedKeywords[] {
  const fitted: FittedKeywords[] = [];
  if (constant !== undefined) fitted.push(fitConstant(constant, values === undefined, dialect));
  if (Array.isArray(values)) {
    const all = distinct(values);
    fitted.push(
      arePlain(all, dialect)
        ? { kept: { enum: all } }
        : { left: { enum: all }, misfit: 'an enum contains a value that is not plain' },
    );
  }
  return fitted;
}

function fitConstant(value: unknown, isAlone: boolean, dialect: SchemaDialect): FittedKeywords {
  if (!arePlain([value], dialect) || !(dialect.constants || isAlone))
    return { left: { const: value }, misfit: 'a constant is not a plain value' };
  return dialect.constants ? { kept: { const: value } } : { kept: { enum: [value] }, changed: 'const' };
}

/** Tells whether null must become a separate alternative, because the API's enums cannot contain it. */
export function needsSplit({ enum: values }: Node, dialect: SchemaDialect): boolean {
  if (!Array.isArray(values) || !values.includes(null) || dialect.enumTypes.includes('null')) return false;
  const others = values.filter((value) => value !== null);
  return others.length > 0 && arePlain(others, dialect);
}

const arePlain = (values: readonly unknown[], { enumTypes }: SchemaDialect): boolean =>
  values.every((value) => enumTypes.includes(value === null ? 'null' : typeof value));

/** Fits a supported keyword whose value may not be supported. */
export function fitKeyword(key: string, value: unknown, dialect: SchemaDialect): FittedKeywords {
  const { formats, simplePatterns, maxMinItems } = dialect;
  const isUnknown =
    (key === 'format' && formats !== undefined && !formats.has(String(value))) ||
    (key === 'pattern' && simplePatterns && !isSimplePattern(String(value)));
  if (isUnknown) return { left: { [key]: value } };
  if (key === 'minItems' && maxMinItems !== undefined && Number(value) > maxMinItems)
    return { kept: { [key]: maxMinItems }, left: { [key]: value } };
  return { kept: { [key]: value } };
}
