// Writes docs/configuration.md from the built schema. With --check, compares instead.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { CLIENT_TYPES, clientOf } from '../dist/clients/importers/clients.js';
import { discoverySchema } from '../dist/config/schema.js';
import { LIMITS } from '../dist/core/limits.js';
import { isObject } from '../dist/json/plain-object.js';

const page = new URL('../docs/configuration.md', import.meta.url);

const OPENING = `# Configuration

<!-- Generated from src/config/schema.ts by \`npm run docs:config\`. Change the schema, not this page. -->

\`\`\`ts
// .anygpt/mcp-discovery.config.ts
import { defineConfig } from '@anygpt/discovery/config';

export default defineConfig({
  discovery: {
    servers: [
      {
        name: 'github',
        description: 'GitHub API integration',
        connection: {
          type: 'stdio',
          command: 'npx',
          args: ['-y', '@modelcontextprotocol/server-github'],
          env: { GITHUB_PERSONAL_ACCESS_TOKEN: '\${GITHUB_TOKEN}' },
        },
      },
    ],
    sources: [{ type: 'claude-desktop' }, { type: 'custom', path: './mcp-servers.yaml' }],
    toolRules: [{ pattern: ['*delete*'], enabled: false, tags: ['dangerous'] }],
  },
});
\`\`\`

\`defineConfig\` (or \`config\`) only adds types: a plain object, JSON with comments, or YAML works as well, with or
without the \`discovery\` wrapper. Nothing has to be built or installed beside the file.

## Where the file is

The first one found and trusted is used:

1. \`--config FILE\`, else the file \`ANYGPT_CONFIG\` names
2. \`.anygpt/mcp-discovery.config.{ts,mts,js,mjs,json,yaml,yml}\`, then the \`discovery\` section of \`anygpt.config.*\`, in
   the working folder and then in each parent up to the repository
3. \`~/.anygpt/mcp-discovery.config.*\` (and first the same in \`ANYGPT_HOME\`)
4. built-in defaults: no servers

Relative paths start at the folder that contains \`anygpt.config.*\` or \`.anygpt/\`; in a file that was named or extended, at
that file's folder. \`~\` and \`\${NAME}\` work in paths.

## Trust

A project's configuration is code that came with a folder. It is used only after \`anygpt mcp trust\`, which remembers its
path and a hash of its content, or with \`--trust-project\` or \`ANYGPT_TRUST_PROJECT=1\`. Files in your home's \`.anygpt\` and
files you name yourself need no trust.

- Before that, nothing of it is executed, expanded or quoted, and only a little is parsed, to see whether it has servers.
- The hash covers the file and every file of the project that its text imports, extends, takes servers from or names as
  \`envFile\` or \`\${file:…}\`: at most ${LIMITS.files.configuration} files of at most 256 KiB, with at most 1,000 servers. Beyond that nothing is trusted.
- \`trust\` shows, and later runs, exactly the hashed bytes. Code may import those files and Node's own modules, no packages; an
  import whose path is assembled by code is refused. An \`envFile\` that changes ends the trust.
- No \`\${file:…}\` is read through a link that leads out of the project, and no \`envFile\` outside it.
- Files outside the project that it names need \`anygpt mcp trust FILE\`, unless they are your own.
- \`trust\` also trusts the folder: \`\${workspaceFolder}\` in your own configuration may stand for it.

A project's configuration can only add to your settings and narrow them; the file in your home stays in force. The servers of
your file are used only if the project imports the client they come from, or has
\`extends: '~/.anygpt/mcp-discovery.config.json'\`; a warning names the unused ones:

| setting | of a project |
| --- | --- |
| \`servers\`, \`sources\`, \`extends\` | in place of those in your file |
| the name of one of your own servers | stays with yours; the project's server is named \`project/name\` |
| \`enabled\`, \`description\` of a server of your own | \`enabled\`: only \`false\`; \`description\`: only if yours has none |
| \`toolRules\`, \`rulePrecedence\` | its own and yours: a tool is enabled only if both allow it |
| \`enabled\`, \`search.meaning\`, \`search.learn\`, \`search.keepQueries\` | on only if both say so |
| \`search.phrases\` | only \`false\` |
| \`search.embedder\` | only if you have none; \`trust\` shows it |
| \`validation.output\` | only stricter |
| \`limits\`, \`retry.attempts\` | only smaller |
| \`limits.schemaDepth\`, \`schemaNodes\`, \`validation\`, \`stderr\`, \`auditLine\`, \`breaker\`; the rest of \`retry\` | ignored |
| \`audit\`, \`log\`, \`cache\` | ignored |
| all else on a server of your own | ignored: your file decides |

A warning names every ignored key.

## Secrets

\`\${NAME}\` in \`env\`, \`headers\`, \`args\` and \`url\` stays as it is until a connection opens; \`\${NAME:-default}\` has a
default, \`\${file:/path}\` is the content of a file, \`\${envFile:/path/.env#NAME}\` a variable in a dotenv file, \`$\${\` is
a literal \`\${\`.

Values are masked in all output when their name suggests a secret (\`GITHUB_TOKEN\`, \`--password\`, a header
with a reference), when their place does (a password in a URL), or when they look random. \`LOG_LEVEL=info\` is not.

A local server gets \`HTTP_PROXY\` and similar variables without user and password. Name the variable in \`inheritEnv\`, or set it in
\`env\`, for a server that has to log in to the proxy.

## Building on other files

\`extends\` names one or more files. Settings are merged field by field, servers by name, and tool rules are concatenated;
the file's own settings come first, then those of the last file it extends.

## Custom sources

A \`custom\` source is a YAML or JSON file of its own, and its tools can be found before the server ever ran:

\`\`\`yaml
servers:
  github:
    description: GitHub API integration
    connection: { type: stdio, command: npx, args: ['-y', '@modelcontextprotocol/server-github'] }
    tools:
      - { name: create_issue, description: Create a GitHub issue }
\`\`\`

\`servers\` may also be a list, and \`mcpServers\` as other clients write it is understood too.

## Servers of other clients

\`sources: [{ type: 'auto' }]\` takes the servers of every client on this machine; \`{ type: 'cursor' }\` those of one, from
all its usual places or from the file \`path\` names. Files are only read: nothing is started, and nothing is written.

- Variables stay references, in our own form; what a client keeps as text (\`\${X}\` in Claude Desktop) stays text. What VS
  Code asks for as \`\${input:my-key}\` comes from \`INPUT_MY_KEY\`. Shell commands and helpers that produce values are never
  run; such an entry is switched off, with a warning.
- What is disabled stays disabled. A client's lists of allowed and forbidden tools become rules for that server, behind
  your own \`toolRules\`.
- The same server in two clients is listed once, under the first name, and is enabled if one of them enables it. Two different
  servers of one name: the later is called \`cursor/name\`, or \`name-2\` when it comes from a custom file. The entry that
  starts this gateway is skipped.
- A file that came with a project (\`.mcp.json\`, \`.vscode/mcp.json\`, …) is listed; nothing of it is used before
  \`anygpt mcp trust\`.
- An \`mcpb\` source is the folder a bundle was unpacked to, or the \`.mcpb\` file beside that folder. What the bundle asks
  for comes from variables called after it: \`log_level\` of \`files\` is \`FILES_LOG_LEVEL\`.

A missing or broken source causes a warning; the other sources are used.
`;

