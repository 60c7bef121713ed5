/**
 * Infers the domains and categories of a tool from what a search index knows of it. Pure.
 * @module
 */
import type { Classifier } from '../../search/query-filters.ts';
import { inferCategories } from './infer-categories.ts';
import { inferDomains } from './infer-domains.ts';

/** Gives the domains and categories that the tool's manifest has. */
export const CLASSIFIER: Classifier = {
  domains: ({ server, name }) => inferDomains(server, name),
  categories: ({ server, name, summary, readOnly }) =>
    inferCategories(name, { server, annotations: { readOnlyHint: readOnly }, description: summary }),
};
