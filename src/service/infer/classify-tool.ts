/**
 * Classifies tools for searches and rules, as their manifests do. Pure.
 * @module
 */
import { isObject } from '../../json/plain-object.ts';
import type { Classify } from '../../rules/decide.ts';
import type { Classifier } from '../../search/query-filters.ts';
import { type ClassedServer, categoriesOf, domainsOf } from './classes-of.ts';

/** For an index, which knows the summary of a tool. */
export function indexClassifier(servers: readonly ClassedServer[]): Classifier {
  const serverOf = byName(servers);
  return {
    domains: ({ server, name }) => domainsOf(serverOf(server), name),
    categories: ({ server, name, summary, readOnly }) =>
      categoriesOf(serverOf(server), { name, annotations: { readOnlyHint: readOnly }, description: summary }),
  };
}

/**
 * For rules, which know the definition. The hints of a server count only if the user trusts it. What a project says about
 * its servers does not count: it could get past a rule of the user.
 */
export function ruleClassifier(servers: readonly ClassedServer[]): Classify {
  const serverOf = byName(servers);
  return (server, { name, description, annotations }) => {
    const written = serverOf(server);
    const known: ClassedServer = written.isProjects ? { name: server } : written;
    const hints = isObject(annotations) ? annotations : undefined;
    const said = typeof description === 'string' ? description : undefined;
    return {
      domains: domainsOf(known, name),
      categories: categoriesOf(known, { name, annotations: hints, description: said }),
      readOnly: known.trusted === true && hints?.readOnlyHint === true && hints.destructiveHint !== true,
    };
  };
}

function byName(servers: readonly ClassedServer[]): (name: string) => ClassedServer {
  const known = new Map(servers.map((server) => [server.name, server]));
  return (name) => known.get(name) ?? { name };
}