const ENVIRONMENT = [
  ['ANYGPT_CONFIG', 'The configuration file.'],
  ['ANYGPT_HOME', 'The state folder, instead of `~/.anygpt`; an absolute path, others are ignored.'],
  ['ANYGPT_CACHE_DIR', 'Overrides `cache.dir`; an absolute path.'],
  ['ANYGPT_CACHE_TTL', 'Overrides `cache.ttl`, in seconds.'],
  [
    'ANYGPT_BAGGAGE',
    'Names of baggage entries that servers may see, separated by commas; none by default. Only with OpenTelemetry.',
  ],
  ['ANYGPT_TRUST_PROJECT', '`1` uses a project’s configuration without asking.'],
  [
    '<SERVER>_MCP_ENABLED',
    '`false` switches that server off. The name is upper-cased, every other character is `_`. Servers whose names give the same variable are all switched off, with a warning.',
  ],
  [
    '<SERVER>_MCP_TOKEN',
    "The bearer token of a remote server with `auth: 'env'`; else `MCP_AUTH_TOKEN`. Servers with `auth: 'env'` whose names give the same variable are sent none, with a warning.",
  ],
];

/** Renders a table for an object, then one for each nested object. */
function sections(path, shape) {
  const properties = Object.entries(isObject(shape.properties) ? shape.properties : {});
  if (properties.length === 0) return [];
  const required = new Set(Array.isArray(shape.required) ? shape.required : []);
  const rows = properties.map(([key, field]) => row(key, field, required.has(key)));
  const table = ['| key | type | default | |', '| --- | --- | --- | --- |', ...rows].join('\n');
  const inner = properties.flatMap(([key, field]) => innerSections(`${path}.${key}`, field));
  return [`## \`${path}\`\n\n${table}\n`, ...inner];
}

