/**
 * Lists the ways in which a server of a registry can be used: its addresses, and the command lines of its packages. Pure:
 * starts, sends and looks up nothing.
 *
 * Packages are started by programs from the table below, whatever a registry says, and identifiers are checked, so that
 * none of them can be read as an option. Versions are always pinned.
 * @module
 */
import type {
  NamedInput,
  PostInstall,
  RegistryArgument,
  RegistryPackage,
  RegistryRemote,
  RegistryServer,
} from './registry-server.ts';

/**
 * A part of a command line: a fixed word, an argument that may have to be asked for, or the names of all environment
 * variables that have a value, each after an option.
 */
export type Word = string | RegistryArgument | { readonly variablesAfter: string };

/** A way to use a server. `resolve-way.ts` makes a configuration entry of it. */
export interface ConnectionWay {
  /** What to call it when one is chosen: `remote`, `npm`, `npm-2`. */
  readonly id: string;
  readonly kind: 'remote' | 'npm' | 'pypi' | 'oci' | 'nuget' | 'mcpb' | 'other';
  /** What the gateway connects with. */
  readonly transport: 'stdio' | 'http' | 'sse';
  /** A package with its version, or the address as the registry writes it. */
  readonly label: string;
  /** The address; of a local program that speaks HTTP, the address at which it listens. */
  readonly url?: string | undefined;
  /** Variables in the address. */
  readonly variables: readonly NamedInput[];
  readonly headers: readonly NamedInput[];
  /** The command line; empty without one. */
  readonly words: readonly Word[];
  readonly environment: readonly NamedInput[];
  /** A bundle that has to be downloaded and checked first. */
  readonly bundle?: { readonly url: string; readonly sha256: string } | undefined;
  /** The program that is needed, and whether this machine has it. */
  readonly runtime?: string | undefined;
  readonly isAvailable: boolean;
  /** Why it cannot be used at all. */
  readonly problem?: string | undefined;
  /** What a person should look at before saying yes. */
  readonly warnings: readonly string[];
  /** Shown, never run. */
  readonly postInstall: readonly PostInstall[];
}

export interface WaysOptions {
  /** Tells whether a program is on this machine. */
  readonly hasCommand: (command: string) => boolean;
  /** `remote`: no local code if it can be avoided (the default). `local`: packages first. */
  readonly prefer?: 'remote' | 'local' | undefined;
}

/** How packages of one kind are started. */
interface Launcher {
  /** The programs that can do it, best first. A hint of the registry can only choose among them. */
  readonly runtimes: readonly string[];
  readonly identifier: RegExp;
  /** The registry that the program uses anyway. */
  readonly usual: RegExp;
  words(runtime: string, source: PackageSource): Word[];
}

interface PackageSource extends RegistryPackage {
  /** A registry other than the usual one. */
  readonly from: string | undefined;
}

const NAME = '[A-Za-z0-9_][A-Za-z0-9._-]{0,213}';
const PINNED = /^[A-Za-z0-9][A-Za-z0-9.+_!-]{0,254}$/;
const FLOATING = /^(?:latest|next|beta|canary|stable|main|master|x|\*)$/i;
const SHA256 = /^[0-9a-f]{64}$/;

const LAUNCHERS: Readonly<Partial<Record<string, Launcher>>> = {
  npm: {
    runtimes: ['npx'],
    identifier: new RegExp(`^(?:@${NAME}/)?${NAME}$`),
    usual: /^https:\/\/(?:registry\.)?npmjs\.(?:org|com)\/?$/,
    words: (runtime, { from, identifier, version, runtimeArguments, packageArguments }) => [
      runtime,
      '-y',
      ...(from === undefined ? [] : ['--registry', from]),
      ...without(runtimeArguments, ['-y', '--yes']),
      `${identifier}@${version}`,
      ...packageArguments,
    ],
  },
  pypi: {
    runtimes: ['uvx'],
    identifier: new RegExp(`^${NAME}$`),
    usual: /^https:\/\/(?:(?:www|files)\.)?pypi(?:hosted)?\.(?:org|python\.org)\/?(?:simple\/?)?$/,
    words: (runtime, { from, identifier, version, runtimeArguments, packageArguments }) => [
      runtime,
      ...(from === undefined ? [] : ['--index-url', from]),
      ...runtimeArguments,
      `${identifier}==${version}`,
      ...packageArguments,
    ],
  },
  oci: {
    runtimes: ['docker', 'podman'],
    identifier:
      /^[A-Za-z0-9][A-Za-z0-9._:-]{0,254}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,254}){0,8}(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/,
    usual: /^https:\/\/(?:docker\.io|index\.docker\.io|hub\.docker\.com|registry-1\.docker\.io)\/?$/,
    // Only the names of variables stand on the command line; their values are in the environment of the program.
    words: (runtime, { identifier, runtimeArguments, packageArguments }) => [
      runtime,
      'run',
      '-i',
      '--rm',
      ...without(runtimeArguments, ['-i', '--interactive', '--rm']),
      { variablesAfter: '-e' },
      identifier,
      ...packageArguments,
    ],
  },
  nuget: {
    runtimes: ['dnx'],
    identifier: new RegExp(`^${NAME}$`),
    usual: /^https:\/\/(?:api|www)\.nuget\.org(?:\/v3\/index\.json)?\/?$/,
    words: (runtime, { from, identifier, version, runtimeArguments, packageArguments }) => [
      runtime,
      `${identifier}@${version}`,
      '--yes',
      ...(from === undefined ? [] : ['--source', from]),
      ...without(runtimeArguments, ['-y', '--yes']),
      ...(packageArguments.length > 0 ? ['--', ...packageArguments] : []),
    ],
  },
};

