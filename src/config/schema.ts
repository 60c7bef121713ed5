/**
 * Defines the schema of the `discovery` section as people write it. The author type and the reference page are derived
 * from it.
 * @module
 */
import * as z from 'zod/mini';
import { SOURCE_TYPES, type SourceType } from '../clients/importers/source-types.ts';
import { described, flag, optional, path } from './fields.ts';
import { ruleSchema } from './rule-schema.ts';
import { consistentServerSchema } from './server-schema.ts';
import { settingsShape } from './settings-schema.ts';

function pathProblem(type: SourceType, path: string | undefined): string | undefined {
  if (type === 'auto') return path === undefined ? undefined : 'does not belong here; `auto` finds the files itself';
  if (path !== undefined || (type !== 'custom' && type !== 'mcpb')) return undefined;
  return `is missing; a ${type} source needs the path of its file`;
}

const sourceSchema = z
  .strictObject({
    type: described(
      z.enum(SOURCE_TYPES),
      'The program that owns the file. `auto`: the files of every client found. `custom`: a file with `servers` or `mcpServers`. `mcpb`: a bundle.',
    ),
    path: optional(path, 'The file. Needed for `custom` and `mcpb`; the others know their usual places.'),
    enabled: optional(flag, '`false`: do not read it. Default `true`.'),
  })
  .check(
    z.superRefine((source, context) => {
      const message = pathProblem(source.type, source.path);
      if (message !== undefined) context.addIssue({ code: 'custom', path: ['path'], message });
    }),
  );

/** The `discovery` section of one file. */
export const discoverySchema = z.strictObject({
  extends: optional(
    z.union([path, z.array(path)]),
    'Configuration files to build on. What this file says wins over them; of several, the later one wins.',
  ),
  enabled: settingsShape.enabled,
  cache: settingsShape.cache,
  sources: optional(z.array(sourceSchema), 'Files of other programs to take servers from.'),
  servers: optional(z.array(consistentServerSchema), 'The MCP servers behind the gateway.'),
  toolRules: optional(
    z.array(ruleSchema),
    'Which tools are on, off or tagged. The first matching rule with `enabled` decides; tags add up.',
  ),
  rulePrecedence: settingsShape.rulePrecedence,
  approval: settingsShape.approval,
  profiles: settingsShape.profiles,
  pinned: settingsShape.pinned,
  search: settingsShape.search,
  registries: settingsShape.registries,
  validation: settingsShape.validation,
  limits: settingsShape.limits,
  retry: settingsShape.retry,
  audit: settingsShape.audit,
  log: settingsShape.log,
  cluster: settingsShape.cluster,
  auth: settingsShape.auth,
});

/** A `discovery` section that passed the schema, with defaults. */
export type DiscoverySection = z.output<typeof discoverySchema>;

/** One entry of `sources` that passed the schema. */
export type SourceEntry = z.output<typeof sourceSchema>;
