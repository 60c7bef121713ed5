/**
 * Reads the resources and prompts of exposed servers. A refusal becomes a protocol error.
 * @module
 */
import { INTERNAL_ERROR, INVALID_PARAMS, JsonRpcError } from '../connections/json-rpc.ts';
import type { ErrorInfo } from '../core/errors.ts';
import { causeOf } from '../core/result.ts';
import type { Caller, ItemRef } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';

type Items = Pick<EngineCore, 'items'>;

/** Throws if the caller may not use an item. The error says what a person has to type if it waits for approval. */
export async function requireItem({ items }: Items, server: string, item: ItemRef, caller: Caller): Promise<void> {
  const refusal = await items.refusal(server, item, { caller });
  if (refusal) throw new JsonRpcError(INVALID_PARAMS, refusal.message, { code: refusal.code });
}

/** Reads a resource or gets a prompt through the whole pipeline. */
export async function readItem(
  { items }: Items,
  server: string,
  item: ItemRef,
  options: Parameters<EngineCore['items']['read']>[2],
): Promise<Readonly<Record<string, unknown>>> {
  const result = await items.read(server, item, options);
  if (result.success) return result.data;
  throwCause(result.error);
  const { code, message } = result.error;
  throw new JsonRpcError(code.startsWith('TOOL_') ? INVALID_PARAMS : INTERNAL_ERROR, message, { code });
}

/** Throws the server's own protocol error, if that is the cause. */
export function throwCause(error: ErrorInfo): void {
  const cause = causeOf(error);
  if (cause instanceof JsonRpcError) throw cause;
}
