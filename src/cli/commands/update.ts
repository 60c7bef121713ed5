/**
 * `anygpt mcp update`: compares the versions that the configuration pins with the latest ones, and writes newer ones after
 * a yes. Starts nothing.
 * @module
 */

import { whileEditing } from '../../clients/installers/own-configuration.ts';
import { ownServer, type TextChange, withTexts } from '../../clients/installers/own-servers.ts';
import { realWorld } from '../../config/world.ts';
import { DiscoveryError } from '../../core/errors.ts';
import { addressWords } from '../../core/transport-parts.ts';
import type { ServerDefinition } from '../../core/types.ts';
import { compareVersions } from '../../mcp-registry/newer-version.ts';
import { latestNpmVersion, npmRegistryOf } from '../../mcp-registry/npm-version.ts';
import { compact } from '../../meta-tools/answers.ts';
import { oneLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { knownServer } from '../add/known-server.ts';
import { type EntryUpdate, newerPackage, newerServer } from '../add/newer-entry.ts';
import { isYes } from '../ask.ts';
import type { Command, Values } from '../command.ts';
import { EXIT } from '../io.ts';
import {
  hasCommand,
  REGISTRY_HELP,
  REGISTRY_OPTIONS,
  type RegistrySession,
  withRegistries,
} from '../open-registries.ts';

export const update: Command = {
  usage: `Usage: anygpt mcp update [server...] [options]

Compares the versions that your configuration pins with the latest ones: of
servers that were added from a registry, and of npm packages that npx starts.
Shows what would change, and writes the newer versions in place after your yes.
Answers, secrets and comments stay. Starts nothing. Where more than the version
may have changed, the command that adds the server anew is shown.

Options:
  --check            Compare only, and change nothing
  --yes, -y          Do not ask
  --dry-run          Show what would change, and write nothing
${REGISTRY_HELP}

Examples:
  anygpt mcp update --check
  anygpt mcp update github
  anygpt mcp update --yes --json

Exit codes: 0 all are the latest now, 1 invalid arguments, 2 server not found or
configuration error, 3 a registry could not be asked, 4 newer versions are left`,
  options: {
    ...REGISTRY_OPTIONS,
    check: { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
    'dry-run': { type: 'boolean' },
  },
  async run(values, positionals, io) {
    return withRegistries(values, io, async (session) => {
      const { servers } = await session.engine.getConfig();
      const wanted: readonly ServerDefinition[] =
        positionals.length === 0 ? servers : await Promise.all(positionals.map((name) => knownServer(session, name)));
      let checked: Checked[] = [];
      for (const server of wanted) {
        const pinned = pinnedIn(server);
        if (pinned !== undefined) checked.push(await check(server.name, pinned, session));
      }
      session.progress.clear();
      const print = () => {
        if (session.json) session.printJson({ servers: checked.map(({ plan: _plan, ...one }) => compact(one)) });
        else session.print(checked.length === 0 ? 'No server is pinned to a version.' : checked.map(line).join('\n'));
      };
      if (!values.check) {
        checked = await Promise.all(checked.map((one) => planned(one, values, session)));
        const isReady = checked.some(({ plan }) => plan !== undefined);
        if (!session.json) print();
        if (isReady && !values['dry-run'] && (await isConfirmed(values, session)))
          checked = await written(checked, values, session);
        if (session.json) print();
        else if (isReady) session.print(outcomeText(checked));
      } else print();
      if (checked.some(({ status }) => status === 'unknown')) return EXIT.failed;
      return checked.every(({ status }) => status === 'latest' || status === 'updated') ? EXIT.ok : EXIT.refused;
    });
  },
};

/** A pinned version, and the server or package it belongs to. */
interface Pinned {
  readonly from: 'registry' | 'npm';
  readonly of: string;
  readonly version: string;
}

interface Checked extends Pinned {
  readonly name: string;
  readonly status: 'latest' | 'newer' | 'updated' | 'deprecated' | 'gone' | 'unknown';
  readonly latest?: string | undefined;
  readonly message?: string | undefined;
  /** What the newer version changes in the entry; undefined if it cannot be written in place. */
  readonly plan?: readonly TextChange[] | undefined;
  /** The same as texts. */
  readonly changes?: readonly { readonly from: string; readonly to: string }[] | undefined;
  readonly warnings?: readonly string[] | undefined;
  /** Why it cannot be written in place. */
  readonly problem?: string | undefined;
}

/** Adds what a newer version would change. */
async function planned(checked: Checked, values: Values, session: RegistrySession): Promise<Checked> {
  const { name, from, of, version, latest, status } = checked;
  if (status !== 'newer' || latest === undefined) return checked;
  const { io, registries, offline, signal } = session;
  const world = realWorld({ env: io.env, cwd: io.cwd });
  const own = await ownServer(world, values.config as string | undefined, name);
  if (own === undefined) return { ...checked, problem: 'it is not written in your own configuration' };
  const newer = async (): Promise<EntryUpdate> => {
    if (from === 'npm') return newerPackage(own, `${of}@${version}`, `${of}@${latest}`);
    const before = await registries.show(of, { version, offline, signal }).catch(() => undefined);
    const { entry, isLocal: isLocalRegistry } = await registries.show(of, { offline, signal });
    const options = { hasCommand: hasCommand(io), isLocalRegistry };
    return newerServer(own, `${of}@${version}`, before?.entry.server, entry.server, options);
  };
  const update = await newer();
  if ('problem' in update) return { ...checked, problem: update.problem };
  const changes = update.changes.map(({ from: was, to }) => ({ from: was, to }));
  return { ...checked, plan: update.changes, changes, warnings: update.warnings };
}

async function isConfirmed(values: Values, { io, json }: RegistrySession): Promise<boolean> {
  if (values.yes) return true;
  return io.stdin.isTTY === true && !json && (await isYes(io, '\nWrite the newer versions? [y/N] '));
}

async function written(checked: readonly Checked[], values: Values, { io }: RegistrySession): Promise<Checked[]> {
  const world = realWorld({ env: io.env, cwd: io.cwd });
  const done: Checked[] = [];
  for (const one of checked) {
    if (one.plan === undefined) {
      done.push(one);
      continue;
    }
    const { name, plan } = one;
    const named = values.config as string | undefined;
    await whileEditing(world, named, async () => (await withTexts(world, named, name, plan)).write());
    done.push({ ...one, status: 'updated' });
  }
  return done;
}

function outcomeText(checked: readonly Checked[]): string {
  const names = checked.filter(({ status }) => status === 'updated').map(({ name, latest }) => `${name} to ${latest}`);
  return names.length > 0
    ? `\n✓ Updated ${names.join(', ')}`
    : '\nNothing was written. --yes writes it without a question.';
}

const PACKAGE = /^((?:@[\w.-]{1,214}\/)?[\w.-]{1,214})@(\d[\w.+-]{0,254})$/;

function pinnedIn({ registry, connection }: ServerDefinition): Pinned | undefined {
  const [, of, version] = /^([^@]+)@(.+)$/.exec(registry ?? '') ?? [];
  if (of !== undefined && version !== undefined) return { from: 'registry', of, version };
  const [command = '', ...args] = addressWords(connection);
  const [, name, pinned] = /(?:^|[\\/])npx(?:\.cmd)?$/.test(command)
    ? (PACKAGE.exec(args.find((word) => !word.startsWith('-')) ?? '') ?? [])
    : [];
  return name === undefined || pinned === undefined ? undefined : { from: 'npm', of: name, version: pinned };
}

async function check(name: string, pinned: Pinned, session: RegistrySession): Promise<Checked> {
  const { registries, offline, signal, onProgress, io } = session;
  const { from, of, version } = pinned;
  try {
    if (from === 'npm' && offline)
      return { name, ...pinned, status: 'unknown', message: 'npm cannot be asked offline' };
    const { latest, deprecated, message } =
      from === 'npm'
        ? { latest: await latestNpmVersion(of, npmRegistryOf(io.env), signal), deprecated: false, message: undefined }
        : await registries.show(of, { offline, signal, onProgress }).then(({ entry }) => ({
            latest: entry.server.version,
            deprecated: entry.status === 'deprecated',
            message: entry.message,
          }));
    const isNewer = compareVersions(latest, version) > 0;
    return { name, ...pinned, status: deprecated ? 'deprecated' : isNewer ? 'newer' : 'latest', latest, message };
  } catch (error) {
    if (!(error instanceof DiscoveryError) || signal.aborted) throw error;
    return { name, ...pinned, status: error.code === 'SERVER_NOT_FOUND' ? 'gone' : 'unknown', message: error.message };
  }
}

function line(checked: Checked): string {
  const { name, from, of, version, status, latest = '', message, changes, warnings = [], problem } = checked;
  const target = shellWord(`${from === 'npm' ? 'npm:' : ''}${of}@${latest}`);
  const again = `anygpt mcp remove ${shellWord(name)} && anygpt mcp add ${target} --name ${shellWord(name)}`;
  const said = {
    latest: `${version} is the latest`,
    newer: `${version} → ${latest}${changes ? '' : `. To update: ${again}`}${problem ? ` (${problem})` : ''}`,
    updated: `${version} → ${latest}`,
    deprecated: `${version} is deprecated${message === undefined ? '' : `: ${message}`}`,
    gone: `${version}: ${of} no longer exists`,
    unknown: `${version}: ${message}`,
  }[status];
  return [
    `${name}: ${said}`,
    ...(changes ?? []).map(({ from: was, to }) => `  ${was} → ${to}`),
    ...warnings.map((warning) => `  Warning: ${warning}`),
  ]
    .map((text) => /^ */.exec(text)?.[0] + oneLine(text, 2000))
    .join('\n');
}
