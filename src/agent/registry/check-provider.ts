/**
 * Checks that a value is a provider, and classifies what a provider throws.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';
import { thrownAs } from '../../text/thrown-message.ts';

/**
 * Key of a nested registry's or engine's tools without those of the request. The outer one adds the request's tools
 * itself.
 */
export const OWN_TOOLS = Symbol('own tools');

/**
 * Tells whether a provider has no tool of that name. A tool that fails because another tool is missing does not count.
 */
export const isNotFound = (thrown: unknown, name: string): boolean => {
  const error = thrownAs<Error & { readonly code?: unknown; readonly tool?: unknown }>(Error, thrown);
  return error?.code === 'TOOL_NOT_FOUND' && (error.tool === undefined || error.tool === name);
};

const METHODS = ['listToolMetadata', 'getTool', 'callTool'] as const;

/** Throws `ValidationError` if methods are missing. */
export function checkProvider(provider: unknown): asserts provider is ToolProvider {
  const missing = METHODS.filter(
    (method) => typeof (provider as Partial<ToolProvider> | null | undefined)?.[method] !== 'function',
  );
  if (missing.length > 0)
    throw new ValidationError(`A ToolProvider needs three methods; this one lacks ${missing.join(', ')}`);
}
