/**
 * `anygpt mcp token`: creates, lists and revokes the tokens that let clients in over HTTP.
 * @module
 */

import { wallNow } from '../../async/clock.ts';
import { type StaticToken, StaticTokens } from '../../auth/static-tokens.ts';
import type { ResolvedConfig } from '../../config/resolved-config.ts';
import { realWorld, stateFolder } from '../../config/world.ts';
import { LIMITS } from '../../core/limits.ts';
import { plainText } from '../../text/plain-text.ts';
import { messageOf } from '../../text/thrown-message.ts';
import type { Command, Values } from '../command.ts';
import { complain } from '../failure.ts';
import { EXIT, type Io } from '../io.ts';
import { toJson } from '../json-document.ts';
import { columnsOf } from '../layout.ts';
import { exactly } from '../positionals.ts';
import { subcommandNamed } from '../subcommand.ts';
import { UsageError } from '../usage-error.ts';
import { toFutureTime } from '../written-times.ts';

/** Makes the tokens of this state folder and of all replicas the same. Resolves with what is wrong. */
type Sync = () => Promise<string | undefined>;

interface TokenWork {
  readonly tokens: StaticTokens;
  readonly sync: Sync;
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly io: Io;
}
type Run = (work: TokenWork) => Promise<number>;

const SUBCOMMANDS: Readonly<Record<string, Run>> = { create, list, revoke };

export const token: Command = {
  usage: `Usage: anygpt mcp token <subcommand> [options]

Manages the tokens that let clients in over HTTP (anygpt mcp serve --http). As
soon as there is one, all gateways of this state folder that serve HTTP ask for
a token. Only hashes are kept. Running gateways notice changes at once, and
with "cluster" or ANYGPT_REDIS_URL those on all machines do.

Subcommands:
  create   Create a token. It is shown once
  list     List all tokens: id, name, profile, and when they expire
  revoke   Revoke the token with an id, or all tokens with a name

Options:
  --name NAME        With create: whom or what it is for
  --expires TIME     With create: 12h, 30d, 1y or a date (default: 90d)
  --profile NAME     With create: the only profile that the token may use
  --config FILE      Use the "cluster" of this configuration file
  --json             Print one JSON document and nothing else on stdout

Examples:
  anygpt mcp token create --name ci --expires 30d
  anygpt mcp token list
  anygpt mcp token revoke ci

Exit codes: 0 success, 1 invalid arguments, 2 no such token or configuration
error, 3 cannot write, or not to Redis`,
  options: {
    name: { type: 'string' },
    expires: { type: 'string' },
    profile: { type: 'string' },
    config: { type: 'string' },
    json: { type: 'boolean' },
  },
  async run(values, [name, ...positionals], io) {
    const run = subcommandNamed('token', SUBCOMMANDS, name);
    const given = ['name', 'expires', 'profile'].find((option) => values[option] !== undefined);
    if (given !== undefined && name !== 'create') throw new UsageError(`--${given} needs token create`);
    const tokens = new StaticTokens(stateFolder(realWorld({ env: io.env, cwd: io.cwd })));
    return withReplicas(tokens, values, io, (sync) => run({ tokens, sync, values, positionals, io }));
  },
};

/** Runs work on tokens that replicas share, if the configuration or the environment names Redis. */
async function withReplicas(
  tokens: StaticTokens,
  values: Values,
  io: Io,
  work: (sync: Sync) => Promise<number>,
): Promise<number> {
  const config = await configOf(values, io);
  if (!config && !io.env.ANYGPT_REDIS_URL)
    complain(
      io,
      'The configuration cannot be read. If it has "cluster", other replicas are not told. See "anygpt mcp config validate".',
      EXIT.ok,
    );
  if (!config?.cluster && !io.env.ANYGPT_REDIS_URL) return work(async () => undefined);
  const { EngineCore } = await import('../../engine/engine-core.ts');
  const { syncTokens } = await import('../../auth/shared-tokens.ts');
  const { env, cwd } = io;
  const engine = new EngineCore({ file: values.config as string | undefined }, { env, cwd, background: false });
  try {
    return await work(async () => {
      try {
        await engine.getConfig();
        const place = engine.runtime.cluster.current?.tokens;
        if (place) await syncTokens(tokens, place);
        return undefined;
      } catch (error) {
        return messageOf(error);
      }
    });
  } finally {
    await engine.close();
  }
}

/** The configuration; undefined if it cannot be read. Rejects if that is the file of `--config`. */
async function configOf({ config: file }: Values, { env, cwd }: Io): Promise<ResolvedConfig | undefined> {
  const { ConfigurationLoader } = await import('../../config/configuration-loader.ts');
  return new ConfigurationLoader({ env, cwd }).load(file as string | undefined).catch((error: unknown) => {
    if (file !== undefined) throw error;
    return undefined;
  });
}

