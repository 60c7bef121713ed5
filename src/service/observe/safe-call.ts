/**
 * Infers the output schema of a tool by one call. Only a tool that is read-only is called: by the operator's word, which
 * is a rule with the tag `read-only`, or by the hint of a server that the operator trusts. The call goes through the
 * whole pipeline: rules, validation, limits, audit log.
 * @module
 */
import { generateExample } from '../../catalog/example.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { LIMITS } from '../../core/limits.ts';
import type { JsonSchema } from '../../core/types.ts';
import type { EngineCore } from '../../engine/engine-core.ts';
import type { DiscoverySource } from '../discover-server.ts';
import type { CapabilityManifest } from '../manifest.ts';

/** The tag with which a rule says that a tool only reads. */
const READ_ONLY = 'read-only';

/** Calls the tool once and returns the schema of what came back. Throws why it was not called, or what went wrong. */
export async function schemaByCall(
  { provider: { server, toolName: tool }, inputSchema }: CapabilityManifest,
  { definition, state }: DiscoverySource,
  core: EngineCore,
): Promise<JsonSchema> {
  const where = { server, tool };
  const refuse = (why: string): never => {
    throw new DiscoveryError('VALIDATION_ERROR', `${server}:${tool} was not called: ${why}.`, where);
  };
  await state.catalog.load(server);
  const listed = state.catalog.definition(server, tool);
  if (listed === undefined) return refuse('it is not in the list of its server');
  const { readOnlyHint, destructiveHint } = listed.annotations ?? {};
  const isHinted = definition.trusted && readOnlyHint === true && destructiveHint !== true;
  if (!isHinted && !state.rules.decide(server, tool, undefined, listed).tags.includes(READ_ONLY))
    return refuse(`no rule tags it "${READ_ONLY}", and no trusted server says so`);
  const args = safeArguments(inputSchema) ?? refuse('no arguments could be made from its schema');
  const result = await core.call({ ...where, arguments: args, timeout: LIMITS.time.safeCall });
  if (!result.success) throw new DiscoveryError(result.error.code, result.error.message, result.error);
  const schema = result.data.isError ? undefined : await core.runtime.outputs.observe(listed, result.data);
  if (schema === undefined)
    throw new DiscoveryError('TOOL_EXECUTION_ERROR', `${server}:${tool} returned nothing to infer a type from.`, where);
  return schema;
}

/** Nothing where nothing is required, else values from the schema. */
function safeArguments(schema: JsonSchema): Readonly<Record<string, unknown>> | undefined {
  const { required } = schema;
  return Array.isArray(required) && required.length > 0 ? generateExample(schema)?.parameters : {};
}
