/**
 * Anything in, nothing out: throws for what is no provider.
 * @module
 */
import { ValidationError } from '../../core/errors.ts';
import type { ToolProvider } from '../../core/tool-provider.ts';

const METHODS = ['listToolMetadata', 'getTool', 'callTool'] as const;

/** Throws `ValidationError` where methods are missing. */
export function checkProvider(provider: unknown): asserts provider is ToolProvider {
  const missing = METHODS.filter(
    (method) => typeof (provider as Partial<ToolProvider> | null | undefined)?.[method] !== 'function',
  );
  if (missing.length > 0)
    throw new ValidationError(`A ToolProvider has three methods; this one lacks ${missing.join(', ')}`);
}
