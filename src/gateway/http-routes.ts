/**
 * Lists what is served over HTTP, as data: paths, methods, and whether a request must say who is asking. A request for
 * anything else is refused before any handler sees it.
 * @module
 */

/** What answers a request. */
type RouteName = 'mcp' | 'profile' | 'metadata' | 'health' | 'ready';

/** One line of the table. */
interface Route {
  readonly name: RouteName;
  /** May have a group `profile`. */
  readonly path: RegExp;
  /** A path that matches. */
  readonly example: string;
  readonly methods: readonly string[];
  /** Public routes say nothing about servers, tools or users. */
  readonly access: 'public' | 'authenticated';
}

const METADATA = '/.well-known/oauth-protected-resource';
const PROFILE = '(?<profile>[A-Za-z0-9][\\w.-]{0,63})';
const CALLS = ['GET', 'POST', 'DELETE'];
const READS = ['GET', 'HEAD'];

/** Every route. `/mcp` also ends with a slash, because clients add one. */
export const ROUTES: readonly Route[] = [
  { name: 'mcp', path: /^\/mcp\/?$/, example: '/mcp', methods: CALLS, access: 'authenticated' },
  {
    name: 'profile',
    path: new RegExp(`^/mcp/p/${PROFILE}/?$`),
    example: '/mcp/p/team',
    methods: CALLS,
    access: 'authenticated',
  },
  {
    // RFC 9728: at the root, and with the path of the resource behind it.
    name: 'metadata',
    path: new RegExp(`^${METADATA}(?:/mcp/?|/mcp/p/${PROFILE}/?)?$`),
    example: `${METADATA}/mcp`,
    methods: READS,
    access: 'public',
  },
  { name: 'health', path: /^\/healthz$/, example: '/healthz', methods: READS, access: 'public' },
  { name: 'ready', path: /^\/readyz$/, example: '/readyz', methods: READS, access: 'public' },
];

/** A route, and the profile that the path names. */
export interface Matched {
  readonly route: Route;
  readonly profile: string | undefined;
}

/** Finds the route of a path without its query. */
export function routeOf(path: string): Matched | undefined {
  for (const route of ROUTES) {
    const match = route.path.exec(path);
    if (match) return { route, profile: match.groups?.profile };
  }
  return undefined;
}

/** Where the metadata of a resource are (RFC 9728). */
export const metadataPath = (path: string): string => `${METADATA}${path}`;