/** Remotes first, and packages in this order. */
const ORDER: readonly ConnectionWay['kind'][] = ['remote', 'npm', 'pypi', 'oci', 'nuget', 'mcpb', 'other'];

/** Lists the ways to use a server, the best first: those that this machine can use before the others. */
export function waysOf(
  server: RegistryServer,
  { hasCommand, prefer = 'remote' }: WaysOptions,
): readonly ConnectionWay[] {
  const remotes = server.remotes.map(remoteWay).sort((a, b) => rankOf(a.transport) - rankOf(b.transport));
  const packages = server.packages.map((one) => packageWay(one, server, hasCommand));
  const ways = [...remotes, ...packages];
  const place = ({ kind }: ConnectionWay): number =>
    kind === 'remote' && prefer === 'local' ? ORDER.length : ORDER.indexOf(kind);
  ways.sort((a, b) => Number(b.isAvailable) - Number(a.isAvailable) || place(a) - place(b));
  const counts = new Map<string, number>();
  return ways.map((way) => {
    const count = (counts.get(way.kind) ?? 0) + 1;
    counts.set(way.kind, count);
    return { ...way, id: count === 1 ? way.kind : `${way.kind}-${count}` };
  });
}

const rankOf = (transport: ConnectionWay['transport']): number => (transport === 'http' ? 0 : 1);

const remoteWay = ({ type, url, variables, headers }: RegistryRemote): ConnectionWay => ({
  id: '',
  kind: 'remote',
  transport: type === 'sse' ? 'sse' : 'http',
  label: url,
  url,
  variables,
  headers,
  words: [],
  environment: [],
  isAvailable: true,
  warnings: /^http:\/\/(?!localhost\b|127\.|\[::1\])/i.test(url) ? ['its address is not encrypted (http)'] : [],
  postInstall: [],
});

function packageWay(
  written: RegistryPackage,
  server: RegistryServer,
  hasCommand: WaysOptions['hasCommand'],
): ConnectionWay {
  const { registryType, transport, environmentVariables, postInstall } = written;
  const launcher = Object.hasOwn(LAUNCHERS, registryType) ? LAUNCHERS[registryType] : undefined;
  const isUsual = launcher === undefined || launcher.usual.test(written.registryBaseUrl ?? '');
  const from = written.registryBaseUrl === undefined || isUsual ? undefined : written.registryBaseUrl;
  const source: PackageSource = { ...withTag(written, from), from };
  const way: Omit<ConnectionWay, 'kind' | 'isAvailable'> = {
    id: '',
    transport: transport.type === 'stdio' ? 'stdio' : transport.type === 'sse' ? 'sse' : 'http',
    label: labelOf(source),
    url: transport.url,
    variables: [],
    headers: [],
    words: [],
    environment: environmentVariables,
    warnings: [],
    postInstall,
  };
  if (registryType === 'mcpb') {
    const { identifier: url, fileSha256: sha256 = '' } = written;
    const problem = !/^https:\/\//.test(url)
      ? 'its bundle has no https address'
      : SHA256.test(sha256)
        ? undefined
        : 'the registry gives no SHA-256 of its bundle, so the bundle cannot be checked';
    const bundle = problem === undefined ? { url, sha256 } : undefined;
    return { ...way, kind: 'mcpb', url: undefined, bundle, problem, isAvailable: problem === undefined };
  }
  if (launcher === undefined) {
    const where = server.websiteUrl ?? server.repository?.url;
    const problem = `packages of the kind "${registryType}" cannot be started from here${where === undefined ? '' : `; see ${where}`}`;
    return { ...way, kind: 'other', problem, isAvailable: false };
  }
  const kind = registryType as ConnectionWay['kind'];
  const problem = packageProblem(launcher, source);
  if (problem !== undefined) return { ...way, kind, problem, isAvailable: false };
  const runtime = runtimeFor(launcher, source.runtimeHint, hasCommand);
  return {
    ...way,
    kind,
    runtime,
    words: launcher.words(runtime, source),
    isAvailable: hasCommand(runtime),
    warnings: warningsOf(source),
  };
}

