/**
 * Checks what is handed in as a provider, and reads what a provider throws.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';
import { thrownAs } from '../../text/thrown-message.ts';

/** A registry or an engine gives its own tools without those of the request, which the asking side adds itself. */
export const OWN_TOOLS = Symbol('own tools');

/** Whether a provider has no tool of that name. A tool that calls others may fail for want of one of those: that is not this. */
export const isNotFound = (thrown: unknown, name: string): boolean => {
  const error = thrownAs<Error & { readonly code?: unknown; readonly tool?: unknown }>(Error, thrown);
  return error?.code === 'TOOL_NOT_FOUND' && (error.tool === undefined || error.tool === name);
};

const METHODS = ['listToolMetadata', 'getTool', 'callTool'] as const;

/** Throws `ValidationError` where methods are missing. */
export function checkProvider(provider: unknown): asserts provider is ToolProvider {
  const missing = METHODS.filter(
    (method) => typeof (provider as Partial<ToolProvider> | null | undefined)?.[method] !== 'function',
  );
  if (missing.length > 0)
    throw new ValidationError(`A ToolProvider has three methods; this one lacks ${missing.join(', ')}`);
}