function innerSections(path, field) {
  if (isObject(field.items)) return innerSections(`${path}[]`, field.items);
  if (isObject(field.additionalProperties)) return innerSections(`${path}.<name>`, field.additionalProperties);
  if (!Array.isArray(field.oneOf)) return sections(path, field);
  return field.oneOf.flatMap((branch) => sections(`${path}\` with \`type: ${branchName(branch)}`, branch));
}

function branchName(branch) {
  const type = branch.properties.type;
  return typeName(type).replaceAll(' \\| ', ' or ');
}

function row(key, field, required) {
  const text = String(field.description ?? '').replaceAll('|', '\\|');
  return `| \`${key}\` | ${typeName(field)} | ${required ? '**required**' : defaultOf(field)} | ${text} |`;
}

function typeName(field) {
  if (typeof field.unit === 'string') return field.unit;
  if (Array.isArray(field.enum)) return field.enum.map((value) => `'${value}'`).join(' \\| ');
  if (field.const !== undefined) return `'${field.const}'`;
  if (isObject(field.items)) return `${typeName(field.items)}[]`;
  if (Array.isArray(field.anyOf)) return field.anyOf.map((branch) => typeName(branch)).join(' or ');
  if (isObject(field.additionalProperties))
    return `map of ${field.additionalProperties.type === 'string' ? 'strings' : 'objects'}`;
  return String(field.type ?? 'object');
}

function defaultOf({ default: value }) {
  if (value === undefined || isObject(value)) return '';
  if (typeof value === 'number') return value.toLocaleString('en-US');
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

const PLATFORMS = ['darwin', 'win32', 'linux'];

function sourceTable() {
  const world = { home: '~', cwd: '.', env: {} };
  const places = (type) => {
    const { user, former, system } = clientOf(type);
    return PLATFORMS.flatMap((platform) =>
      [user, former, system].flatMap((find) => find?.({ ...world, platform }) ?? []),
    );
  };
  const shown = (paths) => [...new Set(paths)].map((path) => `\`${path.replaceAll('\\', '/')}\``).join(', ') || '–';
  const rows = CLIENT_TYPES.map((type) => {
    const { title, project = [] } = clientOf(type);
    return `| \`${type}\` | ${title} | ${shown(places(type))} | ${shown(project)} |`;
  });
  const head =
    '| type | client | files of the user and of the system | files of a project |\n| --- | --- | --- | --- |';
  return `## Usual places of sources\n\n${head}\n${rows.join('\n')}\n`;
}

function environmentTable() {
  const rows = ENVIRONMENT.map(([name, text]) => `| \`${name}\` | ${text} |`);
  return `## Environment variables\n\n| variable | |\n| --- | --- |\n${rows.join('\n')}\n`;
}

const schema = z.toJSONSchema(discoverySchema, { io: 'input', unrepresentable: 'any' });
const text = [OPENING, ...sections('discovery', schema), sourceTable(), environmentTable()].join('\n');

if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (!existsSync(page) || readFileSync(page, 'utf8') !== text) {
  console.error('docs/configuration.md is out of date: npm run docs:config');
  process.exitCode = 1;
}
