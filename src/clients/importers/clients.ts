/**
 * Lists the programs whose servers can be imported. To add a client, add a row in one of the two parts, its name in
 * `source-types.ts` and in `list-clients.test.ts`, and a fixture in test/fixtures/clients. Then run `npm run
 * docs:config` and `npm run docs:cli`.
 * @module
 */
import type { Client } from './client.ts';
import { DESKTOP_CLIENTS } from './desktop-clients.ts';
import type { ClientType } from './source-types.ts';
import { TERMINAL_CLIENTS } from './terminal-clients.ts';

export type { Client } from './client.ts';
export { CLIENT_TYPES, type ClientType } from './source-types.ts';

const CLIENTS: Readonly<Record<ClientType, Client>> = { ...DESKTOP_CLIENTS, ...TERMINAL_CLIENTS };

export const clientOf = (type: ClientType): Client => CLIENTS[type];
