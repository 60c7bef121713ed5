/**
 * Logs in to one server at the terminal, and reads its tools with the new login.
 * @module
 */
import { DiscoveryError, type ErrorInfo } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { oneLine } from '../text/plain-text.ts';
import { loginScreen } from './login-screen.ts';
import type { Session } from './session.ts';

/** What became of a login. */
export interface LoggedIn {
  readonly name: string;
  readonly status: 'logged-in' | 'failed';
  /** Where the key is kept that encrypts the tokens. */
  readonly key?: 'keychain' | 'file' | 'cluster';
  readonly tools?: number;
  readonly error?: ErrorInfo;
}

interface LoginWish {
  readonly usesBrowser: boolean;
  readonly scopes?: readonly string[] | undefined;
  /** The user of the gateway whose login it is. */
  readonly principal?: string | undefined;
}

/** Logs in, tells running gateways, and reads the list of tools. What a server does wrong is part of the result. */
export async function logInTo(
  session: Session,
  name: string,
  { usesBrowser, scopes, principal }: LoginWish,
): Promise<LoggedIn> {
  const { engine } = session;
  const screen = loginScreen(session, name, usesBrowser);
  try {
    const key = await engine.connections.logIn(name, screen, { scopes, principal });
    const { touchReloadStamp } = await import('../engine/watch-config.ts');
    touchReloadStamp((await engine.getConfig()).home);
    const caller = principal === undefined ? undefined : { principal };
    const failed = caller
      ? await engine.readLists({ servers: [name], again: true, caller })
      : await session.lists([name], true);
    const error = failed.get(name);
    if (error) return { name, status: 'failed', key, error };
    const tools = await engine.toolsOf(name, { includeDisabled: true, caller });
    const { unapprovedCount = 0 } = (await engine.listServers({ caller })).find((server) => server.name === name) ?? {};
    return { name, status: 'logged-in', key, ...(tools.success && { tools: tools.data.length + unapprovedCount }) };
  } catch (error) {
    if (!(error instanceof DiscoveryError)) throw error;
    return { name, status: 'failed', error: error.toInfo() };
  } finally {
    screen[Symbol.dispose]();
  }
}

/**
 * Offers a login to a person whose call needs one. Resolves with whether the call may be made again: it was not sent,
 * and the person has logged in.
 */
export async function offerLogin(session: Session, error: ErrorInfo): Promise<boolean> {
  const { io, json } = session;
  const { code, message, server, outcome } = error;
  if (code !== 'SERVER_AUTH_REQUIRED' || outcome !== 'not_sent' || !message.includes('anygpt mcp login')) return false;
  if (server === undefined || json || !io.stdin.isTTY || !io.stderr.isTTY) return false;
  const { isYes } = await import('./ask.ts');
  if (!(await isYes(io, `${oneLine(server, LIMITS.names.shown)} wants a login. Log in now? [y/N] `))) return false;
  const done = await logInTo(session, server, { usesBrowser: true });
  if (done.error) session.note(done.error.message);
  return done.status === 'logged-in';
}
