/**
 * `anygpt mcp login` and `anygpt mcp logout`: log in to remote servers, and out again.
 * @module
 */
import { principalOf } from '../../core/principal-name.ts';
import type { Command, Values } from '../command.ts';
import { exitCodeOf } from '../exit-code.ts';
import { forTerminal } from '../failure.ts';
import { EXIT, type Io } from '../io.ts';
import type { LoggedIn } from '../log-in.ts';
import { exactly } from '../positionals.ts';
import { ENGINE_HELP, ENGINE_OPTIONS, type Session, withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';

export const login: Command = {
  usage: `Usage: anygpt mcp login <server> [options]
       anygpt mcp login --all [options]

Logs in to a remote server with OAuth. The browser opens, and the tokens are
kept encrypted in your state folder. Running gateways use them at once.

Options:
  --all              Log in to all servers that want a login, one by one
  --no-browser       Print the address to open; paste the address of the last
                     page if this computer cannot show it. Where the server
                     offers it, log in with a code on another device
  --scope SCOPES     Ask for these scopes, separated by spaces
  --as USER          Log in for this user of the gateway: the id of a token, or
                     "ISSUER SUBJECT". The entry of the server has to say
                     "credentials": "user"
${ENGINE_HELP}

Examples:
  anygpt mcp login notion
  anygpt mcp login --all
  anygpt mcp login linear --no-browser
  anygpt mcp login github --scope "repo read:org"

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error, 3 login failed`,
  options: {
    ...ENGINE_OPTIONS,
    all: { type: 'boolean' },
    'no-browser': { type: 'boolean' },
    scope: { type: 'string' },
    as: { type: 'string' },
  },
  async run(values, positionals, io) {
    if (values.all && positionals.length > 0) throw new UsageError('--all cannot be combined with a server');
    if (values.all && values.as !== undefined) throw new UsageError('--all cannot be combined with --as');
    const [named] = values.all ? [] : exactly(positionals, '<server>');
    const wish = {
      usesBrowser: values['no-browser'] !== true,
      principal: values.as === undefined ? undefined : principalOf(String(values.as)),
      scopes:
        values.scope === undefined
          ? undefined
          : String(values.scope)
              .split(/[\s,]+/)
              .filter(Boolean),
    };
    return withSession(values, io, async (session) => {
      const { logInTo } = await import('../log-in.ts');
      if (values.as !== undefined) await checkUser(session, String(values.as));
      const names = named === undefined ? await wanting(session) : [named];
      const servers: LoggedIn[] = [];
      for (const name of names) {
        const done = await logInTo(session, name, wish);
        servers.push(done);
        if (!session.json) session.print(outcomeText(done, session));
      }
      if (session.json) session.printJson({ servers });
      else if (names.length === 0) session.print('No server wants a login.');
      if (servers.some(({ key }) => key === 'file')) session.note(KEY_IN_FILE);
      const failed = servers.find(({ error }) => error !== undefined);
      return failed?.error ? exitCodeOf(failed.error.code) : EXIT.ok;
    });
  },
};

/** Refuses the name of a token: its user would never have the login. Says if no token has that id. */
async function checkUser(session: Session, as: string): Promise<void> {
  if (principalOf(as).includes('\0')) return;
  const { StaticTokens } = await import('../../auth/static-tokens.ts');
  const tokens = new StaticTokens((await session.engine.getConfig()).home).list();
  if (tokens.some(({ id }) => id === as)) return;
  const named = tokens.find(({ name }) => name === as);
  if (named) throw new UsageError(`"${as}" is the name of a token; its user is written as its id: --as ${named.id}`);
  if (tokens.length > 0) session.note(`No token has the id "${forTerminal(as)}". "anygpt mcp token list" shows all.`);
}

const KEY_IN_FILE =
  'No keychain of this computer can be used, so the key of the tokens is in the file logins/key of your state folder, readable by you alone.';

/** The servers that refuse us without a login. Says of which it is not known. */
async function wanting(session: Session): Promise<string[]> {
  const failed = await session.lists(undefined, true);
  return [...failed].flatMap(([name, { code, message }]) => {
    if (code === 'SERVER_AUTH_REQUIRED') return [name];
    session.note(forTerminal(message));
    return [];
  });
}

function outcomeText({ name, tools, error }: LoggedIn, { paint, block }: Session): string {
  if (error) return block(`${paint('red', '✗')} ${forTerminal(error.message)}`);
  const count = tools === undefined ? '' : `: ${tools} ${tools === 1 ? 'tool' : 'tools'}`;
  return `${paint('green', '✓')} Logged in to ${name}${count}`;
}

export const logout: Command = {
  usage: `Usage: anygpt mcp logout <server> [options]

Logs out of a remote server: revokes the tokens where the server's identity
provider can do that, and removes them. Running gateways forget them, too.

Options:
  --as USER          Log out this user of the gateway
${ENGINE_HELP}

Examples:
  anygpt mcp logout notion

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error, 3 cannot write`,
  options: { ...ENGINE_OPTIONS, as: { type: 'string' } },
  run: (values: Values, positionals: readonly string[], io: Io) => {
    const [name = ''] = exactly(positionals, '<server>');
    return withSession(values, io, async (session) => {
      const { engine } = session;
      const { wasLoggedIn, problem } = await engine.connections.logOut(
        name,
        values.as === undefined ? undefined : principalOf(String(values.as)),
      );
      const { touchReloadStamp } = await import('../../engine/watch-config.ts');
      touchReloadStamp((await engine.getConfig()).home);
      const status = wasLoggedIn ? 'logged-out' : 'not-logged-in';
      if (session.json) session.printJson({ name, status, ...(problem !== undefined && { problem }) });
      else {
        session.print(wasLoggedIn ? `✓ Logged out of ${name}` : `There was no login to ${name}.`);
        if (problem !== undefined)
          session.note(`The tokens were removed here, but ${problem}. They may stay valid until they expire.`);
      }
      return EXIT.ok;
    });
  },
};