/** Says that other replicas were not told. */
const complainUntold = (io: Io, problem: string, consequence: string): number =>
  complain(
    io,
    `${problem} ${consequence} They are told by the gateways of this state folder, or the next time you use "anygpt mcp token", once Redis answers.`,
    EXIT.failed,
  );

async function create({ tokens, sync, values, positionals, io }: TokenWork): Promise<number> {
  const [first] = positionals;
  if (first !== undefined) throw new UsageError(`unexpected argument "${first}"; a name is given as --name ${first}`);
  const now = wallNow();
  const expiresAt =
    values.expires === undefined
      ? now + LIMITS.age.staticToken
      : toFutureTime(String(values.expires), '--expires', now);
  const [name, profile] = [nameIn(values, 'name'), nameIn(values, 'profile')];
  await sync();
  const isFirst = !tokens.exist;
  const created = await tokens.create({
    ...(name !== undefined && { name }),
    ...(profile !== undefined && { profile }),
    expiresAt,
  });
  if (values.json) io.stdout.write(toJson({ token: created.text, ...documentOf(created.token) }));
  else {
    io.stdout.write(`${created.text}\n`);
    const { id } = created.token;
    io.stderr.write(
      `Token ${id} is valid until ${dateOf(expiresAt)}. It is not shown again.\nSend it as: Authorization: Bearer <token>\n`,
    );
    if (isFirst) io.stderr.write('From now on, gateways of this state folder that serve HTTP ask for a token.\n');
  }
  if (profile !== undefined && isMissing(profile, await configOf(values, io)))
    complain(
      io,
      `There is no profile "${profile}" in the configuration. Until there is, this token is refused.`,
      EXIT.ok,
    );
  const problem = await sync();
  return problem === undefined ? EXIT.ok : complainUntold(io, problem, 'Other replicas do not know the token yet.');
}

/** Whether the configuration, as far as it can be read here, lacks a profile. */
const isMissing = (profile: string, config: ResolvedConfig | undefined): boolean =>
  config !== undefined && !Object.hasOwn(config.profiles, profile);

async function list({ tokens, sync, values, positionals, io }: TokenWork): Promise<number> {
  exactly(positionals);
  const problem = await sync();
  const all = tokens.list();
  if (values.json) io.stdout.write(toJson({ tokens: all.map(documentOf) }));
  else if (all.length === 0) io.stdout.write('There are no tokens.\n');
  else {
    const rows = all.map((one) => rowOf(one, wallNow()));
    // A script reads rows.
    io.stdout.write(`${tableLines(io.stdout.isTTY ? [HEADER, ...rows] : rows).join('\n')}\n`);
  }
  if (problem !== undefined) complain(io, `${problem} These are the tokens of this state folder.`, EXIT.ok);
  return EXIT.ok;
}

async function revoke({ tokens, sync, values, positionals, io }: TokenWork): Promise<number> {
  const [which = ''] = exactly(positionals, '<id or name>');
  await sync();
  const revoked = await tokens.revoke(which);
  if (revoked.length === 0)
    return complain(io, `There is no token "${plainText(which)}". anygpt mcp token list shows all.`, EXIT.notFound);
  if (values.json) io.stdout.write(toJson({ revoked: revoked.map(documentOf) }));
  else io.stdout.write(`${revoked.map(({ id }) => `Revoked ${id}`).join('\n')}\n`);
  const problem = await sync();
  return problem === undefined ? EXIT.ok : complainUntold(io, problem, 'Other replicas may still accept it.');
}

function nameIn(values: Values, option: 'name' | 'profile'): string | undefined {
  const value = values[option];
  if (value === undefined) return undefined;
  const pattern = option === 'profile' ? /^[A-Za-z0-9][\w.-]{0,63}$/ : /^[\w.@:+/ -]{1,100}$/;
  if (pattern.test(String(value))) return String(value);
  throw new UsageError(`--${option} may hold letters, digits, "_", "." and "-"`);
}

const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 16).replace('T', ' ');

const HEADER = ['ID', 'NAME', 'PROFILE', 'EXPIRES (UTC)'];

const rowOf = ({ id, name, profile, expiresAt }: StaticToken, now: number): readonly string[] => [
  id,
  name === undefined ? '-' : plainText(name),
  profile === undefined ? '-' : plainText(profile),
  dateOf(expiresAt) + (expiresAt <= now ? ' (expired)' : ''),
];

/** Rows with columns of equal width. */
function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => columnsOf(row[at] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - columnsOf(cell)))
      .join('  ')
      .trimEnd(),
  );
}

const documentOf = ({ createdAt, expiresAt, ...rest }: StaticToken) => ({
  ...rest,
  created: new Date(createdAt).toISOString(),
  expires: new Date(expiresAt).toISOString(),
});
