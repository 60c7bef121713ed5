/**
 * Finds what is wrong with a request that the SDK would drop silently, or refuse without saying where. The SDK answers
 * only what fits its schema of a JSON-RPC request.
 * @module
 */

import { META, MODERN_VERSION } from '../connections/handshake.ts';
import { INVALID_PARAMS, INVALID_REQUEST, type JsonRpcMessage } from '../connections/json-rpc.ts';
import type { LineFault } from '../connections/line-reader.ts';
import { LIMITS } from '../core/limits.ts';
import { NAMES_SHARE } from '../json/json-survey.ts';
import { isObject } from '../json/plain-object.ts';

/** Why a request cannot be served. */
interface RequestFault {
  readonly code: number;
  readonly message: string;
}

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Tells whether a key of `_meta` is the client's own: it means nothing to the gateway and the SDK. */
export const isClientsOwn = (key: string): boolean =>
  !(key.includes('modelcontextprotocol') || key === 'progressToken');

/** Why a message was not even parsed. */
export function unreadRequest(why: LineFault, maxBytes: number, maxValues: number): string {
  if (why === 'too-long') return `a message may have at most ${maxBytes} bytes`;
  if (why === 'too-deep') return `this message cannot be read: it is nested more than ${LIMITS.json.depth} levels deep`;
  return `a message may have at most ${maxValues} values, and one object at most ${Math.ceil(maxValues / NAMES_SHARE)} names`;
}

/** The first fault of a request, if any. */
export function requestFault(message: JsonRpcMessage): RequestFault | undefined {
  if ('result' in message || 'error' in message) return { code: INVALID_REQUEST, message: 'a request has no result' };
  const { params } = message;
  if (params === undefined) return undefined;
  const fault = (what: string): RequestFault => ({ code: INVALID_PARAMS, message: what });
  if (!isObject(params)) return fault('params must be an object');
  const { _meta: meta } = params;
  if (meta === undefined) return undefined;
  if (!isObject(meta)) return fault('params._meta must be an object');
  const { progressToken: token, [RELATED_TASK]: task } = meta;
  if (token !== undefined && typeof token !== 'string' && !Number.isSafeInteger(token))
    return fault('params._meta.progressToken must be a string or a whole number');
  if (task !== undefined && !(isObject(task) && typeof task.taskId === 'string'))
    return fault(`params._meta["${RELATED_TASK}"] must hold a taskId`);
  const wrong = meta[META.protocolVersion] === undefined ? undefined : envelopeFault(meta);
  return wrong === undefined ? undefined : fault(`params._meta["${wrong[0]}"] must be ${wrong[1]}`);
}

/** The invalid part of an envelope of protocol 2026-07-28. Other revisions are left to the SDK. */
function envelopeFault(meta: Readonly<Record<string, unknown>>): readonly [key: string, wanted: string] | undefined {
  const { [META.protocolVersion]: version, [META.clientInfo]: info, [META.clientCapabilities]: capabilities } = meta;
  if (typeof version !== 'string') return [META.protocolVersion, 'a string'];
  if (version !== MODERN_VERSION) return undefined;
  if (info !== undefined && !(isObject(info) && typeof info.name === 'string' && typeof info.version === 'string'))
    return [META.clientInfo, 'an object with name and version'];
  return isObject(capabilities) ? undefined : [META.clientCapabilities, 'an object'];
}
