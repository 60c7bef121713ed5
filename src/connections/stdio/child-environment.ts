/**
 * Builds the environment of a child process: the allow-list, then what its own entry names, and nothing else.
 * @module
 */
import { posix, win32 } from 'node:path';
import type { StdioConnection } from '../../core/types.ts';
import type { KnownSecrets } from '../../secrets/redactor.ts';
import { secretParts } from '../../secrets/secret-values.ts';
import { isProxyVariable, type Place, proxySecrets } from '../../secrets/server-secrets.ts';
import type { Environment } from '../open-options.ts';

const POSIX = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'TMPDIR'];
const WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];
// A server behind a company proxy needs these; they contain addresses and file names. The password of a proxy goes only
// to servers whose entry names the variable.
const NETWORK = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
];

/** Removes relative and empty folders from a search path: they would be resolved wherever the child starts. */
function absoluteFolders(path: string, platform: NodeJS.Platform): string {
  const { delimiter, isAbsolute } = platform === 'win32' ? win32 : posix;
  return path.split(delimiter).filter(isAbsolute).join(delimiter);
}

/**
 * Builds the environment of one child. `expand` replaces `${NAME}` references and throws for missing ones. `secrets`
 * learns the values of our own variables that the child gets.
 */
export function childEnvironment(
  connection: Pick<StdioConnection, 'env' | 'inheritEnv'>,
  ours: Environment,
  expand: (text: string, place?: Place) => string,
  platform: NodeJS.Platform = process.platform,
  secrets?: Pick<KnownSecrets, 'learn'>,
): Record<string, string> {
  const child: Record<string, string> = Object.create(null);
  const allowed = new Set([...(platform === 'win32' ? WINDOWS : POSIX), ...NETWORK, ...connection.inheritEnv]);
  for (const [name, value] of Object.entries(ours)) {
    const key = platform === 'win32' ? name.toUpperCase() : name;
    if (value === undefined || !(allowed.has(name) || allowed.has(key) || name.startsWith('LC_'))) continue;
    // An exported shell function is code that a child shell would run.
    if (value.startsWith('()') && !connection.inheritEnv.includes(name)) continue;
    const named = connection.inheritEnv.includes(name) || connection.inheritEnv.includes(key);
    if (isProxyVariable(name)) secrets?.learn(proxySecrets(value));
    if (named) secrets?.learn(secretParts(value, name));
    const handedOn = isProxyVariable(name) && !named ? withoutCredentials(value) : value;
    const path = key === 'PATH' ? absoluteFolders(value, platform) : handedOn;
    if (key !== 'PATH' || path !== '') child[name] = path;
  }
  for (const [name, value] of Object.entries(connection.env)) child[name] = expand(value, { name });
  return child;
}

/**
 * Returns a proxy's address without user and password, with or without a scheme. Everything before the last @ is
 * removed.
 */
const withoutCredentials = (address: string): string => address.replace(/^([a-z][\w+.-]{0,30}:\/\/)?.*@/is, '$1');
