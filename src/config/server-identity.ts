/**
 * Tells whether two connections reach the same server: same program or address, arguments, environment and headers.
 * @module
 */

/** A connection as people write it, or as it is after it was completed. */
export type AnyConnection =
  | {
      readonly command: string;
      readonly args?: readonly string[] | undefined;
      readonly cwd?: string | undefined;
      readonly env?: Readonly<Record<string, string>> | undefined;
      readonly inheritEnv?: readonly string[] | undefined;
    }
  | {
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly auth?: string | undefined;
    };

/** What is started or reached, and the variables or headers it is given, sorted. */
export interface Traits {
  readonly reached: string;
  readonly given: readonly (readonly [string, string])[];
}

/** A text that two connections share exactly when they reach the same server. */
export function identityOf(connection: AnyConnection): string {
  const { reached, given } = traitsOf(connection);
  return JSON.stringify([reached, given]);
}

export function traitsOf(connection: AnyConnection): Traits {
  if ('command' in connection) {
    const { command, args = [], cwd, env = {}, inheritEnv = [] } = connection;
    const inherited = inheritEnv
      .filter((name) => !Object.hasOwn(env, name))
      .map((name) => [name, `\${${name}}`] as const);
    return { reached: JSON.stringify([command, args, cwd]), given: sorted([...Object.entries(env), ...inherited]) };
  }
  const url = URL.canParse(connection.url) ? new URL(connection.url).href : connection.url;
  const headers = Object.entries(connection.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const token = connection.auth === undefined ? [] : [['authorization', connection.auth] as const];
  return { reached: url.replace(/\/$/, ''), given: sorted([...headers, ...token]) };
}

const sorted = (pairs: readonly (readonly [string, string])[]) =>
  pairs.toSorted(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1));
