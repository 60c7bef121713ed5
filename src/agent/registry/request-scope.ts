/**
 * Gives one request its own providers, which follow its asynchronous work and are invisible to other requests.
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolProvider } from '../../core/tool-provider.ts';

const scope = new AsyncLocalStorage<readonly ToolProvider[]>();
const NONE: readonly ToolProvider[] = [];

/**
 * Runs `fn` with tools that only `fn`, and whatever it starts, can find and call. Nested scopes add up.
 * @example
 * createServer((request, response) => {
 *   const user = request.headers['x-user-id'];
 *   withRequestProviders(user ? [toolsOf(user)] : [], () => handler(request, response));
 * });
 */
export function withRequestProviders<T>(providers: ToolProvider | readonly ToolProvider[], fn: () => T): T {
  const added = isList(providers) ? providers : [providers];
  return scope.run([...requestProviders(), ...added], fn);
}

/** Runs `fn` outside of any request: shared state must not see the tools of one. */
export const outsideRequests = <T>(fn: () => T): T => scope.run(NONE, fn);

/** The providers of the current request, if any. */
export const requestProviders = (): readonly ToolProvider[] => scope.getStore() ?? NONE;

const isList = (value: ToolProvider | readonly ToolProvider[]): value is readonly ToolProvider[] =>
  Array.isArray(value);
