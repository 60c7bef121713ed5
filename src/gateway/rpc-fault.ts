/**
 * Writes a JSON-RPC error for a request that is not handed to any server.
 * @module
 */
import { isObject } from '../json/plain-object.ts';

/** The error, with the id of the request if that is known. */
export const rpcFault = (code: number, message: string, request?: unknown) => {
  const id = isObject(request) && ['string', 'number'].includes(typeof request.id) ? request.id : null;
  return { jsonrpc: '2.0', id, error: { code, message } };
};
