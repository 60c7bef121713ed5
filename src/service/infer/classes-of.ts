/**
 * Says what a tool is about and what it does: in the words of the configuration, else inferred. Pure.
 * @module
 */
import type { ConfiguredTool, ServerDefinition, ToolAnnotations } from '../../core/types.ts';
import { inferCategories } from './infer-categories.ts';
import { inferDomains } from './infer-domains.ts';

/** A server, with what its configuration says about its tools. */
export type ClassedServer = Pick<ServerDefinition, 'name'> &
  Partial<Pick<ServerDefinition, 'domains' | 'categories' | 'tools' | 'trusted' | 'isProjects'>>;

/** What inference looks at. */
interface ClassedTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly annotations?: ToolAnnotations | undefined;
}

/** The domains of a tool, the widest first. What is written for the tool wins, then what is written for its server. */
export const domainsOf = (server: ClassedServer, tool: string): readonly string[] =>
  writtenFor(server, tool)?.domains ?? server.domains ?? inferDomains(server.name, tool);

/** The categories of a tool, in the same order of precedence. */
export const categoriesOf = (server: ClassedServer, { name, description, annotations }: ClassedTool) =>
  writtenFor(server, name)?.categories ??
  server.categories ??
  inferCategories(name, { server: server.name, annotations, description });

const writtenFor = ({ tools }: ClassedServer, tool: string): ConfiguredTool | undefined =>
  tools?.find(({ name, domains, categories }) => name === tool && (domains ?? categories) !== undefined);
