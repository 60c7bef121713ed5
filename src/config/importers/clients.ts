/**
 * The table of programs whose servers can be imported. A new client is a row in one of its two parts and a fixture in
 * test/fixtures/clients.
 * @module
 */
import type { Client } from './client.ts';
import { DESKTOP_CLIENTS } from './desktop-clients.ts';
import { TERMINAL_CLIENTS } from './terminal-clients.ts';

export type { Client } from './client.ts';

/** Every client by its source type. `auto` reads them in this order, so the earlier one names a server both have. */
const CLIENTS = { ...DESKTOP_CLIENTS, ...TERMINAL_CLIENTS };

/** The source type of a client. */
export type ClientType = keyof typeof CLIENTS;

/** The source types of all clients, in the order of the table. */
export const CLIENT_TYPES = Object.keys(CLIENTS) as readonly ClientType[] as readonly [ClientType, ...ClientType[]];

/** The row of a client. */
export const clientOf = (type: ClientType): Client => CLIENTS[type];

/** Every source type a configuration may name. */
export const SOURCE_TYPES = ['auto', 'custom', 'mcpb', ...CLIENT_TYPES] as const;

/** One of the source types. */
export type SourceType = (typeof SOURCE_TYPES)[number];
