/**
 * Warns of what a person should look at twice before a server of a registry is added. Pure.
 * @module
 */
import { CHANGES_PROGRAM } from '../core/program-variables.ts';
import type { Launcher, PackageSource } from './connection-ways.ts';
import type { NamedInput } from './registry-server.ts';

/** Tells whether a host is this machine. */
export const isLoopback = (hostname: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);

/** Tells whether a host is a public name. Numbers, and names of a local network, are not. */
export const isPublicHost = (hostname: string): boolean =>
  !/^[\d.]+$|:|^[^.]*$|\.(?:local|localhost|internal|lan|home|arpa)\.?$/.test(hostname);

const NOT_ENCRYPTED = 'its address is not encrypted (http)';

/** Warns of an address. Looks at it as it is with its defaults: a variable may hold the scheme or the host. */
export function addressWarnings(url: string, variables: readonly NamedInput[]): string[] {
  const known = new Map(variables.map(({ name, value, default: usual }) => [name, value ?? usual]));
  const filledWith = (unknown: string) =>
    url.replace(/\$?\{([^{}]{1,128})\}/g, (_, name: string) => known.get(name) ?? unknown);
  // A port has to be a number.
  const filled = [filledWith('x.example'), filledWith('1')].find((text) => URL.canParse(text));
  if (filled === undefined) return /^http:/i.test(url) ? [NOT_ENCRYPTED] : [];
  const { protocol, hostname, username, password } = new URL(filled);
  return [
    ...(protocol === 'http:' && !isLoopback(hostname) ? [NOT_ENCRYPTED] : []),
    ...(isLoopback(hostname) || isPublicHost(hostname) ? [] : [`${hostname} is a number or a name of a local network`]),
    ...(username + password === '' ? [] : [`its address has a name before the host, which is ${hostname}`]),
  ];
}

/** The options in a word, without their values: `-iv/:/host` is `-i` and `-v`. */
function optionsIn(word: string, { valued, hasClusters }: Launcher): string[] {
  const [name = ''] = word.split('=', 1);
  if (!hasClusters || !/^-[A-Za-z]/.test(name)) return [name];
  const letters = [...name.slice(1)].map((letter) => `-${letter}`);
  const last = letters.findIndex((letter) => valued.test(letter));
  return last === -1 ? letters : letters.slice(0, last + 1);
}

/** Options that give a container more than its own room. */
const POWERFUL =
  /^(?:--privileged|--cap-add|--device|--pid|--ipc|--uts|--userns|--security-opt|--volume|-v|--mount|--volumes-from|--network|--net|--add-host|--env-file|--group-add|--entrypoint|--device-cgroup-rule|--cgroupns|--runtime|--gpus|--link|--publish|--publish-all|-[pP]|--log-driver|--log-opt|--dns|--tmpfs|--sysctl|--secret|--cgroup-parent|--user|-u)$/;
/** Options that make a package manager fetch or run something else. */
const REDIRECTING =
  /^(?:-c|-p|-w|-f|-b|-C|--prefix|--with-requirements|--constraints|--overrides|--build-constraints|--config-file|--config-setting|--directory|--project|--env-file|--allow-insecure-host|--registry|--userconfig|--with|--with-editable|--index|--index-url|--extra-index-url|-i|--default-index|--find-links|--python|--source|--add-source|--configfile|--interactive)$/;
/** Warns of variables that make a program load something else. */
export const variableWarnings = (variables: readonly NamedInput[]): string[] =>
  variables.filter(({ name }) => CHANGES_PROGRAM.test(name)).map(({ name }) => `it sets ${name}`);

/** Warns of the options, variables and places of a package. */
export function packageWarnings(
  launcher: Launcher,
  { registryType, identifier, from, runtimeArguments, environmentVariables }: PackageSource,
): string[] {
  const risky = registryType === 'oci' ? POWERFUL : REDIRECTING;
  const options = runtimeArguments.flatMap(({ flag, value }) => optionsIn(flag ?? value ?? '', launcher));
  const isMovable = registryType === 'oci' && !identifier.includes('@sha256:');
  return [
    ...(isMovable ? ['its image is named by a tag, which can be moved to another image'] : []),
    ...(from === undefined ? [] : [`it comes from ${from}, not from the usual place`]),
    ...new Set(
      options.filter((option) => risky.test(option)).map((option) => `the registry adds the option ${option}`),
    ),
    ...variableWarnings(environmentVariables),
  ];
}
