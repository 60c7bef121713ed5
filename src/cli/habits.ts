/**
 * Maps command names that people know from other tools to ours: as an alias, or as a hint where several commands fit.
 * @module
 */

/** Other names of a command, each with the words it stands for. */
export const ALIASES: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['list']],
  ['status', ['list', '--status']],
  ['find', ['search']],
  ['call', ['execute']],
  ['exec', ['execute']],
  ['describe', ['inspect']],
  ['add-json', ['add']],
  ['rm', ['remove']],
  ['--add-mcp', ['add']],
]);

const RUN = ['execute <server> <tool>  Call a tool', 'serve                    Run the gateway'];
const SHOW = [
  'get <server>             Show a server',
  'inspect <server> <tool>  Show a tool',
  'tools <server>           List the tools of a server',
  'config show              Show the configuration',
];
/** Commands to choose from, where no single one fits. */
export const HINTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['run', RUN],
  ['start', RUN],
  ['show', SHOW],
  ['info', SHOW],
  ['validate', ['config validate          Validate the configuration']],
  ['reload', ['config reload            Reload the configuration']],
]);
