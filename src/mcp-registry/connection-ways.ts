/**
 * Lists the ways in which a server of a registry can be used: its addresses, and the command lines of its packages. Pure:
 * starts, sends and looks up nothing.
 *
 * Packages are started by programs from the table below, whatever a registry says, and identifiers are checked, so that
 * none of them can be read as an option. Options before a package have to be known, so that no other word can be taken
 * for the package. Versions are always pinned.
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
import { addressWarnings, isLoopback, packageWarnings } from './way-warnings.ts';

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
  /** Whether bundles may come from this machine without encryption: the registry is on it too. */
  readonly isLocalRegistry?: boolean | undefined;
  /** `remote`: no local code if it can be avoided (the default). `local`: packages first. */
  readonly prefer?: 'remote' | 'local' | undefined;
}

/** How packages of one kind are started. */
export interface Launcher {
  /** The programs that can do it, best first. A hint of the registry can only choose among them. */
  readonly runtimes: readonly string[];
  readonly identifier: RegExp;
  /** The registry that the program uses anyway. */
  readonly usual: RegExp;
  /** A version that always means the same package; undefined for images, which have tags. */
  readonly exact?: RegExp | undefined;
  /** Options that stand alone, and options that take the next word. */
  readonly switches: RegExp;
  readonly valued: RegExp;
  /** Whether `-iv` is `-i -v`. */
  readonly hasClusters: boolean;
  words(runtime: string, source: PackageSource): Word[];
}

/** A package, and where it comes from. */
export interface PackageSource extends RegistryPackage {
  /** A registry other than the usual one. */
  readonly from: string | undefined;
}

