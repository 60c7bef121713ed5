/**
 * Refuses a resource or a prompt that a caller of an exposed server may not use.
 * @module
 */
import { INVALID_PARAMS, JsonRpcError } from '../connections/json-rpc.ts';
import type { Caller, ItemRef } from '../core/types.ts';
import type { EngineCore } from '../engine/engine-core.ts';

/** Throws the protocol error that says why, and what a person has to type for an item that waits for approval. */
export async function requireItem(
  { items }: Pick<EngineCore, 'items'>,
  server: string,
  item: ItemRef,
  caller: Caller,
): Promise<void> {
  const refusal = await items.refusal(server, item, { caller });
  if (refusal) throw new JsonRpcError(INVALID_PARAMS, refusal.message, { code: refusal.code });
}
