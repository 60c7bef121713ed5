/**
 * The `discovery` section as people write it. The author type and the reference page both come from here.
 * @module
 */
import * as z from 'zod/v4';
import { SOURCE_TYPES, type SourceType } from './importers/clients.ts';
import { serverSchema } from './server-schema.ts';
import { pathText, settingsShape } from './settings-schema.ts';

function pathProblem(type: SourceType, path: string | undefined): string | undefined {
  if (type === 'auto') return path === undefined ? undefined : 'does not belong here; `auto` finds the files itself';
  if (path !== undefined || (type !== 'custom' && type !== 'mcpb')) return undefined;
  return `is missing; a ${type} source needs the path of its file`;
}

const sourceSchema = z
  .strictObject({
    type: z
      .enum(SOURCE_TYPES)
      .describe(
        'Whose file it is. `auto`: those of every client found. `custom`: a file with `servers` or `mcpServers`. `mcpb`: a bundle.',
      ),
    path: pathText('The file. Needed for `custom` and `mcpb`; the others know their usual places.').optional(),
    enabled: z.boolean().optional().describe('`false`: do not read it. Default `true`.'),
  })
  .superRefine((source, context) => {
    const message = pathProblem(source.type, source.path);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['path'], message });
  });

const ruleSchema = z.strictObject({
  pattern: z
    .array(z.string().min(1).max(10_000))
    .max(1_000)
    .describe('Globs, or `/regular expressions/`, on tool names; `!` in front excludes.'),
  server: z.string().min(1).optional().describe('Only tools of servers whose name matches this glob.'),
  enabled: z
    .boolean()
    .optional()
    .describe('Switch the matching tools on or off. One `true` anywhere: all others are off.'),
  tags: z.array(z.string().min(1)).optional().describe('Tags for the matching tools.'),
});

const extendsSchema = z
  .union([pathText('A file to build on.'), z.array(pathText('A file to build on.'))])
  .describe('Configuration files to build on. What this file says wins over them; of several, the later one wins.');

/** The `discovery` section of one file. */
export const discoverySchema = z.strictObject({
  extends: extendsSchema.optional(),
  enabled: settingsShape.enabled,
  cache: settingsShape.cache,
  sources: z.array(sourceSchema).optional().describe('Files of other programs to take servers from.'),
  servers: z.array(serverSchema).optional().describe('The MCP servers behind the gateway.'),
  toolRules: z
    .array(ruleSchema)
    .optional()
    .describe('Which tools are on, off or tagged. The first matching rule with `enabled` decides; tags add up.'),
  rulePrecedence: settingsShape.rulePrecedence,
  search: settingsShape.search,
  validation: settingsShape.validation,
  limits: settingsShape.limits,
  retry: settingsShape.retry,
  audit: settingsShape.audit,
  log: settingsShape.log,
});

/** The `discovery` section that passed the schema, with defaults. */
export type DiscoverySection = z.output<typeof discoverySchema>;

/** The `discovery` section as an author writes it. */
export type DiscoveryInput = z.input<typeof discoverySchema>;

/** One entry of `sources` that passed the schema. */
export type SourceEntry = z.output<typeof sourceSchema>;
