/**
 * Builds the gateway's command line or address for a client, from the options of `install`.
 * @module
 */
import { delimiter, isAbsolute } from 'node:path';
import { expandPath, isInside } from '../../config/paths.ts';
import type { Reference } from '../../config/references.ts';
import { folderNamed, type World } from '../../config/world.ts';
import { ConfigurationError } from '../../core/errors.ts';
import { words } from '../importers/adapters.ts';
import type { Client } from '../importers/clients.ts';
import type { VariableStyle } from '../importers/dialect.ts';
import { GATEWAY_MARK } from '../importers/ourselves.ts';
import type { Gateway } from './installation.ts';

/** Options for the gateway's entry. */
export interface GatewayOptions {
  /** A command line of the user's choice. */
  readonly command?: string | undefined;
  /** Our own program on this machine: its absolute path and arguments. */
  readonly local?: readonly [string, ...string[]] | undefined;
  /** Installs that program; called before a client's file names it. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** The address of a running gateway. */
  readonly url?: string | undefined;
  /** The configuration of the gateway. */
  readonly config?: string | undefined;
}

/**
 * Returns the gateway for one client.
 * @param references variables that servers behind the gateway refer to, which the client must pass on
 */
export function gatewayFor(
  client: Pick<Client, 'dialect' | 'install'>,
  options: GatewayOptions,
  references: readonly Reference[],
  world: World,
): Gateway {
  const { url } = options;
  if (url !== undefined) {
    if (!/^https?:/i.test(url) || !URL.canParse(url))
      throw new ConfigurationError(`${JSON.stringify(url.slice(0, 200))} is not an http or https URL.`);
    // For clients that can only start programs, our own program connects to the address.
    const { local } = options;
    return { type: 'http', url, ...(local && { bridge: [...local, '--url', url] }) };
  }
  const { shortPath = false } = client.install;
  const [command, args] = commandLine(options);
  const written = references.map(
    (reference) => [reference.name, referenceText(client.dialect.variables, reference)] as const,
  );
  return {
    type: 'stdio',
    command,
    args,
    env: {
      [GATEWAY_MARK]: '1',
      ...placesOf(options, world),
      ...(shortPath && world.platform !== 'win32' && pathOf(world)),
      ...Object.fromEntries(written.filter(([, text]) => text !== undefined)),
    },
    inherit: written.filter(([, text]) => text === undefined).map(([name]) => name),
  };
}

function commandLine(options: GatewayOptions): readonly [string, readonly string[]] {
  const [own, ...rest] = options.command === undefined ? (options.local ?? []) : words(options.command);
  if (options.command !== undefined && own === undefined) throw new ConfigurationError('The command is empty.');
  if (own === undefined) throw notBuilt();
  return [own, rest];
}

/** No program was built that an entry could name. */
export const notBuilt = (): ConfigurationError =>
  new ConfigurationError(
    'This copy of the program has not been built yet (npm run build), so no client can start it. Build it, or use --command or --url.',
  );

/**
 * Returns the folders of `PATH`, without those that npm adds at run time and those of the current project, because the
 * entry also applies outside that project.
 */
const foldersOf = ({ env, cwd, home }: World): readonly string[] => [
  ...new Set(
    (env.PATH ?? '')
      .split(delimiter)
      .filter((folder) => isAbsolute(folder) && !folder.includes('node_modules'))
      .filter((folder) => !isInside(folder, cwd) || isInside(home, cwd)),
  ),
];

/** Programs behind the gateway are found in the same folders as in the user's terminal. */
function pathOf(world: World): { readonly PATH?: string } {
  const folders = foldersOf(world);
  return folders.length === 0 ? {} : { PATH: folders.join(delimiter) };
}

/** Passes on the variables that are set in the terminal, because the client does not see them. */
function placesOf({ config }: GatewayOptions, world: World): Readonly<Record<string, string>> {
  // A relative path in the environment is ignored by every command, and must not become absolute here.
  const home = folderNamed('ANYGPT_HOME', world);
  const file =
    config === undefined ? folderNamed('ANYGPT_CONFIG', world) : expandPath(config, world.cwd, world, '--config');
  return {
    ...(file !== undefined && { ANYGPT_CONFIG: file }),
    ...(home !== undefined && { ANYGPT_HOME: home }),
  };
}

/** Returns a client's reference to a variable; undefined if it has none. */
function referenceText(style: VariableStyle, { name, fallback }: Reference): string | undefined {
  const braces = fallback === undefined ? `\${${name}}` : `\${${name}:-${fallback}}`;
  const texts: Readonly<Record<VariableStyle, string | undefined>> = {
    literal: undefined,
    braces,
    dollar: braces,
    shell: braces,
    vscode: `\${env:${name}}`,
    opencode: `{env:${name}}`,
    continue: `\${{ secrets.${name} }}`,
  };
  return texts[style];
}
