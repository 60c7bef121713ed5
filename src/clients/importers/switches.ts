/**
 * Reads clients' lists of switched-off servers, kept apart from the entries.
 * @module
 */
import { join } from 'node:path';
import { isInside } from '../../config/paths.ts';
import { folderNamed, type World } from '../../config/world.ts';
import { isObject } from '../../json/plain-object.ts';
import { valueAt } from './containers.ts';

/** What decides whether an entry is off. */
export interface SwitchContext {
  readonly world: World;
  /** The document that contains the entry. */
  readonly document: unknown;
  /** The document of the file that `beside` names, if any. */
  readonly beside: unknown;
  readonly scope: 'user' | 'system' | 'project' | undefined;
}

/** How a client stores which entries are off. */
export interface Switches {
  /** A second file with switches. */
  readonly beside?: ((world: World) => string) | undefined;
  readonly isOff: (name: string, context: SwitchContext) => boolean;
}

const lists = (value: unknown, name: string): boolean => Array.isArray(value) && value.includes(name);

/** Gemini CLI: `mcp.allowed` and `mcp.excluded`, and the file that `gemini mcp disable` writes. */
export const geminiSwitches: Switches = {
  beside: ({ home }) => join(home, '.gemini', 'mcp-server-enablement.json'),
  isOff: (name, { document, beside }) => {
    const allowed = valueAt(document, ['mcp', 'allowed']);
    const state = valueAt(beside, [name.toLowerCase()]) ?? valueAt(beside, [name]);
    return (
      (Array.isArray(allowed) && !allowed.includes(name)) ||
      lists(valueAt(document, ['mcp', 'excluded']), name) ||
      (isObject(state) && state.enabled === false)
    );
  },
};

/** Claude Code: servers that are off in a project are listed with that project in the user's file. */
export const claudeCodeSwitches: Switches = {
  beside: (world) => join(folderNamed('CLAUDE_CONFIG_DIR', world) ?? world.home, '.claude.json'),
  isOff: (name, { document, beside, scope, world }) => {
    const projects = valueAt(scope === 'project' ? beside : document, ['projects']);
    if (!isObject(projects)) return false;
    const key = scope === 'project' ? 'disabledMcpjsonServers' : 'disabledMcpServers';
    return Object.entries(projects).some(
      ([project, settings]) => isObject(settings) && isInside(world.cwd, project) && lists(settings[key], name),
    );
  },
};
