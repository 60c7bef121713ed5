/**
 * Checks the configuration: its files, sources, trust and rules.
 * @module
 */

import type { ResolvedConfig, ResolvedSource } from '../config/resolved-config.ts';
import type { ConfigurationError } from '../core/errors.ts';
import { LIMITS } from '../core/limits.ts';
import { counted } from '../text/counted.ts';
import { isPlain, oneLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { proxiesIn } from './advice.ts';
import type { Check } from './check.ts';

const BUILT_IN = 'built-in defaults';

/** Every problem of a configuration that could not be loaded. */
export function checkBrokenConfiguration({ problems, message }: ConfigurationError): Check[] {
  const details = problems.length > 0 ? problems : [message];
  const fix = 'Correct the file; `anygpt mcp config validate` checks it without starting a server';
  return details.map((text, at) => {
    const [, file = 'configuration', detail = text] = problems.length > 0 ? (/^(.+?): (.+)$/s.exec(text) ?? []) : [];
    const about = { kind: 'configuration', subject: file, check: 'valid', status: 'fail', detail } as const;
    return at === details.length - 1 ? { ...about, fix } : about;
  });
}

/** Findings about a loaded configuration. */
export function checkConfiguration(config: ResolvedConfig, rules: readonly { readonly message: string }[]): Check[] {
  const { origin, enabled, servers, warnings, sources } = config;
  const about = { kind: 'configuration', subject: origin ?? BUILT_IN } as const;
  const off = servers.filter((server) => !server.enabled).length;
  const checks: Check[] = [];
  if (!enabled) {
    const fix = `Set enabled: true in ${shown(origin ?? 'your configuration')}`;
    checks.push({ ...about, check: 'enabled', status: 'warn', detail: 'discovery is disabled', fix });
  }
  const count = counted(servers.length, 'server');
  const detail = off > 0 ? `${count}, ${off} of them disabled` : count;
  if (origin !== undefined) checks.push({ ...about, check: 'valid', status: 'ok', detail });
  // Problems of a source are reported with the source.
  const said = new Set(sources.map(({ type, message }) => `Source ${type}: ${message}`));
  for (const warning of warnings) {
    if (!said.has(warning)) checks.push({ ...about, check: 'warning', status: 'warn', ...withFix(warning) });
  }
  for (const { message } of rules) checks.push({ ...about, check: 'rules', status: 'warn', detail: message });
  return checks;
}

/** Takes the command or the change that helps from the end of a warning, if it has one. */
function withFix(warning: string): { readonly detail: string; readonly fix?: string } {
  const command = /`(anygpt mcp [^`]{1,500})`/.exec(warning)?.[1];
  const [, detail = warning, way] = /^(.*) To [^.]*?, (add .{1,500})$/s.exec(warning) ?? [];
  const fix = command ?? (way === undefined ? undefined : `A${way.slice(1)}`);
  return fix === undefined ? { detail: warning } : { detail: command === undefined ? detail : warning, fix };
}

/** An untrusted path on one line. */
const shown = (path: string): string => oneLine(path, LIMITS.text.path);

/** One finding per source. */
export const checkSources = ({ sources }: Pick<ResolvedConfig, 'sources'>): Check[] => sources.map(checkSource);

function checkSource({ type, path, scope, status, message: said = '', serverCount }: ResolvedSource): Check {
  // The subject already names the file.
  const message = path !== '' && said.startsWith(path) ? said.slice(path.length).replace(/^[: ]+/, '') : said;
  const about = { kind: 'source', subject: path === '' ? type : `${type} ${path}`, check: 'read' } as const;
  switch (status) {
    case 'ok':
      return { ...about, status: 'ok', detail: counted(serverCount, 'server') };
    case 'untrusted':
      return {
        ...about,
        status: 'warn',
        detail: 'came with this project and is not trusted',
        // A path with hidden characters must not be pasted.
        fix: isPlain(path) && !/\s{2}|[\r\n\t]/.test(path) ? `anygpt mcp trust ${shellWord(path)}` : 'anygpt mcp trust',
      };
    case 'missing': {
      // A client may be missing on this machine; a file that the configuration names should exist.
      const named = scope === undefined && type !== 'auto';
      const fix = named ? 'Correct its path in "sources"' : 'Install the client, or remove it from "sources"';
      return { ...about, status: named ? 'fail' : 'warn', detail: message || 'not found', fix };
    }
    case 'error':
      return {
        ...about,
        status: 'fail',
        detail: message,
        fix: path === '' ? 'Correct it in "sources"' : `Correct ${shown(path)}`,
      };
  }
}

/** Reports proxy variables: local servers get them, connections to remote servers ignore them. */
export function checkProxies(env: Readonly<Record<string, string | undefined>>): Check[] {
  const names = proxiesIn(env);
  if (names.length === 0) return [];
  const detail = `${names.join(', ')} set: passed to local servers, not used for remote servers`;
  return [{ kind: 'machine', subject: 'network', check: 'proxy', status: 'ok', detail }];
}

/** Checks whether the trust file can be read. */
export async function checkTrust(store: {
  readonly file: string;
  list(): Promise<ReadonlyMap<string, string>>;
}): Promise<Check> {
  const about = { kind: 'machine', subject: store.file, check: 'trust' } as const;
  try {
    const { size } = await store.list();
    const detail = size === 0 ? 'no project is trusted yet' : counted(size, 'trusted project file');
    return { ...about, status: 'ok', detail };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { ...about, status: 'fail', detail, fix: `Repair ${store.file}, or move it away` };
  }
}