const NAME = '[A-Za-z0-9_][A-Za-z0-9._-]{0,213}';
/** Anything else is a range or a tag for npm: `1`, `01.0.0`, `1.0.0.0`, `1.0.0-a..b`. */
const SEMANTIC =
  /^(?:0|[1-9]\d{0,15})(?:\.(?:0|[1-9]\d{0,15})){2}(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;
const NUGET = /^\d{1,16}(?:\.\d{1,16}){2,3}(?:[-+][A-Za-z0-9.+-]{1,128})?$/;
const PYTHON =
  /^v?(?:\d{1,20}!)?\d{1,20}(?:\.\d{1,20}){0,9}(?:[._-]?(?:a|b|c|rc|alpha|beta|pre|preview|post|rev|r|dev)[._-]?\d{0,20}){0,3}(?:-\d{1,20})?(?:\+[A-Za-z0-9._-]{1,64})?$/i;
const FLOATING = /^(?:latest|next|beta|canary|stable|main|master|x|\*)$/i;
const SHA256 = /^[0-9a-f]{64}$/;

const LAUNCHERS: Readonly<Partial<Record<string, Launcher>>> = {
  npm: {
    runtimes: ['npx'],
    identifier: new RegExp(`^(?:@${NAME}/)?${NAME}$`),
    usual: /^https:\/\/(?:registry\.)?npmjs\.(?:org|com)\/?$/,
    exact: SEMANTIC,
    // An option that npx does not know takes the next word. Those that run something else than the package are left out.
    switches: /^(?:-[dqsy]|--(?:yes|quiet|silent|verbose|offline|prefer-offline|prefer-online|ignore-scripts))$/,
    valued: /^--(?:registry|cache|userconfig|prefix|loglevel)$/,
    hasClusters: false,
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
    exact: PYTHON,
    switches:
      /^(?:-[nqvU]|--(?:isolated|no-cache|offline|quiet|verbose|no-progress|refresh|upgrade|reinstall|no-config|no-index|native-tls|no-build|no-env-file|managed-python|no-managed-python|no-python-downloads))$/,
    valued:
      /^(?:-[wifpcbCP]|--(?:with|with-editable|with-requirements|index|default-index|index-url|extra-index-url|find-links|python|index-strategy|keyring-provider|cache-dir|config-file|directory|project|constraints|overrides|build-constraints|env-file|resolution|prerelease|exclude-newer|link-mode|color|refresh-package|upgrade-package|reinstall-package|python-platform|torch-backend|config-setting|allow-insecure-host))$/,
    hasClusters: true,
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
    switches:
      /^(?:-[itqP]|--(?:interactive|tty|rm|init|quiet|privileged|read-only|publish-all|no-healthcheck|oom-kill-disable))$/,
    valued:
      /^(?:-[evpuwmlhca]|--(?:env|env-file|volume|mount|volumes-from|network|net|network-alias|name|publish|expose|user|workdir|entrypoint|add-host|cap-add|cap-drop|device|device-cgroup-rule|gpus|memory|memory-swap|cpus|cpu-shares|cpuset-cpus|pids-limit|platform|pull|tmpfs|label|hostname|dns|dns-search|ulimit|security-opt|shm-size|restart|pid|ipc|uts|userns|cgroupns|cgroup-parent|group-add|link|log-driver|log-opt|runtime|stop-timeout|stop-signal|sysctl|ip|mac-address|attach|annotation|secret))$/,
    hasClusters: true,
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
    exact: NUGET,
    switches:
      /^(?:-y|--(?:yes|interactive|prerelease|allow-roll-forward|ignore-failed-sources|no-http-cache|disable-parallel))$/,
    valued: /^(?:-v|--(?:verbosity|source|add-source|configfile|framework))$/,
    hasClusters: false,
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
export function waysOf(server: RegistryServer, options: WaysOptions): readonly ConnectionWay[] {
  const { prefer = 'remote' } = options;
  const remotes = server.remotes.map(remoteWay).sort((a, b) => rankOf(a.transport) - rankOf(b.transport));
  const packages = server.packages.map((one) => packageWay(one, server, options));
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
  warnings: addressWarnings(url, variables),
  postInstall: [],
});

function packageWay(
  written: RegistryPackage,
  server: RegistryServer,
  { hasCommand, isLocalRegistry = false }: WaysOptions,
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
    const problem = !isBundleAddress(url, isLocalRegistry)
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
    warnings: [
      ...(transport.url === undefined ? [] : addressWarnings(transport.url, environmentVariables)),
      ...packageWarnings(launcher, source),
    ],
  };
}

/** Tells whether a bundle may be fetched from an address: encrypted, or from this machine where its registry is there too. */
export function isBundleAddress(url: string, isLocalRegistry: boolean): boolean {
  const { protocol, hostname, username, password } = URL.canParse(url) ? new URL(url) : new URL('none:');
  if (username + password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLocalRegistry && isLoopback(hostname));
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
  launcher: Launcher,
  { registryType, identifier, version, from, runtimeArguments }: PackageSource,
): string | undefined {
  const { identifier: allowed, exact } = launcher;
  if (!allowed.test(identifier))
    return `${JSON.stringify(identifier)} is not the name of a package of the kind ${registryType}`;
  if (from !== undefined && !/^https?:\/\/[^\s]+$/.test(from)) return 'its registryBaseUrl is not an address';
  const pinned = registryType === 'oci' ? /@(sha256:.+)$|:([^/:]+)$/.exec(identifier)?.slice(1).find(Boolean) : version;
  if (pinned === undefined) return 'the registry names no version';
  const isFloating = FLOATING.test(pinned) || exact?.test(pinned) === false;
  return isFloating ? `its version ${JSON.stringify(pinned)} is not fixed` : optionsProblem(launcher, runtimeArguments);
}

/**
 * Says why the words before a package could hide which package is started: a word that is no option would be taken for
 * the package, and an option that takes the next word would take the package.
 */
function optionsProblem(launcher: Launcher, list: readonly RegistryArgument[]): string | undefined {
  let open: string | undefined;
  for (const argument of list) {
    const { flag, value, isRequired, default: usual } = argument;
    const isThere = flag !== undefined || value !== undefined || usual !== undefined || isRequired;
    if (open !== undefined) {
      // A text with variables is left out where an answer is missing.
      const isFixed = flag === undefined && isThere && !argument.isRepeated && !argument.variables.some(isOptional);
      if (!isFixed) return `the registry does not say what its option ${open} is set to`;
      open = undefined;
      continue;
    }
    const word = flag ?? value ?? '';
    const shown = JSON.stringify(flag ?? value ?? argument.valueHint ?? '');
    if (!/^--?[A-Za-z0-9]/.test(word)) return `the registry puts ${shown} before the package, where it is no option`;
    const kind = kindOf(word, launcher);
    if (kind === undefined) return `the registry adds the option ${shown}, which is not allowed there`;
    const hasOwnWord = flag !== undefined && !isSwitch(argument) && !flag.endsWith('=');
    if (hasOwnWord && kind !== 'valued') return `the registry puts a word after its option ${shown}, which takes none`;
    if (!hasOwnWord && kind === 'valued') open = word;
  }
  return open === undefined ? undefined : `the registry does not say what its option ${open} is set to`;
}

const isOptional = ({ isRequired, default: usual }: NamedInput): boolean => !isRequired && usual === undefined;

/** `whole` has its value in the same word. */
function kindOf(
  option: string,
  { switches, valued, hasClusters }: Launcher,
): 'switch' | 'valued' | 'whole' | undefined {
  if (switches.test(option)) return 'switch';
  if (valued.test(option)) return 'valued';
  const [, name] = /^(--[\w.-]+|-[A-Za-z])=/.exec(option) ?? [];
  if (name !== undefined && (name.startsWith('--') || hasClusters))
    return switches.test(name) || valued.test(name) ? 'whole' : undefined;
  if (!hasClusters || option.startsWith('--')) return undefined;
  for (const [at, letter] of [...option.slice(1)].entries()) {
    const rest = option.slice(at + 2);
    // A variable may be empty, and then the option takes the next word.
    if (valued.test(`-${letter}`)) return rest === '' ? 'valued' : /^\$?\{/.test(rest) ? undefined : 'whole';
    if (!switches.test(`-${letter}`)) return undefined;
  }
  return 'switch';
}

function runtimeFor({ runtimes }: Launcher, hint: string | undefined, hasCommand: WaysOptions['hasCommand']): string {
  const ordered = [...runtimes].sort((a, b) => Number(b === hint) - Number(a === hint));
  return ordered.find(hasCommand) ?? (ordered[0] as string);
}

/** A named argument without further details is a switch. */
export const isSwitch = ({
  value,
  default: usual,
  description,
  choices,
  placeholder,
  isRequired,
  valueHint,
}: RegistryArgument): boolean =>
  [value, usual, description, placeholder, valueHint].every((text) => text === undefined) &&
  choices.length === 0 &&
  !isRequired;

/** Arguments without those that stand on the command line anyway. */
const without = (list: readonly RegistryArgument[], fixed: readonly string[]): RegistryArgument[] =>
  list.filter(({ flag, value }) => !fixed.includes(flag ?? value ?? '') || (flag !== undefined && value !== undefined));