/** Up to 2025-09-29 the tag of an image stood beside it. An image of another registry begins with its host. */
function withTag(written: RegistryPackage, from: string | undefined): RegistryPackage {
  const { registryType, identifier, version } = written;
  if (registryType !== 'oci') return written;
  const hasTag = /@sha256:|:[^/]+$/.test(identifier);
  const host = from !== undefined && URL.canParse(from) ? new URL(from).host : undefined;
  const image = host === undefined || identifier.startsWith(`${host}/`) ? identifier : `${host}/${identifier}`;
  return { ...written, identifier: hasTag || version === undefined ? image : `${image}:${version}` };
}

const labelOf = ({ registryType, identifier, version }: RegistryPackage): string =>
  version === undefined || registryType === 'oci' || registryType === 'mcpb' ? identifier : `${identifier} ${version}`;

function packageProblem(
  { identifier: allowed }: Launcher,
  { registryType, identifier, version, from }: PackageSource,
): string | undefined {
  if (!allowed.test(identifier))
    return `${JSON.stringify(identifier)} is not the name of a package of the kind ${registryType}`;
  if (from !== undefined && !/^https?:\/\/[^\s]+$/.test(from)) return 'its registryBaseUrl is not an address';
  const pinned = registryType === 'oci' ? /@(sha256:.+)$|:([^/:]+)$/.exec(identifier)?.slice(1).find(Boolean) : version;
  if (pinned === undefined) return 'the registry names no version';
  const isFloating = FLOATING.test(pinned) || (registryType !== 'oci' && !PINNED.test(pinned));
  return isFloating ? `its version ${JSON.stringify(pinned)} is not fixed` : undefined;
}

function runtimeFor({ runtimes }: Launcher, hint: string | undefined, hasCommand: WaysOptions['hasCommand']): string {
  const ordered = [...runtimes].sort((a, b) => Number(b === hint) - Number(a === hint));
  return ordered.find(hasCommand) ?? (ordered[0] as string);
}

/** Arguments without those that stand on the command line anyway. */
const without = (list: readonly RegistryArgument[], fixed: readonly string[]): RegistryArgument[] =>
  list.filter(({ flag, value }) => !fixed.includes(flag ?? value ?? '') || (flag !== undefined && value !== undefined));

/** Options that give a container more than its own room. */
const POWERFUL =
  /^(?:--privileged|--cap-add|--device|--pid|--ipc|--uts|--userns|--security-opt|--volume|-v|--mount|--volumes-from|--network|--net|--add-host|--env-file|--group-add)$/;
/** Options that make a package manager fetch or run something else. */
const REDIRECTING =
  /^(?:-c|--call|-p|--package|--registry|--script-shell|--node-options|--userconfig|--from|--with|--with-editable|--index|--index-url|--extra-index-url|-i|--default-index|--find-links|--python|--source|--add-source|--configfile|--interactive)=?$/;
/** Variables that make a program load something else. */
const LOADING =
  /^(?:NODE_OPTIONS|NODE_PATH|LD_\w+|DYLD_\w+|PATH|PYTHON(?:PATH|STARTUP|HOME)|npm_config_\w+|UV_\w+|PIP_\w+|BASH_ENV|ENV)$/i;

function warningsOf({ registryType, from, runtimeArguments, environmentVariables }: PackageSource): string[] {
  const risky = registryType === 'oci' ? POWERFUL : REDIRECTING;
  const options = runtimeArguments.flatMap(({ flag, value }) => flag ?? value?.split('=', 1)[0] ?? []);
  return [
    ...(from === undefined ? [] : [`it comes from ${from}, not from the usual place`]),
    ...new Set(
      options.filter((option) => risky.test(option)).map((option) => `the registry adds the option ${option}`),
    ),
    ...environmentVariables.filter(({ name }) => LOADING.test(name)).map(({ name }) => `it sets ${name}`),
  ];
}
