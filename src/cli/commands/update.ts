/**
 * `anygpt mcp update --check`: compares the versions that the configuration pins with the latest ones. Changes nothing.
 * @module
 */

import { DiscoveryError } from '../../core/errors.ts';
import { addressWords } from '../../core/transport-parts.ts';
import type { ServerDefinition } from '../../core/types.ts';
import { compareVersions } from '../../mcp-registry/newer-version.ts';
import { latestNpmVersion, npmRegistryOf } from '../../mcp-registry/npm-version.ts';
import { compact } from '../../meta-tools/answers.ts';
import { oneLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { knownServer } from '../add/known-server.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { REGISTRY_HELP, REGISTRY_OPTIONS, type RegistrySession, withRegistries } from '../open-registries.ts';
import { UsageError } from '../usage-error.ts';

export const update: Command = {
  usage: `Usage: anygpt mcp update --check [server...] [options]

Compares the versions that your configuration pins with the latest ones: of
servers that were added from a registry, and of npm packages that npx starts.
Changes nothing and starts nothing. To take a newer version, remove the server
and add it again; the command is shown.

Options:
  --check            Required: versions are compared, never changed
${REGISTRY_HELP}

Examples:
  anygpt mcp update --check
  anygpt mcp update --check github --json

Exit codes: 0 all are the latest, 1 invalid arguments, 2 server not found or
configuration error, 3 a registry could not be asked, 4 newer versions exist`,
  options: { ...REGISTRY_OPTIONS, check: { type: 'boolean' } },
  async run(values, positionals, io) {
    if (!values.check) throw new UsageError('--check is missing; versions are compared, never changed');
    return withRegistries(values, io, async (session) => {
      const { servers } = await session.engine.getConfig();
      const wanted: readonly ServerDefinition[] =
        positionals.length === 0 ? servers : await Promise.all(positionals.map((name) => knownServer(session, name)));
      const checked: Checked[] = [];
      for (const server of wanted) {
        const pinned = pinnedIn(server);
        if (pinned !== undefined) checked.push(await check(server.name, pinned, session));
      }
      session.progress.clear();
      if (session.json) session.printJson({ servers: checked.map(compact) });
      else session.print(checked.length === 0 ? 'No server is pinned to a version.' : checked.map(line).join('\n'));
      if (checked.some(({ status }) => status === 'unknown')) return EXIT.failed;
      return checked.some(({ status }) => status !== 'latest') ? EXIT.refused : EXIT.ok;
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
  readonly status: 'latest' | 'newer' | 'deprecated' | 'gone' | 'unknown';
  readonly latest?: string | undefined;
  readonly message?: string | undefined;
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

function line({ name, from, of, version, status, latest = '', message }: Checked): string {
  const target = shellWord(`${from === 'npm' ? 'npm:' : ''}${of}@${latest}`);
  const again = `anygpt mcp remove ${shellWord(name)} && anygpt mcp add ${target} --name ${shellWord(name)}`;
  const said = {
    latest: `${version} is the latest`,
    newer: `${version} → ${latest}. To update: ${again}`,
    deprecated: `${version} is deprecated${message === undefined ? '' : `: ${message}`}`,
    gone: `${version}: ${of} no longer exists`,
    unknown: `${version}: ${message}`,
  }[status];
  return oneLine(`${name}: ${said}`, 2000);
}
