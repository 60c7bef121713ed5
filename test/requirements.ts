/**
 * What the specification promises, as data: an id, the promise in one sentence, and the tests that prove it, by file and
 * by the beginning of their name. `requirements-reporter.ts` fails a run of the tests in which one was not proven.
 * @module
 */

/** A test: its file, and how its name begins. */
export type Proof = readonly [file: string, name: string];

export interface Requirement {
  readonly promise: string;
  readonly proofs: readonly Proof[];
}

const promise = (text: string, ...proofs: Proof[]): Requirement => ({ promise: text, proofs });

const APPROVED = 'src/engine/approved-tools.test.ts';
const REGISTERED = 'src/engine/guest-tools.test.ts';
const BY_RULE = 'src/engine/approved-by-rule.test.ts';
const APPROVED_ITEMS = 'src/engine/approved-items.test.ts';
const APPROVE = 'src/cli/commands/approve.test.ts';
const RUG_PULL = 'test/e2e/rug-pull.test.ts';
const LOADER = 'src/config/configuration-loader.test.ts';
const ENGINE = 'src/engine/discovery-engine.test.ts';
const DISCOVERY = 'src/catalog/discovery.test.ts';
const OWN_AND_SERVERS = 'test/e2e/own-tools-and-servers.test.ts';
const OWN_PROVIDERS = 'src/engine/own-providers.test.ts';
const ATTACHED_ENGINE = 'src/engine/attach-engine.test.ts';
const ONCE = 'test/e2e/at-most-once.test.ts';
const REFUSED = 'test/e2e/refused-tokens.test.ts';
const POOL = 'src/connections/connection-pool.test.ts';
const OPEN = 'src/connections/open-connection.test.ts';
const PINNED = 'src/gateway/pinned-tools.test.ts';
const TWO_USERS = 'src/engine/two-users.test.ts';
const TWO_USERS_PATHS = 'test/e2e/two-users-paths.test.ts';
const TWO_USERS_HTTP = 'test/e2e/two-users-http.test.ts';
const PROFILES = 'src/engine/profiles.test.ts';
const PROMISES = 'test/promises.test.ts';
const GATEWAYS = 'test/e2e/replicas.test.ts';
const REQUEST_RELAY = 'src/cluster/request-relay.test.ts';
const REDIS_LINK = 'src/cluster/redis-link.test.ts';
const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const PROXY = 'src/execution/tool-executor.test.ts';
const RULES = 'src/rules/decide.test.ts';
const PATTERNS = 'src/rules/pattern-matcher.test.ts';
const RUNNER = 'src/meta-tools/meta-tool-runner.test.ts';
const META = 'src/meta-tools/meta-tools.test.ts';
const LISTS = 'src/meta-tools/answers.test.ts';
const STDIO = 'src/gateway/serve-stdio.test.ts';
const LANE = 'src/gateway/stdio-lane.test.ts';
const SEVERAL = 'src/gateway/exposed-servers.test.ts';
const EXPOSED_PROFILES = 'src/gateway/exposed-profiles.test.ts';
const FAITHFUL = 'src/gateway/faithful-relay.test.ts';
const FRONT_DOOR = 'src/gateway/front-door.test.ts';
const PEOPLE = 'src/gateway/people-over-http.test.ts';
const DEPLOY = 'test/deploy.test.ts';
const TELEMETRY = 'test/e2e/telemetry.test.ts';
const SERVE = 'src/cli/commands/serve.test.ts';
const REPLICA_APPROVALS = 'src/engine/replica-approvals.test.ts';
const KINDS_OF_REDIS = 'src/cluster/kinds-of-redis.test.ts';
const REPLICA_CHANGES = 'test/e2e/replica-changes.test.ts';
const REPLICA_LOGINS = 'src/engine/replica-logins.test.ts';
const TOKEN_REPLICAS = 'src/cli/commands/token-replicas.test.ts';
const REPLICAS = 'src/engine/replicas.test.ts';
const TOKEN = 'src/cli/commands/token.test.ts';
const HTTP = 'src/gateway/serve-http.test.ts';
const BIN = 'src/cli/bin.test.ts';
const COMMANDS = 'src/cli/commands/commands.test.ts';
const COMMANDS_BIN = 'src/cli/commands/binary.test.ts';
const REAL = 'test/e2e/real-servers.test.ts';
const LIFE = 'test/e2e/lifecycle.test.ts';
const ADD_BUNDLE = 'src/cli/commands/add-bundle.test.ts';
const REGISTRY_NOTE = 'src/engine/registry-note.test.ts';
const REGISTRIES = 'src/mcp-registry/mcp-registries.test.ts';
const READ_SERVER = 'src/mcp-registry/read-server.test.ts';
const WAYS = 'src/mcp-registry/connection-ways.test.ts';
const ADD = 'src/cli/commands/add.test.ts';
const ENTRIES = 'src/cli/commands/server-entries.test.ts';
const SCAN = 'src/approvals/scan/scan-definition.test.ts';
const UNPACK = 'src/mcp-registry/unpack-bundle.test.ts';
const REGISTRY = 'src/agent/registry/tool-registry.test.ts';
const LIST_KEEPER = 'src/catalog/list-keeper.test.ts';
const REGISTRY_START = 'src/agent/registry/quick-start.test.ts';
const REGISTRY_SCOPE = 'src/agent/registry/request-scope.test.ts';
const REGISTRY_PROVIDERS = 'src/agent/registry/known-provider.test.ts';
const REGISTRY_ATTACH = 'src/agent/registry/attach.test.ts';
const REGISTRY_E2E = 'test/e2e/registry.test.ts';
const UNIFIED = 'src/agent/unified/unified-tool-registry.test.ts';
const UNIFIED_AC = 'src/agent/unified/acceptance.test.ts';
const ITEMS = 'src/engine/server-items.test.ts';
const READ_ITEMS = 'src/engine/read-items.test.ts';
const ITEM_COMMANDS = 'src/cli/commands/items.test.ts';
const SERVICE = 'src/service/discovery-service.test.ts';
const FROM_REGISTRY = 'src/service/registry-servers.test.ts';
const OUTPUTS = 'src/service/observe/outputs.test.ts';
const VALUES = 'src/service/observe/value-schema.test.ts';
const CONVERT = 'src/service/convert/convert.test.ts';
const INFER = 'src/service/infer/infer.test.ts';
const RTFS = 'src/service/rtfs/rtfs.test.ts';
const EXPORT = 'src/service/export/export.test.ts';
const EXPORT_COMMAND = 'src/cli/commands/export.test.ts';

const LOGINS = 'src/logins/logins.test.ts';
const LOGIN_SETTINGS = 'src/logins/login-settings.test.ts';
const LOGINS_E2E = 'test/e2e/logins.test.ts';

export const REQUIREMENTS: Readonly<Record<string, Requirement>> = {
  // 1. Names, files, configuration
  'names:bins': promise(
    '`discovery` without arguments serves on stdio, `anygpt` prints help, both take all commands',
    [BIN, 'discovery serves without arguments'],
    [BIN, 'discovery takes all commands'],
    [BIN, 'anygpt prints help'],
  ),
  'names:terminal': promise('On a terminal the server says on stderr what it is', [
    'src/cli/commands/serve.test.ts',
    'says on a terminal what it is',
  ]),
  'config:places': promise('The first file found wins: project, shared file, home, defaults', [
    LOADER,
    'takes the first of: own file, shared file, home, defaults',
  ]),
  'config:named': promise('--config and ANYGPT_CONFIG name a file directly', [LOADER, 'prefers a named file']),
  'config:extends': promise('A file may extend others', [LOADER, 'merges settings by field']),
  'config:paths': promise('Relative paths start at the folder of the configuration', [
    LOADER,
    'starts relative paths at the folder',
  ]),
  'config:kinds': promise('TypeScript, JavaScript, JSON and YAML load with nothing installed beside them', [
    LOADER,
    'loads .%s without anything installed',
  ]),
  'config:problems': promise(
    'All problems are reported at once, each with its path, and the exit code is 2',
    ['src/config/problems.test.ts', 'reports all problems at once'],
    [BIN, 'end with 2 and precise words'],
  ),
  'config:trust': promise(
    'A project’s configuration is not executed before a person has trusted it, and that is said',
    [BIN, 'do not run a configuration that came with a folder'],
    ['src/cli/commands/trust.test.ts', 'lets this folder’s configuration be used'],
  ),
  'config:trust-clients': promise(
    'A client’s file that came with a project is listed, and nothing of it runs before it is trusted as it is',
    ['src/cli/commands/trust.test.ts', 'is listed with what to type, runs only once it is trusted'],
    ['src/cli/commands/trust.test.ts', 'is every command line and address, and of variables only names'],
  ),
  'config:working-folder': promise(
    'Servers of the user’s own files start at home unless their entry says cwd; ${workspaceFolder} counts in a trusted folder',
    ['test/e2e/working-folder.test.ts', 'starts at home, so that files of a cloned folder do not stand in for its own'],
    ['test/e2e/working-folder.test.ts', 'is not looked for in the client’s folder by a search path'],
    [
      'test/e2e/working-folder.test.ts',
      'gets the client’s folder for ${workspaceFolder} once a person has trusted that folder',
    ],
    ['test/e2e/working-folder.test.ts', 'doctor and init point at arguments that meant the client’s folder'],
  ),
  'config:same-server': promise(
    'Two entries are one server only with the same program or address, arguments, environment and headers; else two, named apart',
    ['src/clients/importers/merge-clients.test.ts', 'is two servers when two entries of one name disagree in a value'],
    ['src/clients/importers/merge-clients.test.ts', 'never gets a value that stands in another entry'],
    ['src/cli/commands/init.test.ts', 'counts a server that two clients have once'],
  ),
  'config:large-files': promise(
    'A client’s own file may be large: it is read and edited within bounded memory, and hides nothing else',
    ['src/clients/importers/large-files.test.ts', 'gives its servers, and those of the project at hand'],
    ['src/clients/importers/large-files.test.ts', 'is installed into and left again to the byte'],
    ['src/clients/importers/large-files.test.ts', 'that is broken (%s) hides neither a project’s trusted servers'],
    ['src/clients/importers/large-files.test.ts', 'of 60 MB costs a few megabytes of memory'],
  ),
  'config:trust-reads-once': promise(
    'What was hashed is what is shown and what runs, whatever is written meanwhile; reaching a limit means not trusted',
    ['src/config/stranger-folder.test.ts', 'a racing writer never gets anything else to run'],
    ['src/config/stranger-folder.test.ts', 'what is shown to a person who is asked is what runs'],
    ['src/config/stranger-folder.test.ts', 'files beyond the cap are not trusted at all'],
    ['src/config/stranger-folder.test.ts', 'names the module that was refused'],
    ['src/config/stranger-folder.test.ts', 'an envFile and a ${file:…} of the project count with the content'],
    ['src/config/stranger-folder.test.ts', 'is never one outside that the project’s links lead to'],
    ['src/config/stranger-folder.test.ts', 'gives no variable that was not shown'],
    [
      'src/config/stranger-folder.test.ts',
      'is not the user’s own configuration because a link of the project leads there',
    ],
  ),
  'config:trust-silence': promise(
    'A folder that is not trusted runs nothing, reads nothing, says nothing, and costs next to nothing',
    ['src/config/stranger-folder.test.ts', 'costs next to nothing while it is not trusted'],
    ['src/config/stranger-folder.test.ts', 'says nothing of its own'],
    ['src/config/stranger-folder.test.ts', 'is expanded in nothing, and read nowhere but in the project'],
    ['src/config/stranger-folder.test.ts', 'is not the user’s own because a variable is relative'],
  ),
  'config:trust-shows': promise(
    'trust shows all that would happen, the most dangerous first, for every program that reads a file',
    ['src/cli/commands/trust.test.ts', 'with every variable that is read or sent'],
    ['src/cli/commands/trust.test.ts', 'for every program that reads the file, where they do not agree'],
    ['src/cli/commands/trust.test.ts', 'the most dangerous first, and counted where it is long'],
  ),
  'config:project-narrows': promise(
    'A project’s configuration can only add and narrow: no deny undone, no audit, log or cache moved, no limit widened',
    ['src/config/project-settings.test.ts', 'cannot switch off or move audit, log and cache'],
    ['src/config/project-settings.test.ts', 'makes limits smaller and never larger'],
    ['src/config/project-settings.test.ts', 'undoes no rule of the user’s'],
    ['src/config/project-settings.test.ts', 'takes no name, switches nothing on and opens nothing'],
    ['src/config/project-settings.test.ts', 'gets nothing of an entry that it builds on'],
  ),
  'config:compiled-copies': promise('Compiled copies of a configuration hold no secret that can be read', [
    'src/config/run-module.test.ts',
    'lie in folders of the user alone, and hold no secret that can be read',
  ]),
  'config:watch': promise('A watched file that says what it said before causes no reload', [
    'src/engine/watch-config.test.ts',
    'does not reload when a client changes what is not imported',
  ]),
  'config:watch-back': promise(
    'A configuration that vanishes and comes back is used again, however it is put back',
    ['src/engine/watch-config.test.ts', 'after it was found by search stays in force'],
    ['src/engine/watch-config.test.ts', 'with its folder is loaded again'],
    ['src/engine/watch-config.test.ts', 'by a rename is loaded'],
    ['src/engine/watch-config.test.ts', 'by another link is loaded'],
  ),
  'config:watch-half': promise(
    'A half-written configuration never takes effect',
    ['src/engine/watch-config.test.ts', 'never takes effect before its rules are written'],
    ['src/engine/watch-config.test.ts', 'never takes effect in part, even if the part is valid code'],
  ),
  'config:broken-start': promise(
    'A gateway whose configuration cannot be used starts, says so in its five tools, and heals',
    ['src/cli/commands/serve-broken.test.ts', 'starts anyway and says so in all five tools'],
    ['src/cli/commands/serve-broken.test.ts', 'works as soon as the file is mended'],
    ['src/cli/commands/serve-broken.test.ts', 'says so over HTTP'],
    ['src/cli/commands/serve-broken.test.ts', 'keeps exit code 2'],
  ),
  'config:overrides': promise('The environment overrides cache settings and switches servers off', [
    LOADER,
    'lets the environment override the cache',
  ]),
  'names:pair': promise('server:tool and server__tool are accepted wherever a pair is asked for', [
    ENGINE,
    'may be written server:tool or server__tool',
  ]),
  'config:entry': promise('The config entry loads nothing', [
    'test/architecture.test.ts',
    'lets a configuration file load in a blink',
  ]),

  // 2. Rules
  'rules:patterns': promise(
    'Globs, regular expressions and negations; one positive match and no negated one',
    [PATTERNS, 'one positive pattern is enough'],
    [PATTERNS, 'a negated pattern excludes wherever it stands'],
  ),
  'rules:order-inside': promise('The order inside a pattern list does not matter', [
    RULES,
    'the order of patterns inside a rule does not matter',
  ]),
  'rules:no-leak': promise('A server name never leaks into a plain pattern', [PATTERNS, 'never leaks into a plain']),
  'rules:first-match': promise('The first matching rule with enabled decides; tags add up', [
    RULES,
    'comes from the first matching rule that has enabled',
  ]),
  'rules:allow-list': promise('Any enabling rule switches to allow-list mode', [RULES, 'in allow-list mode disables']),
  'rules:deny-wins': promise('deny-wins lets any matching disable win', [RULES, 'with first-match lets an earlier']),
  'rules:shadowed': promise('Shadowed and dead rules are named with the tools concerned', [
    'src/rules/report.test.ts',
    'is named with its tools and the way out',
  ]),
  'rules:one-decision': promise('A disabled tool is out of reach on every path', [
    ENGINE,
    'cannot be reached by any path',
  ]),
  'rules:linear': promise('User patterns never stall the process', [PATTERNS, 'that would stall another engine']),

  // 3. Meta-tools
  'meta:five': promise(
    'Exactly five, in this order',
    [META, 'are these, in this order'],
    [REAL, 'sees exactly the five meta-tools'],
  ),
  'meta:parameters': promise('Parameters as specified', [META, 'have the parameters of the specification']),
  'meta:annotated': promise('Read-only hints on four of them', [META, 'are marked read-only']),
  'meta:always-loaded': promise(
    "Each of the five asks Claude's agents not to hide it behind their own tool search, and so do the two of a registry",
    [META, "ask clients not to hide them behind a tool search of the client's own"],
    [REGISTRY_ATTACH, 'the two tools are listed with their parameters, and say what can be found'],
  ),
  'meta:names-servers': promise(
    'search_tools names the servers, sorted, in at most 40 tokens, and changes only on reload',
    [META, 'name servers within 40 tokens'],
    [META, 'stay within 40 tokens of names'],
    [META, 'are the same text for the same servers, in whatever order those come'],
    [PROMISES, 'stays as it is while servers come, go and change, until a reload'],
    [STDIO, 'tells its client of a reload'],
  ),
  'answers:json': promise(
    'One text block of minified JSON, nothing empty in it',
    [LISTS, 'is one text block of minified JSON'],
    [LISTS, 'leaves out what is empty'],
  ),
  'search:shape': promise('Hits carry server, tool, summary, relevance and arguments', [
    RUNNER,
    'answers with server, tool, summary, relevance and arguments',
  ]),
  'search:limit': promise('At most ten, fewer where relevance falls off, as many as asked for', [
    'src/search/search-engine.test.ts',
    'shows at most ten, fewer where relevance falls off',
  ]),
  'search:exact': promise(
    'An exact name always gets a place',
    [PROMISES, 'archive_note always gets a slot'],
    [PROMISES, 'notes:archive_note always gets a slot'],
    [PROMISES, 'notes__archive_note always gets a slot'],
    ['src/search/search-engine.test.ts', 'gives each of several names a place'],
  ),
  'search:several': promise(
    'A request for several things is answered with a tool for each, in one call',
    ['src/search/acts.test.ts', 'is answered with the tools for nearly all of its parts'],
    ['src/search/acts.test.ts', 'has the best tool of each part among the first'],
  ),
  'search:concrete': promise('Concrete things in a request say what is meant', [
    'src/search/kinds.test.ts',
    'find their tools far more often than as mere values',
  ]),
  'search:languages': promise('The words of another language are read when the first request in it comes', [
    'src/search/shipped.test.ts',
    'are read when the first request in it comes',
  ]),
  'search:goal': promise('The act and its object both count: a tool for something else is not first', [
    'src/search/goal.test.ts',
    'is hardly ever first among the tools of a workplace',
  ]),
  'search:explain': promise(
    'An explanation shows the parts of a request, its concrete things, its language and its goal',
    ['src/cli/commands/commands.test.ts', 'explains what it read in a query'],
  ),
  'search:takeover': promise(
    'One server cannot take over search: what was first without it stays among the first three',
    ['src/search/takeover.property.test.ts', 'takes no honest tool from the first three'],
    ['src/search/takeover.property.test.ts', 'does not stand before a tool that is asked for by server and name'],
    ['src/search/takeover.property.test.ts', 'earns nothing by being said again in another field'],
  ),
  'search:look-alikes': promise('Only the exact name of a tool is relevance 1', [
    'src/search/takeover.property.test.ts',
    'that look like another',
  ]),
  'search:nothing': promise('Hits of relevance 0 are not shown', [
    'src/search/takeover.property.test.ts',
    'hits of relevance 0 are not shown',
  ]),
  'search:notes': promise(
    'Notes say what was not searched or was withheld',
    [RUNNER, 'says how many disabled tools were withheld'],
    ['test/e2e/bad-servers.test.ts', 'is found by the first search, which names those that are missing'],
  ),
  'search:unknown-server': promise('An unknown server is SERVER_NOT_FOUND', [RUNNER, 'refuses what it cannot use']),
  'details:shape': promise('Description, parameters and examples, types as short TypeScript', [
    RUNNER,
    'gives description, parameters and examples',
  ]),
  'details:examples': promise('Made-up examples are marked so', [
    'src/catalog/signature.test.ts',
    'are made up only where a required parameter is an object, and are marked',
  ]),
  'resources:listed': promise(
    'Resources, templates and prompts are listed over every transport and in both eras, page by page, within limits',
    [ITEMS, 'are listed over stdio, new era'],
    [ITEMS, 'are listed over stdio, old era'],
    [ITEMS, 'are listed over HTTP'],
    [ITEMS, 'are read page by page, up to a limit'],
    [ITEMS, 'are not asked for where a server does not announce them'],
    [ITEMS, 'are left out one by one where they cannot be used, with the reason in the log'],
  ),
  'resources:kept': promise(
    'They are cached and refreshed like tools; a list that fails loses none of the others',
    [ITEMS, 'that fail lose neither the tools nor the other lists, and keep what was known'],
    [ITEMS, 'are kept on disk and known to the next process without asking the server'],
    [ITEMS, 'are read again when a server of the new era says so'],
    [ITEMS, 'are read again when a server of the old era says so'],
  ),
  'resources:search': promise(
    'Search finds resources and prompts, says what they are and how to read them, and keeps tools in their places',
    [READ_ITEMS, 'finds resources, templates and prompts, says what they are and how to read them'],
    [READ_ITEMS, 'finds them after a restart without asking the server, and only where they are wanted'],
    ['src/catalog/server-items.test.ts', 'take free places, and that of one tool only if they fit better than all'],
    ['src/catalog/server-items.test.ts', 'never change which tools are found, or in which order'],
  ),
  'resources:read': promise(
    'read_resource of server anygpt reads through the whole pipeline',
    [READ_ITEMS, 'reads over stdio, new era'],
    [READ_ITEMS, 'reads over stdio, old era'],
    [READ_ITEMS, 'reads over HTTP, and what no list but a template names'],
    [READ_ITEMS, 'gives images as images, and several parts with their URIs'],
    [READ_ITEMS, 'says which server or resource there is not, and what is wrong with the arguments'],
    [READ_ITEMS, 'never asks a server that announced no resources'],
    [READ_ITEMS, 'cuts a large text into pages that read_result continues, and is ended by its timeout'],
    [READ_ITEMS, 'is recorded under the server that was asked, once'],
  ),
  'prompts:get': promise(
    'get_prompt of server anygpt fills a prompt in',
    [READ_ITEMS, 'fills a prompt in, in the new era'],
    [READ_ITEMS, 'fills a prompt in, in the old era'],
    [READ_ITEMS, 'refuses a prompt without a required argument before it is sent, and names the nearest prompt'],
  ),
  'resources:rules': promise(
    'Rules apply to resources and prompts in lists, searches and reads alike',
    [READ_ITEMS, 'hide what they deny from lists and searches, and refuse to read it in any spelling'],
    [READ_ITEMS, 'deny what a server whose tools are all denied has'],
    [READ_ITEMS, 'make an allow-list that names what may be read'],
    [RULES, 'of a resource or prompt'],
  ),
  'resources:expose': promise(
    '--expose shows resources, templates and prompts natively, without what rules disable, and passes on subscriptions',
    ['src/gateway/exposed-server.test.ts', 'relays prompts, resources and completions'],
    ['src/gateway/exposed-server.test.ts', 'leaves out resources and prompts that are disabled, and refuses to read'],
    ['src/gateway/exposed-resources.test.ts', 'are watched on a server started with --legacy-only'],
    ['src/gateway/exposed-resources.test.ts', 'are watched on a server started with --modern-only'],
    ['src/gateway/exposed-resources.test.ts', 'are watched on a server started with --http'],
    ['src/gateway/exposed-resources.test.ts', 'keep the answer of the server, and its errors'],
  ),
  'resources:commands': promise(
    'anygpt mcp resources, prompts and read, with the exit codes of the contract and documents of published schemas',
    [ITEM_COMMANDS, 'list what one server has, without what rules disable'],
    [ITEM_COMMANDS, 'list what all servers have, as documents of their schemas, and name servers that fail'],
    [ITEM_COMMANDS, 'prints the text alone, saves files, and gives a document of its schema'],
    [ITEM_COMMANDS, 'ends with the codes of the contract'],
  ),
  'details:large': promise(
    'A large schema is outlined first, and every part of it can be read',
    ['src/meta-tools/details-answer.test.ts', 'are an outline of at most about 1,500 tokens that says how to read on'],
    ['src/catalog/read-schema-tool.test.ts', 'leads to every part of any schema, in pages that are bounded'],
    [RUNNER, 'leads to the whole of what it cut, and never to a disabled tool'],
  ),
  'details:disabled': promise('A disabled tool is TOOL_DISABLED', [RUNNER, 'refuses disabled tools']),
  'execute:unchanged': promise(
    'What the server returned, unchanged',
    [RUNNER, 'hands back what the server returned, unchanged'],
    [REAL, 'gets images and structured content as the server sent them'],
  ),
  'execute:unknown-content': promise('An unknown content type becomes text that says so', [
    'src/execution/content.test.ts',
    'an unknown content type becomes text',
  ]),
  'execute:repairs': promise('Arguments as a string or one level too deep are repaired', [
    RUNNER,
    'takes arguments %s',
  ]),
  'execute:large': promise('A result over the limit is cut, kept and read on through anygpt:read_result', [
    PROXY,
    'a large result is read on to its end',
  ]),
  'messages:counted': promise(
    'A legal message with too many values is refused before it is parsed',
    ['test/e2e/floods.test.ts', 'with too many values is refused unread'],
    ['src/gateway/hostile-clients.test.ts', 'is refused unread over HTTP'],
    ['src/gateway/hostile-clients.test.ts', 'is refused unread on stdio'],
    ['src/connections/http/guarded-fetch.test.ts', 'is refused before it is parsed, as JSON and as an event'],
  ),
  'messages:turns': promise(
    'Large messages and floods leave the event loop to others',
    ['test/e2e/floods.test.ts', 'does not add up with others to a block of the loop'],
    ['test/e2e/floods.test.ts', 'leaves the loop to a neighbour'],
    ['src/connections/large-turns.test.ts', 'leaves most of the time to others'],
  ),
  'messages:unread': promise(
    'A client that asks and does not read has a bounded amount waiting for it',
    ['src/gateway/hostile-clients.test.ts', 'has at most a few megabytes waiting on stdio'],
    ['src/gateway/unread-answers.test.ts', 'drops clients that do not read'],
  ),
  'execute:progress': promise('Progress and cancellation pass through, both eras', [
    STDIO,
    'receives progress and can',
  ]),
  'execute:questions': promise(
    'Elicitation, sampling and roots reach the agent that made the call',
    [STDIO, 'is asked what a server behind us asks'],
    [POOL, 'puts every question of a real server of the old protocol to its own caller'],
  ),
  'lists:budget': promise(
    'Lists stay under 2,000 tokens',
    [LISTS, 'list_tools does, whatever tools are called'],
    [LISTS, 'list_mcp_servers does, whatever servers are called'],
  ),
  'lists:steps': promise(
    'Shorter summaries first, then names, then a count and the way to narrow down',
    [LISTS, 'shortens summaries first'],
    [LISTS, 'then as many names as fit'],
  ),

  // 4. Servers, discovery, caching
  'servers:counts': promise(
    'toolCount counts the tools that may be used, with the disabled beside them',
    [RUNNER, 'show every server, also one with a treacherous name'],
    [COMMANDS, 'with --json has the shape of list_mcp_servers'],
    ['src/cli/commands/stats.test.ts', 'counts tools that may be used'],
  ),
  'cache:hit-rate': promise('The hit rate of the cache is counted across gateways and shown by stats', [
    'src/cli/commands/stats.test.ts',
    'counts tools that may be used, with the disabled beside them, and shows how often the cache had the answer',
  ]),
  'cli:status-seen': promise('list --status reports what it saw, also of servers that were closed to make room', [
    COMMANDS,
    'with --status shows servers as healthy whose connection was closed',
  ]),
  'cache:damaged': promise('Damaged cache files are never shown', [
    'src/cache/file-store.test.ts',
    'never shows a value of which a single bit has changed',
  ]),
  'servers:remembered-failure': promise(
    'A server that could not be listed last time is remembered as such, named, and asked again in the background',
    ['src/engine/read-lists.test.ts', 'does not delay the first search of the next session'],
  ),
  'servers:one-retry': promise(
    'Searches, commands and probes wait through the retries of 429, 503, time-outs and resets',
    ['src/engine/read-lists.test.ts', 'is read by a command that waits'],
    ['src/engine/read-lists.test.ts', 'is found by the same search'],
    ['src/engine/read-lists.test.ts', 'passes a probe'],
  ),
  'servers:changes-paced': promise(
    'list_changed after every list costs one list in 30 s after the first minute, and the last change is not lost',
    [DISCOVERY, 'after every list costs one list in thirty seconds'],
    [DISCOVERY, 'that could not be followed makes the list old'],
  ),
  'servers:lazy': promise('Nothing starts before it is needed', [LIFE, 'starts no server before one is needed']),
  'servers:seen': promise('What is cached or configured is searched without waiting', [
    ENGINE,
    'lets the next engine search without starting anything',
  ]),
  'servers:first-lists': promise('A search waits a little for first lists and names the rest', [
    DISCOVERY,
    'are waited for with a timeout',
  ]),
  'servers:behind': promise('Old lists are refreshed behind an answer, two at a time', [
    DISCOVERY,
    'is refreshed in the background',
  ]),
  'servers:idle': promise('Idle connections close after five minutes and come back on use', [
    POOL,
    'closes what was idle for five minutes',
  ]),
  'servers:at-most-32': promise('The least recently used local server closes first', [
    POOL,
    'closes the local server that was idle longest',
  ]),
  'servers:transports': promise('stdio, Streamable HTTP, and SSE by falling back', [
    'src/connections/open-connection.test.ts',
    'that speaks nothing but SSE is reached by falling back',
  ]),
  'servers:revisions': promise(
    'Protocol 2024-11-05 to 2026-07-28 on both sides',
    ...REVISIONS.map((revision): Proof => [OPEN, `of revision ${revision} is understood`]),
    [OPEN, 'of protocol 2026-07-28 only is found out, and remembered next time'],
    ...REVISIONS.map((revision): Proof => [LIFE, `${revision} is served`]),
    [LIFE, '2026-07-28 is served'],
  ),
  'servers:stale': promise('Lists are old after their time to live and stale after a day', [
    DISCOVERY,
    'is old after the time to live and stale after a day',
  ]),
  'servers:list-changed': promise('A burst of list_changed costs at most two list requests', [
    DISCOVERY,
    'ten thousand times in a burst costs at most two',
  ]),
  'servers:parallel': promise('Discovery runs five at a time; one failure spoils no other', [
    DISCOVERY,
    'keeps the last good list and affects no other',
  ]),
  'servers:backoff': promise('The pause between connects to a failing server grows, and callers hear at once', [
    POOL,
    'grows the pause between connects',
  ]),
  'servers:discovery-rate': promise('Discovery asks a remote server ten times a second after a burst of twenty', [
    PROMISES,
    'asks one remote server at most ten times a second after a burst of twenty',
  ]),
  'servers:discovery-retry': promise('Discovery asks again after 429 and 503', [
    PROMISES,
    'asks again after 429 and 503, and waits as long as it is told',
  ]),
  'servers:auth-env': promise("An entry with auth: 'env' sends its own bearer, else the common one; no other does", [
    PROMISES,
    'sends the bearer of the server, else the common one, and to no other server',
  ]),
  'servers:enabled': promise(
    'enabled: false leaves no servers, or leaves one out',
    [PROMISES, 'at the top leaves no servers, and says why'],
    [PROMISES, 'of one server keeps it out of everything, and nothing starts it'],
  ),
  'execute:timeout': promise(
    'A silent call ends with the call time-out; five dead ones open the breaker; other servers go on',
    [PROMISES, 'costs its callers the call time-out, then five of them open the breaker, and others go on'],
    ['src/execution/steps/timeout.test.ts', 'progress keeps a call alive, but not beyond the ceiling'],
    ['src/execution/steps/breaker.test.ts', 'five dead calls open the breaker'],
  ),
  'audit:success': promise('A call that succeeded is recorded with names and hashes, without values', [
    PROMISES,
    'has a line for each call that succeeded, with names and hashes and no values',
  ]),
  'engine:classes': promise(
    'The classes, methods and errors of the engine specification are there and do what it says',
    [PROMISES, 'have the methods it names, and its errors their codes'],
    [PROMISES, 'give what it says: null for what is not there, never an exception'],
  ),
  'engine:caching-layer': promise(
    'CachingLayer keeps lists for their TTL and details until invalidated; the catalogue uses it',
    ['src/cache/caching-layer.test.ts', 'keeps lists for their time to live, in seconds'],
    ['src/cache/caching-layer.test.ts', 'invalidates one server, or everything'],
    ['src/catalog/catalog.test.ts', 'gives the same list of tools until it changes'],
  ),
  'engine:pattern-matcher': promise(
    'PatternMatcher matches globs, regular expressions and negations as the rules do',
    [PATTERNS, 'one positive pattern is enough'],
    [PATTERNS, 'regular expressions search inside the name and know their flags'],
    [PATTERNS, 'is chosen by name or glob'],
  ),
  'engine:metadata-manager': promise('ToolMetadataManager.applyRules takes rules as a configuration has them', [
    'src/catalog/tool-metadata-manager.test.ts',
    'lets rules decide anew and keeps the tags a tool brought along',
  ]),
  'engine:execution-proxy': promise(
    'A program makes a ToolExecutionProxy, connects to servers, calls their tools and disconnects',
    ['src/engine/tool-execution-proxy.test.ts', 'connects to a server that a program names'],
    ['src/engine/tool-execution-proxy.test.ts', 'streams a call: exactly one result at the end'],
  ),
  'servers:at-most-once': promise(
    'A call is executed at most once, whatever a server answers and wherever the connection breaks',
    [ONCE, 'whatever status and body a server answers with (%s)'],
    [ONCE, 'wherever the connection breaks (%s)'],
    [ONCE, 'and once also where the server was restarted and has forgotten us (%s)'],
    ['src/connections/http/remote-wire.test.ts', 'after a 401 with the challenge %s and %s in its body'],
    [REFUSED, 'a server that executes a call and then refuses its token gets it once (%s)'],
    [REFUSED, 'a token that ended since the last call is renewed, and its call made once ($kind, $hour)'],
  ),
  'servers:sent-again': promise(
    'A call that was sent more than once, although it may have been executed, says so in the audit log',
    ['src/execution/steps/retry.test.ts', 'a call whose first attempt ended %s has the flags %j when it is repeated'],
  ),
  'servers:renegotiated': promise('A server that speaks another revision than before is greeted anew', [
    'test/e2e/renegotiation.test.ts',
    'is greeted anew while we run: %s becomes %s',
  ]),
  'servers:answers-private': promise(
    'What one client tells a server serves no other client',
    ['test/e2e/answers-stay-private.test.ts', '%s and %s: each reads its own files and not those of the other'],
    ['test/e2e/answers-stay-private.test.ts', '%s: %s and %s: is kept from the other'],
  ),
  'servers:hung': promise(
    'A server that closed its stdout or hangs is started anew',
    ['test/e2e/hung-servers.test.ts', 'is given up when it closes its stdout and lives on'],
    ['test/e2e/hung-servers.test.ts', 'is started anew when it hangs, although calls keep coming'],
  ),
  'servers:clock': promise(
    'A clock that jumps keeps no server out and no list fresh',
    ['src/async/clock.test.ts', 'keeps no server out that failed before'],
    ['src/async/clock.test.ts', 'makes no list immortal, and swallows no change'],
  ),
  'servers:told-at-once': promise('What only a person can mend is told at once every time', [
    'test/e2e/told-at-once.test.ts',
    'is told as it is, at once, every time: %s',
  ]),
  'servers:slow-starters': promise('Slow starters make no other server wait', [
    'test/e2e/told-at-once.test.ts',
    'do not make another one wait, be they ever so many',
  ]),
  'servers:login': promise('A login that is needed is never retried', [POOL, 'does not try again when a login is']),
  'calls:repeat': promise('A call is repeated only if it was not sent or may be repeated', [
    'src/execution/steps/retry.test.ts',
    'a call with unknown outcome is repeated only if the tool may be',
  ]),
  'secrets:environment': promise('A child gets the allow-list and what its entry names, nothing else', [
    'src/connections/stdio/child-environment.test.ts',
    'lets a child see the allow-list',
  ]),
  'secrets:nowhere': promise(
    'Secrets are in no error, log, audit line or cache file',
    ['src/secrets/secrets.test.ts', 'that a living server repeats is in no error'],
    ['test/e2e/canaries.test.ts', 'no canary of a configuration is in anything the gateway wrote'],
    ['src/secrets/secrets.test.ts', 'that is rotated is known from the moment it is used, and so is the old one'],
  ),
  'secrets:cut': promise('Secrets are taken out before a text is cut', [
    'src/secrets/redactor.test.ts',
    'no piece of a secret survives a cut',
  ]),
  'secrets:hidden': promise('Invisible characters hide no secret, whatever cleans the text afterwards', [
    'src/secrets/seen-spans.test.ts',
    'is not put together again by whatever cleans the text afterwards',
  ]),
  'secrets:advice': promise('Names of variables in our own advice stay readable', [
    'src/secrets/credential-patterns.test.ts',
    'GITHUB_TOKEN is not set',
  ]),
  'secrets:names': promise('Names, keys and enums are never masked; ordinary words are no secrets', [
    'src/secrets/redact-data.test.ts',
    'environment values that are ordinary words leave every definition as it is',
  ]),
  'secrets:words': promise('Credentials in the words of a server are masked in errors, stderr and logs', [
    'src/secrets/credential-patterns.test.ts',
    'takes only credentials out of what a tool says went wrong',
  ]),
  'secrets:proxy': promise('The password of a proxy goes to no child whose entry does not name the variable', [
    'src/connections/stdio/child-environment.test.ts',
    'hands on the address of a proxy without its password',
  ]),
  'servers:switched-off': promise('A server can be switched off by its entry or the environment', [
    ENGINE,
    'is one server, by its entry or by the environment',
  ]),

  // 5. Errors
  'errors:nearest': promise('Unknown names carry the nearest real ones', [ENGINE, 'that do not exist get the nearest']),
  'errors:arguments': promise(
    'Bad arguments carry path and schema, and nothing was sent',
    ['src/execution/steps/validate.test.ts', 'bad arguments are refused with path, schema and suggestion'],
    [RUNNER, 'says what is wrong with arguments'],
  ),
  'errors:shape': promise('A failure is isError with success, code and message', [
    LISTS,
    'is marked as an error and has the shape of the contract',
  ]),
  'errors:recorded': promise(
    'Every refusal has its code and is recorded once',
    [PROXY, 'every refusal has its code'],
    ['test/e2e/refusals.test.ts', 'before anybody looks for its tool is in the audit log, once'],
    [COMMANDS, 'records every refused call, whatever form its arguments had'],
  ),
  'audit:before-sent': promise('With failClosed no call is sent that the audit log does not have', [
    'src/engine/engine-execution.test.ts',
    'has a line for each call before it is sent, with failClosed',
  ]),
  'audit:not-washed-away': promise(
    'Refused calls and calls of one tool cannot push other calls out of the audit log; what is dropped is counted',
    ['src/audit/retention.test.ts', 'of one tool is folded into a few lines that say how many there were'],
    ['src/audit/retention.test.ts', 'of different names leaves the calls that were made'],
    ['src/audit/retention.test.ts', 'of one tool leaves those of others on record, and counts what had to go'],
    ['src/audit/retention.test.ts', 'removes files that are older than so many days, and counts their records'],
  ),
  'errors:slips': promise('A misspelt argument of a meta-tool is told what was meant', [
    'src/meta-tools/misspelt-argument.test.ts',
    '%s with %j: did you mean',
  ]),
  'errors:never-throws': promise('Nothing an agent does throws', [PROXY, 'never throws, whatever is handed in throws']),

  // 6. Command line
  'cli:exit-codes': promise(
    'Exit codes 0 to 4 of every command, through the real binary',
    [COMMANDS_BIN, '%i with the document %s for %j'],
    [COMMANDS_BIN, 'are 2 for a configuration that is wrong'],
    ['src/cli/text.test.ts', 'say which kind of failure it was'],
  ),
  'cli:json': promise(
    '--json prints one document in its published shape and nothing else',
    [COMMANDS_BIN, '%i with the document %s for %j'],
    [COMMANDS_BIN, 'a configuration that prints does not spoil stdout'],
  ),
  'cli:blocks': promise(
    'The output blocks of the specification are on stdout, everything else on stderr',
    [COMMANDS, 'with --status says what is true now'],
    [COMMANDS, 'prints hits as specified and everything else on stderr'],
    [COMMANDS, 'lists what is enabled, with --all also what is not'],
    [COMMANDS, 'prints description, parameters and examples as specified'],
    [COMMANDS, 'show prints the block of the specification'],
    [COMMANDS_BIN, 'prints the blocks of the specification on stdout'],
  ),
  'cli:wait': promise(
    'A one-shot command waits for first lists, and for nothing that was seen',
    [COMMANDS_BIN, 'waits for servers without a list'],
    [COMMANDS_BIN, 'starts no server, and --offline never does'],
  ),
  'cli:arguments': promise(
    'Arguments come as JSON, from a file, from stdin, and as pairs typed by the schema',
    [COMMANDS_BIN, 'takes arguments from a file and from stdin'],
    ['src/cli/args-from-pairs.test.ts', 'are typed by the schema'],
  ),
  'cli:result': promise(
    'execute --json has the structured content, else the text as JSON, else the text, else the blocks',
    ['src/cli/text.test.ts', 'is the structured content, else the one text as JSON'],
  ),
  'cli:reload': promise('config reload validates and tells running gateways of the same home', [
    COMMANDS_BIN,
    'config reload touches the stamp',
  ]),
  'cli:terminal': promise(
    'Colour and progress only on a terminal, NO_COLOR honoured, Ctrl-C ends everything',
    ['src/cli/text.test.ts', 'is coloured only on a terminal'],
    [COMMANDS, 'shows progress and colour on a terminal'],
    [COMMANDS_BIN, 'Ctrl-C ends it and everything it started'],
    [COMMANDS_BIN, 'a reader that leaves early is no error'],
  ),
  'cli:light': promise(
    'Help loads no engine, a warm search no connection, execution or SDK',
    [COMMANDS_BIN, 'is next to nothing for help'],
    [COMMANDS_BIN, 'is no connection, no execution and no SDK'],
  ),
  'cli:init': promise(
    'init finds the clients of this machine, writes a configuration that uses them, overwrites and starts nothing',
    ['src/cli/commands/init.test.ts', 'shows what the clients of this machine have'],
    ['src/cli/commands/init.test.ts', 'never overwrites'],
    ['src/cli/commands/init.test.ts', 'copies servers with their references and filters, and never a secret'],
  ),
  'cli:install': promise(
    'install adds one entry to any client’s file and nothing else; uninstall leaves every file as it was, to the byte',
    ['src/clients/installers/round-trip.test.ts', 'leaves the same bytes'],
    ['src/clients/installers/edit-text.test.ts', 'whatever the layout: only our entry comes'],
    ['src/clients/installers/plan-install.test.ts', 'keeps what a person changed meanwhile, to the byte'],
    ['src/clients/installers/plan-install.test.ts', 'into the existing file of every client'],
    ['src/clients/installers/plan-install.test.ts', 'leaves a file alone that another program wrote meanwhile'],
    ['src/cli/commands/install.test.ts', '--dry-run shows the change without secrets and writes nothing'],
    [
      'src/cli/commands/install.test.ts',
      '--all does all it finds and says what became of each; a failure spoils none of the others',
    ],
  ),
  'cli:install-entry': promise(
    'What install writes starts this program, whatever is in the folder a client works in',
    [
      'test/e2e/installed-entry.test.ts',
      'starts this program by full paths, and nothing of the folder a client works in',
    ],
    ['test/e2e/installed-entry.test.ts', 'reaches an address by this program, too'],
    ['test/e2e/installed-entry.test.ts', 'names a copy in the state folder where the program runs from a cache'],
    ['test/e2e/installed-entry.test.ts', 'of an earlier version, through npx, is known as ours'],
  ),
  'cli:take-over': promise(
    'install --take-over moves a client’s servers behind the gateway, copies no secret, and uninstall gives them back',
    ['src/clients/installers/plan-install.test.ts', 'moves servers behind the gateway without copying a secret'],
    ['src/clients/installers/plan-install.test.ts', 'leaves with the client what the gateway could not run'],
    ['test/e2e/installed-entry.test.ts', 'moves servers that ask for a login and says which'],
  ),
  'cli:completion': promise(
    'bash, zsh and fish complete commands, options, servers and tools, and run nothing that a name holds',
    ['src/cli/commands/completion.test.ts', 'completes commands, options, servers, tools and files'],
    ['src/cli/commands/completion.test.ts', 'escapes names from outside and runs nothing in them'],
  ),
  'cli:logs': promise(
    'logs shows what the last run of a server wrote, without secrets',
    ['src/cli/commands/logs.test.ts', 'shows what the last run wrote'],
    ['src/engine/server-logs.test.ts', 'stays small, however much a server writes'],
  ),
  'cli:doctor': promise(
    'doctor says of every source and server what is wrong and the one thing to do, with an exit code for scripts',
    ['src/cli/commands/doctor.test.ts', 'says what is wrong with each server and the one thing to do'],
    ['src/cli/commands/doctor.test.ts', 'is 2 for a source that is broken'],
    ['src/cli/commands/doctor.test.ts', 'keeps stdout to the report and ends with 0, 2 or 3'],
  ),
  'cli:stats': promise(
    'stats sets what all definitions would cost against the five meta-tools, and sums the audit log up',
    ['src/cli/commands/stats.test.ts', 'sets all definitions, those rules would hide included'],
    ['src/cli/commands/stats.test.ts', 'adds calls, errors and times from the audit log'],
  ),
  'cli:eval': promise(
    'eval measures recall, nDCG, MRR, tokens and time on the tools and queries of the user, and says what was missed and why',
    ['src/cli/commands/eval.test.ts', 'measures search on the tools that are there'],
    ['src/cli/commands/eval.test.ts', 'lists what was missed and why'],
    ['src/cli/commands/eval.test.ts', 'with --json prints everything as one document'],
  ),
  'search:embedder': promise(
    'An OpenAI-compatible or Ollama service can be switched in; its vectors are checked and kept on disk by content',
    ['src/embeddings/services.test.ts', 'gives one vector for each text, in order'],
    ['src/embeddings/services.test.ts', 'gives vectors that the check refuses when it sends %s'],
    ['src/embeddings/embedding-index.test.ts', 'serve the next process without a request for any tool'],
    ['src/embeddings/embedding-index.test.ts', 'are used for texts that stayed the same'],
    ['src/engine/engine-embeddings.test.ts', 'takes an embedder from the program'],
  ),
  'search:embedder-down': promise(
    'Search answers as without an embedder while that is down, and does not wait for it again and again',
    ['src/engine/engine-embeddings.test.ts', 'answers like one without an embedder while the service is down'],
    ['src/embeddings/embedding-index.test.ts', 'and answers nothing (%s) is waited for a moment'],
    ['src/embeddings/embedding-index.test.ts', 'gives no vectors: %s; that is said once, and it is left alone'],
  ),
  'search:bench': promise(
    'bench:search sets our ranker, minisearch, plain BM25 and each arm side by side on given tools and queries',
    ['test/bench-search.test.ts', 'sets every ranker side by side on the files it is given'],
  ),
  'cli:lint': promise(
    'lint finds definitions that APIs refuse, agents stumble over or people should read first',
    ['src/cli/commands/lint.test.ts', 'shows errors and warnings by server and rule'],
    ['src/lint/lint-tools.test.ts', 'is looked at without falling over'],
  ),

  // 7. Library: ToolRegistry
  'registry:quick-start': promise(
    'The quick start of the first seed works as it is written there',
    [REGISTRY_START, 'lists tool_search and execute_tool, not the tools behind them'],
    [REGISTRY_START, 'finds a tool with its full input schema'],
    [REGISTRY_START, 'executes a hidden tool'],
    [REGISTRY_START, 'are searched and called like registered tools'],
    [REGISTRY_START, 'of one request are added by middleware, and seen by that request only'],
    [REGISTRY_START, 'include other registries'],
  ),
  'registry:levels': promise(
    'Scores keep the levels of the first seed as floors; 10 results unless told otherwise',
    [REGISTRY_START, '%s: %s scores at least %d'],
    [REGISTRY_START, 'finds what is misspelt, by likeness'],
    [REGISTRY_START, 'gives 10 results unless told otherwise'],
    [REGISTRY, 'gives one line of parameters when a compact answer is asked for'],
  ),
  'registry:schemas': promise(
    'Schemas of zod, valibot and arktype are converted by their own export, which is asked for clearly where it is missing',
    [REGISTRY, 'of %s becomes the input schema and checks the arguments'],
    [REGISTRY, 'that cannot be written as JSON Schema is refused with a way to fix it'],
    [REGISTRY, 'for output is listed, and results that break it become errors'],
  ),
  'registry:handlers': promise(
    'What a handler throws becomes an error result',
    [REGISTRY, 'that throws, rejects or returns what has no JSON gives an error result'],
    [REGISTRY, 'may throw anything at all'],
    [REGISTRY, 'may return an error'],
  ),
  'registry:request-scope': promise(
    'Of 1,000 concurrent requests with providers of their own, none sees a tool, result or hit of another',
    [REGISTRY_SCOPE, 'never cross over in 1,000 concurrent requests'],
    [REGISTRY_SCOPE, 'do not get into the lists of shared providers'],
    [REGISTRY_SCOPE, 'never replace registered or shared tools'],
  ),
  'registry:providers': promise(
    'Providers that are slow, fail or list thousands of tools are bounded, cached and isolated',
    [REGISTRY_PROVIDERS, 'is read on first use, once for all callers at the same time, and cached'],
    [REGISTRY_PROVIDERS, 'is refreshed in the background once it is five minutes old'],
    [REGISTRY_PROVIDERS, 'is read again after invalidate, and when the revision changes'],
    [REGISTRY_PROVIDERS, 'by failing: the others are searched, and a note says so'],
    [REGISTRY_PROVIDERS, 'by being slow: a search waits a moment, answers without it, and has it later'],
    [REGISTRY_PROVIDERS, 'by never answering: listing, describing and calling all come to an end'],
    [REGISTRY_PROVIDERS, 'by listing too many tools or too much text'],
    [REGISTRY_PROVIDERS, 'with thousands of tools: they are searched like any others'],
  ),
  'registry:attach': promise(
    'A registry goes on McpServer and Server of both SDK versions, on stdio and HTTP, with real clients of both',
    [REGISTRY_E2E, 'finds, lists and runs tools over stdio, and tells when the list changed'],
    [REGISTRY_E2E, 'finds, lists and runs tools over HTTP, with tools of its own for each user'],
    [REGISTRY_E2E, 'reaches the handler on %s'],
    [REGISTRY_ATTACH, 'all tools are listed in the mode for clients that search themselves'],
    [REGISTRY_ATTACH, 'stand beside those of the registry and win if names are equal (version 1)'],
    [REGISTRY_ATTACH, 'stand beside those of the registry and win if names are equal (version 2)'],
    [REGISTRY_ATTACH, 'has changed when visible tools of providers come and go, and then only'],
  ),
  'registry:register': promise(
    'registerTool(name, options, handler) gives a handle that updates, disables and removes; raw JSON Schema types arguments',
    [REGISTRY, 'replaces the given fields of a tool, and nothing else'],
    [REGISTRY, 'replaces name, schema and handler in one step'],
    [REGISTRY, 'hides a tool while it is disabled, and keeps its name'],
    [REGISTRY, 'removes a tool for good, and another tool of that name is not its own'],
    [REGISTRY, 'changes nothing where the change is refused'],
    ['src/agent/unified/types.test.ts', 'a handler gets the types of its schema'],
  ),
  'registry:growth': promise('Taking in n servers, providers or tools costs n times one', [
    'test/growth.test.ts',
    'eight times as many servers, providers, tools or changes are about eight times the work',
  ]),
  'lists:keeper': promise(
    'One list keeper reads once for all callers, keeps to a TTL, backs off after failures and bounds the wait',
    [LIST_KEEPER, 'is read once however many callers ask, and again after its TTL'],
    [LIST_KEEPER, 'that cannot be read is asked for again after pauses that double, until it is invalidated'],
    [LIST_KEEPER, 'wait for a first list for a while, and never for one that is only stale'],
  ),
  'registry:types': promise('Wrong handlers, providers and options do not compile', [
    PROMISES,
    'are checked by the compiler: every use that is marked as wrong is an error without the mark',
  ]),
  'registry:import': promise('Importing the registry alone loads neither transports nor the MCP SDK', [
    'test/registry-import.test.ts',
    'loads neither transports nor the MCP SDK',
  ]),

  // The front door
  'text:nothing-hidden': promise(
    'What a server writes hides nothing in our answers and on the command line, and can be called by what was shown',
    ['src/meta-tools/hidden-text.test.ts', 'is all to be seen in the answer of %s %j'],
    ['src/meta-tools/hidden-text.test.ts', 'is all to be seen on the command line: %s %s %s %s'],
    ['src/meta-tools/hidden-text.test.ts', 'can be called by what was shown, and by what is meant'],
    ['src/meta-tools/hidden-text.test.ts', 'comes through untouched where it is a result'],
  ),
  'logs:not-forged': promise('A server cannot write log lines that look like ours', [
    'src/engine/server-logs.test.ts',
    'cannot be taken for our own lines, whatever a server writes',
  ]),
  'rules:look-alikes': promise(
    'A name that only looks like a denied one is denied, too, and an allow is never widened by looks',
    [RULES, 'are no way around %j'],
    [RULES, 'are not opened by a rule that allows the plain one'],
    [RULES, 'hold for every name: adding a deny for its plain form always denies it'],
    ['src/connections/tool-list.test.ts', 'are left out: %j'],
  ),
  'rules:colon': promise('A tool whose own name has a colon can be denied by its name', [
    RULES,
    'is denied by its name, by server and name, and by globs of either',
  ]),
  'servers:shared-variables': promise(
    'Servers whose names give the same environment variable do not share a token, and that is said',
    ['src/config/shared-variables.test.ts', 'get no token of the other, and that is said'],
    ['src/config/shared-variables.test.ts', 'are all switched off by it, and that is said'],
  ),
  'front:malformed': promise(
    'Malformed input is answered properly and the connection stays usable',
    [LANE, 'answers what is not JSON-RPC with an error and goes on'],
    ['test/e2e/refusals.test.ts', '%s is refused in words'],
    [HTTP, 'answers malformed bodies with 4xx'],
  ),
  'front:id-in-use': promise('An id that is still in use is refused', [LANE, 'refuses an id that is still in use']),
  'front:rebinding': promise('Foreign Host and Origin headers are refused on every path', [
    HTTP,
    'refuses %o on every',
  ]),
  'front:sessions': promise(
    'An unknown session is 404, and sessions that clients left make room',
    [HTTP, 'are unknown once ended'],
    [HTTP, 'that clients abandoned make room for new ones, the least recently used first'],
    [HTTP, 'in use stay, and new ones are refused only if all are in use'],
  ),
  'front:fair': promise(
    'One client on HTTP cannot take the room of others, with sessions or without',
    [HTTP, 'do not wait for the calls of another one, though both have the same name'],
    [HTTP, 'of a client that keeps them all open leave room for another client'],
    ['src/execution/steps/concurrency.test.ts', 'clients of one name share a quarter of all calls'],
  ),
  'front:checked-first': promise(
    'Nothing starts before head and body of a request are checked; what is not ours is 4xx',
    [HTTP, 'is %i and opens nothing: %j'],
    [HTTP, 'is told which methods there are: %s'],
  ),
  'front:parked': promise('Only the caller’s own answer resumes a parked call', [
    'src/gateway/parked-calls.test.ts',
    'refuses answers of another caller, second answers, and answers to no question',
  ]),
  'front:stdout': promise('Only JSON-RPC on stdout, also when a configuration prints', [LIFE, 'stays clean when a']),
  'front:end': promise('The end of input ends the process and its children', [LIFE, 'comes with the end of input']),
  'front:expose': promise(
    'One server 1:1, rules included: tools, prompts, resources and progress, over stdio and HTTP, old and new',
    ['test/e2e/expose.test.ts', 'shows its tools under their own names, without the disabled one'],
    ['test/e2e/expose.test.ts', 'calls them, and refuses the disabled and the unknown'],
    ['test/e2e/expose.test.ts', 'shows its prompts, resources and templates'],
    ['test/e2e/expose.test.ts', 'hears progress'],
    ['src/gateway/exposed-server.test.ts', 'says over HTTP why it cannot be shown to a %s client'],
  ),
  'front:several': promise(
    'Several servers under their own names, instead of the five tools',
    [SEVERAL, 'have tools, prompts and resources that say whose they are'],
    [SEVERAL, 'are called and read where they belong'],
    [SEVERAL, 'link resources that can be read'],
    [SEVERAL, 'may ask the client'],
    [SEVERAL, 'that have the same app are told apart by an error, never by the wrong content'],
    [SEVERAL, 'announce changes of their resources'],
    [SEVERAL, 'join no subscription of a client to that of somebody whose profile has more'],
    ['src/gateway/exposed-names.test.ts', 'lead back to the server and its own name'],
    ['src/gateway/exposed-names.test.ts', 'wrap URIs so that they lead back, too'],
  ),
  'front:faithful': promise(
    'A relayed client sees what it would see directly: its own tools in the order of the server, changes, log messages, questions, headers, null',
    [FAITHFUL, "sees the server's own tools in the server's order, and those for its capabilities"],
    [FAITHFUL, 'is told only what is relayed'],
    [FAITHFUL, 'is asked inside resources/read and prompts/get'],
    [FAITHFUL, 'hears of changed tools, prompts and resources during a call'],
    [
      FAITHFUL,
      'hears log messages during a call at the level it has set, and a modern client that set none hears nothing',
    ],
    [FAITHFUL, 'sends an explicit null'],
    [FAITHFUL, 'starts one process, whatever it does'],
    [FAITHFUL, 'starts one process over HTTP, too, if it is legacy'],
    [FAITHFUL, 'gets an error of JSON-RPC for a tampered requestState'],
    [FAITHFUL, 'cannot use tasks, which are not announced'],
    [FAITHFUL, 'no header'],
    [FAITHFUL, 'a resource link of a result can be followed'],
    ['src/connections/version-retry.test.ts', 'that names our version is followed by the same request'],
  ),

  // 7. Library: one registry for an agent loop
  'unified:lazy': promise(
    'Enabled servers are registered but not connected (AC1)',
    [UNIFIED_AC, 'starts no process and sends no request before a tool is needed'],
    ['src/agent/unified/imports.test.ts', 'loads no engine, no transport and no MCP SDK'],
  ),
  'unified:ttl': promise(
    'Discovery runs when tools are first needed and holds for five minutes (AC2)',
    [UNIFIED_AC, 'discovers a server with the first call'],
    [UNIFIED_AC, 'reads a list again after five minutes and not before'],
  ),
  'unified:definitions': promise(
    'getToolDefinitions merges static and MCP tools, in Anthropic format and in others, sorted by name (AC3)',
    [UNIFIED_AC, 'sorts them by name and gives each'],
    ['src/agent/unified/definitions.test.ts', 'writes each format, synchronously'],
    [UNIFIED, 'gives the same output whatever the order'],
  ),
  'unified:routing': promise(
    'A name with a server prefix is routed to the right server (AC4)',
    [UNIFIED_AC, 'calls the tool on the server that the name says'],
    [UNIFIED_AC, 'routes to a real child process'],
  ),
  'unified:failure': promise(
    'A failed discovery keeps the cached tools and is a failed result (AC5)',
    [UNIFIED_AC, 'returns a failure that names the server, and keeps'],
    [UNIFIED, 'keeps the tools of a server that fails by itself'],
    [UNIFIED, 'keeps one server from spoiling the others'],
  ),
  'unified:disable': promise(
    'A disabled server loses its tools on the next refresh (AC6)',
    [UNIFIED_AC, 'by the environment, whatever is still fresh'],
    [UNIFIED_AC, 'by the configuration of an engine that is reloaded'],
  ),
  'unified:results': promise(
    'Whatever fails returns a ToolResult with one of four codes (AC7)',
    [UNIFIED_AC, '%s'],
    ['src/agent/unified/tool-error.test.ts', 'stand for all of ours, and each is used'],
  ),
  'unified:names': promise(
    'server__tool splits at the first __; malformed names are rejected; a static tool wins',
    ['src/agent/unified/tool-error.test.ts', 'splits %s at the first'],
    ['src/agent/unified/tool-error.test.ts', 'rejects %j'],
    [UNIFIED, 'excludes an MCP tool whose name a static tool has'],
  ),
  'unified:env': promise('The environment makes servers only for the names a program lists', [
    UNIFIED,
    'are made for the names that are listed',
  ]),
  'unified:logs': promise(
    'Five events with their trace, and nothing of a person',
    [UNIFIED, 'tell the five events, each with its trace'],
    [UNIFIED, 'hold no arguments and no results'],
  ),
  'unified:unavailable': promise(
    'A discovery that fails is TOOL_UNAVAILABLE whenever it happens, and is asked again; other servers are not',
    [UNIFIED, 'is TOOL_UNAVAILABLE when a server %s, and asks again at once'],
    [UNIFIED, 'is TOOL_UNAVAILABLE when a server answers HTTP 500'],
    [UNIFIED, 'is TOOL_UNAVAILABLE when a list is none or incomplete'],
    [UNIFIED, 'reads no other server again when one is switched off'],
  ),
  'unified:engine': promise(
    'Static tools go through the rules, validation and audit log of a given engine, and stay private to the registry',
    [UNIFIED, 'static tools obey them, and those that may not be used are not shown'],
    [UNIFIED, 'static tools go through its validation and get the trace'],
    [UNIFIED, 'calls of static tools are in its audit log'],
    [UNIFIED, 'end after their time, and the handler is told'],
  ),
  'unified:words': promise('No text names a meta-tool to a model that has none', [
    UNIFIED,
    'no text names a tool that the model was not given',
  ]),
  'unified:single-flight': promise('Discoveries at the same time read each list once', [
    UNIFIED,
    'asks a real server once for many discoveries',
  ]),

  // 7. Formats of LLM APIs
  'formats:names': promise(
    'Names are legal and unique for every API, lead back, and do not depend on the order of the tools',
    ['src/agent/formats/names.test.ts', 'are legal, unique and lead back'],
    ['src/agent/formats/names.test.ts', 'do not depend on the order'],
  ),
  'formats:rules': promise(
    'Definitions keep the published rules of each API, whatever the schema',
    ['src/agent/formats/definitions.property.test.ts', 'takes every definition'],
    ['src/agent/formats/definitions.property.test.ts', 'finds nothing to change'],
    ['src/agent/formats/definitions.property.test.ts', 'are bounded: %s'],
  ),
  'formats:strict': promise(
    'Strict mode falls back tool by tool, and arguments come back as the tool wants them',
    ['src/agent/formats/make-schema.test.ts', 'for Anthropic also where a request is full'],
    ['src/agent/formats/definitions.property.test.ts', 'that a strict schema takes come back'],
  ),
  'formats:tool-search': promise('Anthropic gets defer_loading and tool_reference blocks, OpenAI namespaces', [
    'src/agent/formats/to-definitions.test.ts',
    'of Anthropic gets references to deferred tools',
  ]),
  'formats:meta-tools': promise('The five meta-tools are plain definitions with one handle(toolCall)', [
    'src/engine/agent-tools.test.ts',
    'answer a call in the shape of the API that made it',
  ]),
  'formats:results': promise('Results lose nothing in silence', [
    'src/agent/formats/tool-result.test.ts',
    'never throw, and lose no text',
  ]),

  // One port for tools: own tools and servers in one engine
  'port:loop': promise(
    'Own tools, servers and meta-tools are offered and answered by one engine, in every format and mode',
    [OWN_AND_SERVERS, 'are found and called through the meta-tools'],
    [OWN_AND_SERVERS, 'are called by the names they are shown under'],
    [OWN_AND_SERVERS, 'are hidden behind the search where they are many'],
    [OWN_AND_SERVERS, 'are all shown while they are few'],
  ),
  'port:pipeline': promise(
    'Own tools go through rules, validation, limits and audit like those of servers',
    [OWN_AND_SERVERS, 'answer what cannot be called with an error'],
    [OWN_AND_SERVERS, 'are in the audit log alike'],
    [OWN_PROVIDERS, 'is a source like a server'],
    [OWN_PROVIDERS, 'is subject to rules like a server'],
  ),
  'port:engine': promise('An engine is a provider of another engine', [OWN_AND_SERVERS, 'stand behind another engine']),
  'port:names': promise(
    'Providers are named apart from servers and each other; names of meta-tools are reserved',
    [OWN_PROVIDERS, 'keeps its own name, unless'],
    [OWN_PROVIDERS, 'never shares its name with another source'],
    [OWN_PROVIDERS, 'may not use the names of meta-tools'],
  ),
  'port:revision': promise(
    'A changed revision, or a change of a registry, has a list read again',
    [OWN_PROVIDERS, 'is read again when its revision changes'],
    [OWN_AND_SERVERS, 'change with the registry'],
  ),
  'port:request': promise(
    'Tools of one request are searched, described and called inside that request only',
    [OWN_AND_SERVERS, 'of a request are seen by that request only'],
    [ATTACHED_ENGINE, 'keeps the tools of a request to that request'],
    [ATTACHED_ENGINE, 'two requests at the same time'],
  ),
  'port:attach': promise(
    'attach() puts own and servers’ tools on a server of the MCP SDK, version 1 and 2',
    [ATTACHED_ENGINE, 'offers the meta-tools beside'],
    [ATTACHED_ENGINE, 'offers all tools in mode all'],
  ),
  'port:state': promise(
    'An embedded engine writes nothing to disk unless a folder is named, and takes what load() gives',
    [OWN_PROVIDERS, 'is in memory unless a folder is given'],
    [OWN_PROVIDERS, 'is in the given folder, without'],
    [OWN_PROVIDERS, 'is in the given folder also for a configuration'],
  ),
  'port:model': promise('A bundled program that lost the model file is told so', [
    'test/bundled-program.test.ts',
    'is told that it lost the model file',
  ]),

  'library:docs': promise(
    'Every export has TSDoc and stands in an API reference made from it',
    ['test/api-page.test.ts', '$name has TSDoc on every export'],
    ['test/api-page.test.ts', '$name declares what it exports'],
  ),
  'library:examples': promise(
    'Examples run: per-user tools over HTTP, a database, an agent loop, a thousand tools; the guide shows only code that runs',
    ['test/examples.test.ts', '%s runs and finds everything'],
    ['test/examples.test.ts', 'shows code of $file'],
  ),

  // The discovery service of seed 004
  'service:types:string': promise('§5.1: "string" is :string', [CONVERT, '{"type":"string"} is :string']),
  'service:types:numbers': promise(
    '§5.1: "integer" is :int, "number" is :float',
    [CONVERT, '{"type":"integer"} is :int'],
    [CONVERT, '{"type":"number"} is :float'],
  ),
  'service:types:boolean': promise('§5.1: "boolean" is :bool', [CONVERT, '{"type":"boolean"} is :bool']),
  'service:types:array': promise(
    '§5.1: "array" is [:vector <item-type>]',
    [CONVERT, '{"type":"array","items":{"type":"string"}} is [:vector :string]'],
    [CONVERT, '{"type":"array"} is [:vector :any]'],
  ),
  'service:types:object': promise(
    '§5.1: "object" is [:map …]',
    [CONVERT, '{"type":"object"} is [:map]'],
    [CONVERT, '{"type":"object","additionalProperties":{"type":"integer"}} is [:map'],
  ),
  'service:types:null': promise(
    '§5.1: "null" and nullable are :any, and a note says why',
    [CONVERT, '{"type":"null"} is :any'],
    [CONVERT, '{"type":["string","null"]} is :any'],
    [CONVERT, '{"type":"string","nullable":true} is :any'],
    [CONVERT, 'notes what is any, and where'],
  ),
  'service:types:enum': promise('§5.1: an enum of strings is :string', [CONVERT, '{"enum":["a","b"]} is :string']),
  'service:types:example': promise('§5.2: the example is converted literally', [CONVERT, 'writes the example of 004']),
  'service:types:any': promise(
    '§14.2: what cannot be expressed is :any with a note, never a failure',
    [CONVERT, 'ends where a schema refers to itself'],
    [CONVERT, 'is converted, whatever stands in it'],
    [RTFS, 'say in comments what the types cannot'],
  ),
  'service:types:languages': promise(
    'Schemas become TypeScript types and zod schemas that compile and accept what the JSON Schema accepts',
    [CONVERT, 'TypeScript and zod compile in strict mode'],
    [CONVERT, 'accepts and rejects what the validator does'],
  ),
  'service:domains:primary': promise('§6.1: the domain comes from the name of the server, with 004’s examples', [
    INFER,
    'take the domain from the name of the server',
  ]),
  'service:domains:sub': promise('§6.1: the sub-domain comes from the name of the tool, with 004’s examples', [
    INFER,
    'take the sub-domain from the name of the tool',
  ]),
  'service:categories': promise(
    '§6.2: categories come from the name of the tool, with 004’s examples, else from description and annotations',
    [INFER, 'take the category from the name of the tool'],
    [INFER, 'come from the description if the name has no verb'],
    [INFER, 'takes any names and texts'],
  ),
  'service:manifest': promise(
    '§6.3: toolToManifest gives a manifest with inferred domains and categories, for any definition',
    [EXPORT, 'says what a tool is called, belongs to and does'],
    [EXPORT, 'takes any definition'],
  ),
  'service:inspect': promise('inspect shows domains and categories', [
    COMMANDS,
    'shows the domains and categories that a tool is inferred to have',
  ]),
  'service:search': promise(
    'Searches filter by domain and category; nothing is inferred for a query without them',
    [COMMANDS, 'filters by domain and category'],
    ['src/search/query-filters.test.ts', 'by domain and category ask for each tool once, and only if a query has them'],
    [INFER, 'gives a search index the domains and categories of the manifest'],
  ),
  'service:nothing-fits': promise(
    'If nothing fits, search_tools may name servers of a synced registry in one note; it never adds or runs one',
    [REGISTRY_NOTE, 'one note names servers of a synced registry, and nothing of their texts, if no tool fits'],
    [
      REGISTRY_NOTE,
      'nothing is said or looked up if no registry was synced, if the copy is damaged, or if nothing is kept',
    ],
  ),
  'service:packages': promise('PyPI, OCI and NuGet packages run by exactly the command line that is shown', [
    'src/cli/commands/add-packages.test.ts',
    'a server of %s is started by %s, word by word',
  ]),
  'service:update': promise('update shows what changes and writes newer pinned versions in place', [
    'src/cli/commands/add.test.ts',
    'update shows what changes, and after a yes writes newer versions in place, with comments and answers',
  ]),
  'service:bundles': promise(
    'MCPB packages are checked by SHA-256 before anything else, unpacked safely and shown in full before they run',
    [ADD_BUNDLE, 'is shown in full before anything is unpacked or written'],
    [ADD_BUNDLE, 'runs behind the gateway after it was added, with absolute paths, answers and secrets as references'],
    [ADD_BUNDLE, 'is refused unread if its SHA-256 is another one'],
    [ADD_BUNDLE, 'comes over https only, also after a redirect, unless registry and bundle are on this machine'],
    [UNPACK, 'refuses %s and leaves nothing'],
    [UNPACK, 'writes nothing outside its folder, whatever the bytes are'],
  ),
  'service:export:layout': promise(
    '§11.2: exported RTFS is capabilities/servers/pending/<server>/<tool>.rtfs',
    [EXPORT, 'writes RTFS in the layout of 004, which reads back'],
    [EXPORT_COMMAND, 'writes usable tools in the layout and the format of 004'],
  ),
  'service:export:paths': promise(
    'Names of servers and tools never choose a path; no link leads out of the folder',
    [EXPORT, 'keeps every path inside its folder and apart from the others'],
    [EXPORT, 'names files apart where capital letters do not count'],
    [EXPORT, 'does not follow a link out of its folder'],
    [EXPORT_COMMAND, 'does not write through a link that leads out of its folder'],
  ),
  'service:export:format': promise(
    '§11.4: a capability is written as in 004 and reads back',
    [RTFS, 'are written as in 004'],
    [RTFS, 'are read back'],
    [RTFS, 'read back the same for any strings'],
    [RTFS, '%j is refused with a reason'],
  ),
  'service:export:formats': promise(
    '`anygpt mcp export` writes RTFS, JSON, Markdown, TypeScript, zod and tools of APIs, of usable tools only',
    [EXPORT_COMMAND, 'writes %s and lists the files as JSON'],
    [EXPORT_COMMAND, 'leaves disabled tools out unless asked for them'],
    [EXPORT, 'writes manifests as JSON'],
    [EXPORT, 'writes a catalogue in which no name breaks a table'],
    [EXPORT, 'writes tools for %s, and which tool a name means'],
  ),
  'service:export:client': promise(
    'The TypeScript client is typed and calls through the gateway',
    [EXPORT, 'writes a TypeScript client and zod schemas that compile in strict mode'],
    [EXPORT_COMMAND, 'writes a TypeScript client that calls tools through a real gateway'],
  ),
  'service:view': promise('§1: one service discovers tools, as a view of the engine: a list is read once for both', [
    SERVICE,
    'is discovered by its name, and its tools are known to the engine then',
  ]),
  'service:discover:unconfigured': promise(
    '§3.2: discoverTools lists a server that is not configured; its tools are usable once registered',
    [SERVICE, 'is discovered; its tools are found and called once they are registered'],
    [SERVICE, 'must not take the name of a configured one'],
  ),
  'service:discover:rules': promise('Rules apply to what is discovered and registered', [
    SERVICE,
    'obeys the rules: a denied tool is neither discovered nor registered',
  ]),
  'service:discover:resources': promise('§3.2: discoverResources lists resources, templates and prompts', [
    SERVICE,
    'are discovered with templates and prompts, cached like tools, and obey the rules',
  ]),
  'service:discover:session': promise(
    '§4.1, 3, 4 and 10: a session is opened, the tools are listed, the session is ended',
    [SERVICE, 'greets the server, lists its tools and ends the session, in this order'],
  ),
  'service:discover:cache': promise('§4.1, 1 and 8: a cached list is the answer; a list that was read is cached', [
    SERVICE,
    'useCache: asks every time by default, and once with it, until the list is too old',
  ]),
  'service:discover:rate': promise('§4.1, 2 and §8.1: a token is taken from the bucket of the server first', [
    SERVICE,
    'rateLimit: is kept between discoveries, also for a local server',
  ]),
  'service:discover:conversion': promise('§4.1, 5: tools have their types as RTFS TypeExpr', [
    SERVICE,
    'conversion: what RTFS cannot say is :any, and the tool says why',
  ]),
  'service:discover:output': promise('§4.1, 6: output schemas are inferred if that is asked for', [
    OUTPUTS,
    'is inferred for read-only tools of a trusted server, with generated arguments, in the audit log',
  ]),
  'service:discover:inference': promise('§4.1, 7: tools have domains and categories', [
    EXPORT,
    'says what a tool is called, belongs to and does',
  ]),
  'service:discover:register': promise('§4.1, 9: tools are registered if that is asked for', [
    SERVICE,
    'registerInMarketplace and exportToRtfs: register and write what was found',
  ]),
  'service:registry:sync': promise(
    'Registries of the official API are synced: all pages, then only changes, deleted and deprecated entries respected',
    [REGISTRIES, 'reads all pages, keeps the latest of each server, hides deleted and ranks deprecated ones last'],
    [REGISTRIES, 'then reads only what has changed: new, changed, deleted'],
    [REGISTRIES, 'waits as long as a busy registry asks for, and tries again after errors'],
    [REGISTRIES, 'needs no official data'],
    [REGISTRIES, 'of two registries with one name the first wins'],
    [READ_SERVER, '2025-07-09 has names with underscores'],
    [READ_SERVER, 'before that, packages and versions had other names'],
    [READ_SERVER, 'up to 2025-09-16'],
    [READ_SERVER, 'the draft after 2025-12-11'],
  ),
  'service:registry:offline': promise(
    'What was synced is found by meaning without the registry; answers of others are kept for an hour, longer while it is away',
    [REGISTRIES, 'what was synced is used while a registry is away'],
    [REGISTRIES, 'a registry that was never synced is asked directly'],
    ['src/cli/commands/mcp-registry.test.ts', 'syncs, searches and shows'],
  ),
  'service:registry:untrusted': promise(
    'What a registry says is bounded, hides nothing, is never a reference of ours and starts nothing else than its package',
    [READ_SERVER, 'never throws, and every list is bounded'],
    [READ_SERVER, 'prose loses what is hidden in it'],
    [READ_SERVER, 'a value with something hidden makes its package unusable'],
    [REGISTRIES, 'ends when a registry drips'],
    [WAYS, 'nothing that a registry writes is ever a reference of ours'],
    [WAYS, 'a package with words before it that could be taken for it: %s'],
    [WAYS, 'the address %s has %d warnings'],
  ),
  'service:add': promise(
    'add shows a server in full, asks, pins it and writes it in place; secrets stay out; what was added runs',
    [ADD, 'shows a server of a registry in full, writes nothing without a yes'],
    [ADD, 'keeps a secret that is given in a file that only its owner can read'],
    [ADD, 'asks on a terminal for what is missing, does not show a secret'],
    [ADD, 'pins a package of npm to its latest version'],
    [ADD, 'an npm server that was added from a registry runs behind the gateway'],
  ),
  'service:entries': promise(
    'get, remove, enable and disable change nothing but the entry, and no file of a client',
    [ENTRIES, 'get shows what a server runs'],
    [ENTRIES, 'remove takes an entry out and leaves the rest of the file'],
    [ENTRIES, 'remove says where the server of a client is'],
    [ENTRIES, 'disable and enable switch an own server'],
  ),
  'service:registry:discover': promise('§4.2: servers of a registry are discovered, with errors for each server', [
    FROM_REGISTRY,
    'lists the tools of servers that can be reached, and says what is in the way of the others',
  ]),
  'service:registry:safe': promise(
    'Of a registry no program is started, no credential sent, and no address of this machine or network reached',
    [FROM_REGISTRY, 'lists the tools of servers that can be reached, and says what is in the way of the others'],
    [FROM_REGISTRY, 'does not lead to %s'],
    [FROM_REGISTRY, 'does not get a variable of this machine'],
    [FROM_REGISTRY, 'obeys a rule that denies a server by its name in the registry'],
  ),
  'service:registry:names': promise(
    'A server of a registry gets a name of its own and keeps its name and version there',
    [FROM_REGISTRY, 'names a server in full where its short name is taken'],
    [FROM_REGISTRY, 'is used with its pinned name'],
  ),
  'service:registry:search': promise('§3.2, §4.2, §7: searchRegistryForCapability keeps answers for one hour', [
    FROM_REGISTRY,
    'keeps answers for an hour, in memory or on disk, and asks again without the cache',
  ]),
  'service:registry:local-first': promise('§3.2: findServersForCapability asks registries only if nothing local fits', [
    FROM_REGISTRY,
    'is made only if nothing local fits',
  ]),
  'service:register': promise(
    '§3.2: registerCapability registers in marketplace and catalogue, which are ports',
    [SERVICE, 'is discovered; its tools are found and called once they are registered'],
    [SERVICE, 'a marketplace and a catalogue of the program get what is registered, instead of the engine'],
  ),
  'service:register:written': promise('A capability that was written down can be registered', [
    SERVICE,
    'is registered from a capability that was written down, if that says where the server is',
  ]),
  'service:register:pinned': promise(
    'A registered tool whose definition changes is not called until it is registered again',
    [
      REGISTERED,
      'a registered tool whose definition changes is not called, found or described until it is registered again',
    ],
    [REGISTERED, 'what is registered is the definition that was discovered'],
    [REGISTERED, 'a capability that was written down keeps its pin'],
    [REGISTERED, 'a provider goes on with the tools as it listed them first'],
  ),
  'service:output:safe': promise(
    '§5.3: a call to infer an output schema is made only for read-only tools, and never by default',
    [OUTPUTS, 'is inferred for read-only tools of a trusted server, with generated arguments, in the audit log'],
    [OUTPUTS, 'is not looked for by default, nor while it is lazy, nor for a server that is not trusted'],
  ),
  'service:output:types': promise(
    '§5.3: types are inferred from JSON values; every observed value fits',
    [VALUES, 'has the fields and types of an object'],
    [VALUES, 'is merged over several'],
    [VALUES, 'accepts every value that was observed'],
    [VALUES, 'is anything where values are too many or too deep'],
  ),
  'service:output:marked': promise('§5.3: an inferred schema is in the manifest, is marked, and refuses no result', [
    OUTPUTS,
    'is inferred on request by the operator’s word, and refuses no later result',
  ]),
  'service:output:observed': promise(
    'Output schemas are inferred from results as they pass, if that is switched on',
    [OUTPUTS, 'tell what a tool returns, merged over several, if `validation.observe` is on'],
    [OUTPUTS, 'are not looked at by default'],
    [VALUES, 'repeats no keys that are data'],
  ),
  'service:cache:layers': promise(
    '§7.1: lists are cached in memory and in files, for a day unless configured',
    [SERVICE, 'keeps its lists where CCOS_MCP_CACHE_DIR says, as long as CCOS_MCP_CACHE_TTL says'],
    [SERVICE, 'have the defaults of 004'],
    [SERVICE, 'useCache: asks every time by default'],
  ),
  'service:cache:keys': promise('§7.2: the names of servers and queries never choose a path', [
    'src/cache/file-store.test.ts',
    'of any key stays inside the folder and is plain on every platform',
  ]),
  'service:cache:clear': promise(
    '§7.3: the cache of one server, or of all, can be cleared',
    [COMMANDS, 'forgets one list, or all'],
    [SERVICE, 'useCache: asks again once the cache of the server, or of all, was cleared'],
  ),
  'service:retry:policy': promise(
    '§8.2: each number of the retry policy counts, per call',
    [SERVICE, 'retryPolicy: is followed'],
    [SERVICE, 'have the defaults of 004'],
  ),
  'service:retry:errors': promise(
    '§8.3: 429, 503, timeouts and resets are tried again',
    [SERVICE, 'retryPolicy: %s is tried again, after pauses that grow'],
    [SERVICE, 'retryPolicy: a server that did not answer in time is tried again'],
  ),
  'service:parallel': promise('§9.1: five servers are discovered at a time, or as many as the option says', [
    SERVICE,
    'are discovered at most five at a time, or as many as wanted',
  ]),
  'service:warm': promise('§10: caches are warmed for given servers and for all configured ones, with statistics', [
    SERVICE,
    'warm the cache: statistics count them, their sessions are closed, and a broken one costs only itself',
  ]),
  'service:export:options': promise('§11.1: exportToRtfs and exportDirectory write what was discovered', [
    SERVICE,
    'registerInMarketplace and exportToRtfs: register and write what was found',
  ]),
  'service:callers': promise(
    '§12.1: callers share a service or have their own',
    [SERVICE, 'is discovered by its name, and its tools are known to the engine then'],
    [SERVICE, 'keeps its lists where CCOS_MCP_CACHE_DIR says'],
  ),
  'service:provider': promise(
    '§12.2: the provider of one server works in both registries, with its auth headers',
    [SERVICE, 'is a provider in both registries'],
    [SERVICE, 'gives a provider whose lists and calls have its authHeaders'],
  ),
  'service:env:tokens': promise('§13.1: MCP_AUTH_TOKEN and GITHUB_MCP_TOKEN are sent to servers that a program names', [
    SERVICE,
    'sends GITHUB_MCP_TOKEN to the server github and MCP_AUTH_TOKEN to others, unless they have a header',
  ]),
  'service:env:cache': promise('§13.1: CCOS_MCP_CACHE_DIR and CCOS_MCP_CACHE_TTL place and date the cache', [
    SERVICE,
    'keeps its lists where CCOS_MCP_CACHE_DIR says, as long as CCOS_MCP_CACHE_TTL says',
  ]),
  'service:options': promise(
    '§13.2: the ten options have the defaults of 004',
    [SERVICE, 'have the defaults of 004'],
    [SERVICE, 'are off by default: nothing is registered or written'],
    [OUTPUTS, 'is not looked for by default'],
  ),
  'service:options:auth': promise('§13.2: authHeaders override the server’s own', [
    SERVICE,
    'authHeaders: replace the server’s own, and the list that they gave is not kept',
  ]),
  'service:errors:connection': promise('§14.1: ConnectionFailed', [SERVICE, 'connection: nothing listens there']),
  'service:errors:session': promise('§14.1: SessionInitFailed', [SERVICE, 'session: it is there and refuses']),
  'service:errors:list': promise('§14.1: ToolsListFailed', [SERVICE, 'list: it is greeted and gives no list']),
  'service:errors:conversion': promise('§14.1: SchemaConversionFailed', [SERVICE, 'conversion: what RTFS cannot say']),
  'service:errors:rate': promise('§14.1: RateLimited, with when to come back', [SERVICE, 'rate-limit: with when']),
  'service:errors:authentication': promise('§14.1: AuthenticationFailed', [
    SERVICE,
    'authentication: it wants a token',
  ]),
  'service:errors:timeout': promise('§14.1: Timeout', [SERVICE, 'timeout: it does not answer']),
  'service:degrades:unreachable': promise(
    '§14.2: an unreachable server is skipped, and the others are discovered',
    [SERVICE, 'warm the cache: statistics count them, their sessions are closed, and a broken one costs only itself'],
    [FROM_REGISTRY, 'lists the tools of servers that can be reached'],
  ),
  'service:degrades:rate': promise('§14.2: a rate-limited discovery is retried with exponential pauses', [
    SERVICE,
    'retryPolicy: %s is tried again, after pauses that grow',
  ]),
  'service:degrades:conversion': promise('§14.2: a schema that cannot be converted is :any', [
    SERVICE,
    'conversion: what RTFS cannot say is :any, and the tool says why',
  ]),
  'service:degrades:output': promise('§14.2: if an output cannot be inferred, there is no output schema', [
    OUTPUTS,
    'is left out if the call fails; the discovery goes on',
  ]),
  'service:export:unreachable': promise('§14.2: a server that cannot be reached is left out of an export and named', [
    EXPORT_COMMAND,
    'says which servers were left out, and fails for one that was named',
  ]),

  'service:approval:pending': promise(
    '§11.3: what is discovered is pending and not loaded: not listed, found, described or executed',
    [APPROVED, 'shows, finds, describes and executes nothing until a person approves, and says what to type'],
    [APPROVED, 'a saved index shows nothing that was not approved when it was read back'],
  ),
  'service:approval:request': promise('§11.3: introspection makes a request for approval', [
    APPROVE,
    'show a new tool in full, approve it, and show only what changed afterwards',
  ]),
  'service:approval:review': promise(
    '§11.3: a person reviews definitions: old and new, hidden characters as escapes, with the findings of the scanner',
    [APPROVE, 'show a new tool in full, approve it, and show only what changed afterwards'],
    ['src/approvals/definition-diff.test.ts', 'has lines exactly when the pins differ'],
  ),
  'service:approval:promotion': promise(
    '§11.3: what is approved is registered: found and callable, in running gateways too, after any restart',
    [APPROVED, 'shows, finds, describes and executes nothing until a person approves'],
    [RUG_PULL, 'two gateways learn of an approval at once'],
  ),
  'service:approval:trust': promise(
    'Registry and project servers start under review, imported ones are pinned on first sight, written ones are trusted',
    [APPROVED, 'is full for servers written by the user, on first sight for those of clients'],
    ['src/config/project-settings.test.ts', 'cannot be switched off, neither for all servers nor for one'],
    [APPROVED, 'costs a trusted server nothing'],
    [APPROVED, 'pins the tools of a client at the first list'],
    [APPROVED, 'does not pin what the scanner finds'],
    [APPROVED, 'keeps approvals in memory for an engine that touches no disk'],
    ['src/cli/commands/trust.test.ts', 'is listed with what to type, runs only once it is trusted'],
  ),
  'service:approval:items': promise(
    'Resources, templates and prompts are approved like tools, each for itself, on every path',
    [
      APPROVED_ITEMS,
      'are not listed, found, read or exposed until a person approves each, whatever tools are approved',
    ],
    [
      APPROVED_ITEMS,
      'that change wait again, at once and after a restart, and work again once they are what was approved',
    ],
    [
      APPROVED_ITEMS,
      'stay unapproved after the loss of the cache, and after the loss or the restored backup of the decisions',
    ],
    [APPROVED_ITEMS, 'are approved for one server only, even if another one has the same URI and the same prompt'],
    [APPROVED_ITEMS, 'are not approved by a tool of such a name, nor by a second definition of the same name'],
    [APPROVED_ITEMS, 'are not discovered by a program either'],
    [APPROVED_ITEMS, 'are not read under another spelling of their URI either'],
    [APPROVED_ITEMS, 'wait under another name of their server, too, and after it was removed and added again'],
    [APPROVED_ITEMS, 'with hidden characters or instructions wait even where the first list is pinned'],
    [
      'src/gateway/exposed-resources.test.ts',
      'is refused in subscriptions and completions with what a person has to type for its approval',
    ],
    [RUG_PULL, 'a prompt that changes is not given, behind --expose neither, until a person approves it again'],
    [APPROVED_ITEMS, 'may be approved by a rule, unless the scanner finds something'],
    [APPROVE, 'show resources and prompts as well, and approve them by name'],
  ),
  'service:scanner': promise(
    'The scanner finds attacks in every string of a definition, and hardly anything in innocent ones',
    [SCAN, 'finds every attack that its rules were written with'],
    [SCAN, 'finds at least seven in ten of the attacks that were written afterwards'],
    [SCAN, 'finds an attack in every place of a definition'],
    [SCAN, 'reports nothing in texts that only use the same words'],
    [SCAN, 'reports nothing in the catalogue of the search tests'],
  ),
  'service:approval:shown': promise(
    'What a person approves is shown in full, or said to be cut, with the command that shows all of it',
    ['src/approvals/definition-diff.test.ts', 'says that it leaves something out, and leaves nothing out'],
    ['src/approvals/definition-diff.test.ts', 'shows what cannot be seen'],
  ),
  'service:approval:introduction': promise(
    'What a server says of itself (title, instructions) is approved like a tool, on every path',
    [APPROVED_ITEMS, 'is shown to nobody until a person approves it'],
    [APPROVED_ITEMS, 'is pinned with the first list of a server of a client'],
    [RUG_PULL, 'what a server says of itself does not reach a client of --expose'],
  ),
  'service:approval:later': promise('What the server of a client offers only after its first list waits for a person', [
    APPROVED_ITEMS,
    'what the server of a client offers only after its first list',
  ]),
  'service:approval:by-rule': promise(
    'A rule of the user approves new and changed tools, unless the scanner finds something; the rule is shown',
    [BY_RULE, 'lets agents list, find, describe and call what it matches, says which rule it is'],
    [BY_RULE, 'approves a changed definition as well, at the first call, and after a restart'],
    [BY_RULE, 'is stopped by a finding of the scanner, at every start and on every path, unless it says always'],
    [BY_RULE, 'approves nothing any more once it is gone'],
    [BY_RULE, 'may be about a category'],
    [APPROVE, 'name the rule that approved a tool'],
    [
      'src/config/project-settings.test.ts',
      'approves nothing with a rule, and no rule approves anything of its servers',
    ],
  ),
  'service:classes:configured': promise(
    'Domains and categories can be used in rules, and what the configuration says of them wins over inference',
    [BY_RULE, 'are those of the configuration, for a tool before those of its server, in searches and rules'],
    [BY_RULE, 'of a rule are looked for in the whole definition'],
    ['src/service/infer/infer.test.ts', 'come from the configuration wherever they are shown'],
  ),
  'service:approval:rug-pull': promise(
    'A definition that changed is never executed without a new approval, whatever happens to processes, cache and store',
    [APPROVED, 'between list and call is noticed on a new connection, before the first call'],
    [APPROVED, 'that the server announces is noticed before the next call'],
    [APPROVED, 'that the server hides is noticed when its list is read again'],
    [APPROVED, 'of %s is not executed'],
    [APPROVED, 'is not executed after a restart, a lost cache, a lost store, or under another name'],
    [RUG_PULL, 'two gateways learn of an approval at once'],
    [RUG_PULL, 'a tool that changes itself in a call is refused at the next one'],
    [RUG_PULL, 'neither a lost cache, a store put back from a backup'],
    [APPROVED, 'after any history of changes, approvals, restarts and losses'],
    ['src/approvals/approval-store.test.ts', 'after any history of lists, changes, approvals'],
  ),
  'service:approval:lock': promise('The lock file has versions, pins and domains; verify compares them for CI', [
    APPROVE,
    'agree until a tool changes, comes or goes, whatever is approved',
  ]),

  // The front door
  'door:loopback': promise(
    'Without authentication the gateway serves this machine only, and says what to do',
    [FRONT_DOOR, 'is refused without authentication'],
    [SERVE, 'does not start with %j'],
    [SERVE, '10. does not start with an identity provider but without an audience'],
  ),
  'door:credentials': promise(
    'Every route refuses every bad credential and every foreign Host and Origin, generated from the table of routes',
    [FRONT_DOOR, 'refuses every bad credential'],
    ['src/auth/authenticator.test.ts', 'lets nothing in by settings that were replaced while a token was checked'],
    ['src/auth/authenticator.test.ts', 'finds the new keys of its identity provider, and forgets those that are gone'],
    [FRONT_DOOR, 'refuses foreign Hosts and Origins'],
    [FRONT_DOOR, 'reads no token from a query'],
    [FRONT_DOOR, 'tells a valid token without the scope which one it needs'],
    [FRONT_DOOR, 'is a 503, not a 401 and not a 500'],
  ),
  'door:tokens': promise(
    'Static tokens are shown once, hashed at rest, expire, and are created and revoked in running gateways',
    [TOKEN, 'prints a new token once'],
    [FRONT_DOOR, 'is created and revoked while the gateway runs'],
  ),
  'door:session': promise('A session belongs to its user, whatever token is used', [
    FRONT_DOOR,
    '8. belongs to its user',
  ]),
  'door:people': promise(
    'Each call knows its principal and profile in both eras; the token goes no further than the gateway',
    [PEOPLE, 'is its principal and profile in every call'],
    [PEOPLE, 'sends its token to the gateway alone'],
    [PEOPLE, 'gets the refusal of a server as a result'],
    [PEOPLE, 'ends when the token of its client is revoked'],
  ),
  'door:clients': promise('Real clients work over HTTP with authentication on', [
    'test/e2e/clients-with-tokens.test.ts',
    'works with a token',
  ]),
  'telemetry:traces': promise(
    'Requests and calls have spans by the MCP conventions, with the parent from _meta and our own span handed on',
    [TELEMETRY, 'a call is traced from the client to the server'],
    [TELEMETRY, 'the trace of an HTTP request is the parent of a call, or its link'],
    [TELEMETRY, 'spans have the attributes of the conventions'],
    [TELEMETRY, 'a resource that a client reads natively is traced'],
  ),
  'operations:files': promise(
    'Image, chart, compose, unit, dashboard and alert rules fit the program, and each alert is explained',
    [DEPLOY, 'the alert rules and the dashboard use are served'],
    [DEPLOY, 'alerts are explained in docs/operations.md'],
    [DEPLOY, 'starts the program with options that it has, and its probes are answered'],
    [DEPLOY, 'runs on stdio and over HTTP as a user without rights'],
    [DEPLOY, 'start the program with options that it has, and a configuration that it accepts'],
  ),
  'telemetry:baggage': promise('Baggage goes on to servers only as the operator says', [
    TELEMETRY,
    'baggage goes on to servers only under the names',
  ]),
  'telemetry:numbers': promise(
    'Calls, errors, waits, breakers, cache hits and tokens are served as Prometheus text of bounded size',
    [TELEMETRY, 'the numbers of a gateway are served as Prometheus text'],
    ['src/telemetry/metric-families.test.ts', 'a family has a bounded number of series'],
  ),
  'http:resume': promise('A stream of the old protocol that broke is continued without losing the result', [
    PEOPLE,
    'that broke during a call is continued',
  ]),
  'http:once': promise(
    'A call over HTTP that begins past the SDK and ends in it is made once, on both sides',
    [PEOPLE, 'that takes longer is made once, and its answer comes on a stream'],
    ['src/connections/http/plain-calls.test.ts', 'is sent once and gets an answer %s'],
    ['src/connections/http/plain-calls.test.ts', 'is sent once and fails with an unknown outcome if its answer %s'],
  ),
  'door:running': promise(
    'Probes, access log, drain, metadata, CORS and proxies work',
    [FRONT_DOOR, 'has a JSON line for each request'],
    [FRONT_DOOR, 'says so, takes no new calls, and ends streams'],
    [FRONT_DOOR, 'lead to the identity provider'],
    [FRONT_DOOR, 'is told what it may send'],
    [FRONT_DOOR, 'is believed only if it was named'],
  ),

  // Logins towards servers
  'login:flow': promise(
    '`anygpt mcp login` and `logout` work against a real identity provider, and running gateways learn of both',
    [LOGINS, 'gives calls a token, and the next process, too'],
    [LOGINS, 'is ended by a logout, which revokes the tokens'],
    [LOGINS, 'is taken from a pasted address where the browser is on another computer'],
    [LOGINS, 'with too few scopes says what to type'],
    [LOGINS_E2E, 'logs in and out at the command line'],
    [LOGINS_E2E, '3. three parallel logins'],
  ),
  'login:code': promise(
    'Without a browser a code is typed on another device, where the identity provider gives one (RFC 8628)',
    [LOGINS, 'asks again while nobody has typed it, more slowly when told to'],
    [LOGINS, 'goes on while the token endpoint is broken'],
    [LOGINS, 'ends when the person says no'],
    [LOGINS, 'ends when the code has expired'],
    [LOGINS, 'identifies a client that has a secret'],
    [LOGINS, 'is one with a redirect where the provider gives this client no code'],
    [LOGINS_E2E, 'logs in with a code that is typed on another device'],
  ),
  'login:all': promise(
    '`login --all` logs in to what wants a login, one by one; one that fails stops no other',
    [LOGINS_E2E, '--all logs in to what wants a login'],
    [LOGINS_E2E, '--all takes one pasted address after another'],
  ),
  'login:sse': promise(
    'A legacy SSE server gets the current token with its stream and with every POST; a refresh leaves the stream open',
    [LOGINS, 'is sent with the stream and with every POST'],
    [LOGINS, 'opens a stream that broke off after its token had ended with a new one'],
    [LOGINS, 'that was never made, or is over, says what to type'],
  ),
  'login:machine': promise(
    'A program logs in with client credentials or a private key, without a person',
    [LOGINS, 'of a program needs no person'],
    [LOGINS, 'of a program may sign with a private key'],
  ),
  'login:refresh': promise(
    'A token is renewed once however many calls and processes ask; no good token is lost, no call is made twice',
    [LOGINS, 'that was revoked is renewed once'],
    [LOGINS, 'is kept while the token endpoint is broken'],
    [LOGINS, 'that cannot be renewed is not tried again and again'],
    [LOGINS_E2E, '1. a refresh race destroys no good token'],
    [LOGINS_E2E, '10. an expired login with a refresh token'],
  ),
  'login:store': promise(
    'Tokens are encrypted in files of the user alone, hidden in every text, and of no use in another place or changed',
    [LOGINS, 'keeps its tokens encrypted'],
    [LOGINS, 'counts as none if its file was swapped, cut or changed'],
  ),
  'login:lies': promise(
    'Metadata that lie, addresses of private networks and answers of others are refused',
    [LOGINS, 'where the metadata name another issuer'],
    [LOGINS, 'where the metadata of the server are for another server'],
    [LOGINS, 'where the authorization server is at %s'],
    [LOGINS, 'where the authorization server does not say that it supports PKCE'],
    [LOGINS, '4. without registration'],
    [LOGINS, 'of another issuer, or of none, is refused'],
    [LOGINS, 'is not what other programs and web pages send to this machine, however much'],
    [LOGIN_SETTINGS, 'no %s'],
    [LOGIN_SETTINGS, 'are asked for at no foreign address of a private network'],
    [LOGIN_SETTINGS, 'reaches only the addresses that were checked'],
    [LOGIN_SETTINGS, 'does not lead a login to this machine'],
  ),
  'login:discovery': promise(
    'Metadata are looked for in every place that the specification names, and the next authorization server is tried',
    [LOGIN_SETTINGS, 'are found behind the path, else at the root'],
    [LOGIN_SETTINGS, 'are looked for further where a website answers everything'],
    [LOGIN_SETTINGS, 'of the next authorization server count'],
    [LOGIN_SETTINGS, 'may be missing for the server'],
    ['src/logins/challenge.test.ts', 'is read from a server that %s'],
  ),
  'login:overrides': promise(
    'A client comes from the settings, from a metadata document or from a registration; each rule that a provider bends has a setting',
    [LOGIN_SETTINGS, 'uses a client metadata document in place of a registration'],
    [LOGIN_SETTINGS, 'leaves out the resource'],
    [LOGIN_SETTINGS, 'sends further parameters'],
    [LOGIN_SETTINGS, 'asks for offline access and consent only where'],
    [LOGIN_SETTINGS, 'accepts a slash too many on either side'],
    [LOGIN_SETTINGS, 'uses the registered redirect address as it is'],
    [LOGIN_SETTINGS, 'takes a registered client to no other authorization server'],
  ),
  'login:parked': promise(
    'A server that needs a login is left alone and named; no browser opens, no key of the gateway goes downstream',
    [LOGINS_E2E, '2. no browser opens outside login'],
    [LOGINS_E2E, "5. a downstream's 401 is a tool result"],
  ),
  'login:imported': promise('Client ids of other clients are taken from their entries', [
    'src/clients/importers/login-fields.test.ts',
    'the login settings of %s are understood',
  ]),

  'profile:outside': promise(
    'What a principal may not use, it cannot find, list, describe, read or call, and no text, note or count tells of it',
    [PROFILES, 'has its servers and tools only: what is outside answers as what does not exist'],
    [PROFILES, 'names its servers in the description of search_tools, and no others'],
    [TWO_USERS_HTTP, 'see only their own profile and credentials, as %s clients'],
    [TWO_USERS_HTTP, 'cannot take the profile of somebody else by its address'],
    [TWO_USERS_PATHS, 'learn of what is the other’s as much as of what does not exist'],
    [TWO_USERS_PATHS, 'hear of changes of their own servers and resources, and of no others'],
    ['src/gateway/exposed-resources.test.ts', 'is decided for the profile of each %s client that listens'],
  ),
  'profile:narrows': promise('A profile can only narrow; an unknown one is refused everything', [
    PROFILES,
    'cannot undo a deny of the configuration, and an unknown one is refused everything',
  ]),
  'profile:expose': promise(
    'A profile shows servers under their own names, beside the five tools or instead of them, to its users only, in both eras',
    [EXPOSED_PROFILES, 'are shown over HTTP to its users, and to nobody else'],
    [EXPOSED_PROFILES, 'are shown on stdio, where serve has its name'],
    [EXPOSED_PROFILES, 'announce changes of resources to those who may read them'],
    [EXPOSED_PROFILES, 'change with a reload, and clients are told'],
    [EXPOSED_PROFILES, 'show nothing that waits for approval'],
    [TWO_USERS_HTTP, 'see what their profile exposes with their own credentials, as %s clients'],
    [EXPOSED_PROFILES, 'leave the five tools when they are down, and stand beside pinned tools once'],
  ),
  'profile:commands': promise('search, tools and execute show what a profile sees', [
    'src/cli/commands/profile.test.ts',
    'sees and calls what callers with that profile do',
  ]),
  'profile:reload': promise('A reload changes what a profile sees and calls', [
    PROFILES,
    'changes with a reload, for what it sees and for what it calls',
  ]),
  'profile:shared-lists': promise('Profiles share connections and lists', [
    PROFILES,
    'asks a server for its list once for everybody, and sees its changes',
  ]),
  'profile:credentials': promise(
    'Credentials, connections, lists and failures of one user are no other user’s',
    [PROFILES, 'gets those of the user who calls, and each user sees its own list'],
    [PROFILES, 'refuses a user without credentials, and nobody else suffers from that'],
    [TWO_USERS, 'are refused and paused apart'],
    [LOGINS, 'of one user of the gateway is no other user’s, where each has its own'],
  ),
  'profile:nothing-crosses': promise(
    'Two users with canaries in tools, resources, tokens and folders: nothing crosses in 10,000 calls, cold or warm, in both eras',
    [TWO_USERS, '6. see nothing of each other in 10,000 interleaved calls'],
    [TWO_USERS_PATHS, 'read, call, are asked and hear only what is their own, cold or warm'],
    [TWO_USERS, 'get no page of each other’s results'],
    [TWO_USERS, 'have sources of one request that no other request sees, with a profile too'],
  ),
  'profile:tokens': promise('The token with which a user comes is sent to no server', [
    TWO_USERS_HTTP,
    '7. send no server the token they came with',
  ]),
  'profile:fair': promise(
    'Rates are per user, and one user leaves room for others',
    ['src/execution/steps/rate-limit.test.ts', 'leaves a quarter to others, however fast one user calls'],
    ['src/execution/steps/rate-limit.test.ts', 'comes beside the limit that a profile sets for all servers'],
  ),
  'pinned:tools': promise(
    'Pinned tools are shown beside the five with their own schema, and take all steps of a call',
    [PINNED, 'are shown beside the five with their own schema, and are called directly'],
    [PINNED, 'take all steps of a call: rules, validation, suggestions'],
    [PINNED, 'of a profile replace those of the configuration, and are only what it may use'],
  ),

  // Replicas over Redis
  'cluster:values': promise('What replicas keep in Redis is sealed, and another key, version or place opens nothing', [
    'src/cluster/sealed-store.test.ts',
    'are found by other replicas under the same name, and nothing of them can be read in Redis',
  ]),
  'cluster:results': promise(
    'Any replica reads on in a large result, for its caller only',
    [REPLICAS, 'are read on at any replica, by their caller only'],
    [REPLICAS, 'are read on where they were made while Redis is away, and elsewhere the answer says why not'],
  ),
  'cluster:rates': promise(
    'Rates hold across replicas, waiting turns included; without Redis each replica has its share',
    [REPLICAS, 'holds across replicas'],
    [REPLICAS, 'is split among the replicas while Redis is away'],
    ['src/cluster/sealed-store.test.ts', 'reserve turns: whoever asks later, on whatever replica, gets a later one'],
  ),
  'cluster:sessions': promise(
    'A session works at whichever replica a request arrives, and is continued when its replica is gone',
    [GATEWAYS, 'answer as one gateway (legacy)'],
    [GATEWAYS, 'continue a session whose replica was killed'],
    [GATEWAYS, 'continue such a session once, for several requests that arrive together'],
    [GATEWAYS, 'give a session to nobody else, and keep none that its client has ended'],
  ),
  'cluster:routing': promise(
    'Answers and cancellations reach the replica that waits for them',
    [GATEWAYS, 'bring answers to questions to the replica that waits for them (legacy)'],
    [GATEWAYS, 'bring answers to questions to the replica that waits for them (modern)'],
    [GATEWAYS, 'cancel a call whose client gives up, whichever replica hears of it (legacy)'],
  ),
  'cluster:drain': promise(
    'A replica that is asked to end loses no call of its sessions, nor of those that it passes requests on to',
    [REQUEST_RELAY, 'is refused by a replica that is about to end, and may go to another one'],
    [REQUEST_RELAY, 'is answered before the replica ends that works on it'],
    [REQUEST_RELAY, 'is answered before the replica ends that passed it on'],
    [REQUEST_RELAY, 'is executed or refused, never in doubt, when it arrives while its replica ends'],
    [
      REQUEST_RELAY,
      'gets the answer that its replica gave before it died, although the news of its death is there first',
    ],
  ),
  'cluster:truth': promise(
    'When a replica dies or freezes, callers are told within a second that the outcome is unknown, and nothing runs twice',
    [GATEWAYS, 'say within a second that it is unknown what became of a call whose replica was killed'],
    [GATEWAYS, 'say the same of a parked call, whose client asks another replica'],
    [GATEWAYS, 'do not run a call on a frozen replica and on another one'],
    [GATEWAYS, 'finish the calls of a session that another replica has taken'],
  ),
  'cluster:redis-away': promise(
    'A dead Redis costs nothing, a frozen one a bounded wait, and replicas find each other again',
    [GATEWAYS, 'work alone while Redis is dead, and together again once it is back'],
    [REDIS_LINK, 'waits for a frozen Redis once, then fails at once until it answers'],
  ),
  'cluster:authentic': promise('Forged, repeated and moved messages between replicas are dropped and counted', [
    REDIS_LINK,
    'are dropped and counted when forged, repeated, moved to another channel or sealed with another key',
  ]),
  'cluster:lists': promise(
    'A list that one replica reads serves all; private ones serve their user only; without Redis each replica asks',
    [REPLICAS, 'are read by one replica; the others take them from there'],
    [REPLICAS, 'are known to a replica that starts later, without a question'],
    [REPLICAS, 'are read once when a server announces a change to all replicas'],
    [REPLICAS, 'are asked for by the next replica when the one that was asking has died'],
    [REPLICAS, 'are read by each replica for itself while Redis is away, and shared when it is back'],
    [REPLICAS, 'are read without long waits while Redis is frozen'],
    [REPLICAS, 'of one user’s servers are for replicas that serve this user, and for nobody else'],
  ),
  'cluster:changes': promise(
    'A change of a list reaches the clients of all replicas, also of servers under their own names',
    [REPLICA_CHANGES, 'tell every legacy client of a change, and all of them list what is new'],
    [REPLICA_CHANGES, 'tell every modern client of a change, and all of them list what is new'],
    [REPLICA_CHANGES, 'tell a client with a session also after its replica was killed'],
  ),
  'cluster:kinds-of-redis': promise(
    'Sentinel, Redis Cluster, TLS and users with few rights work; messages stay in order, and nothing is said in plain text',
    [KINDS_OF_REDIS, 'share everything, each key on its own master, and hear each other in order'],
    [KINDS_OF_REDIS, 'go on with the new master when the old one dies (password: a-password)'],
    [KINDS_OF_REDIS, 'leave a frozen master when another one has taken its place'],
    [KINDS_OF_REDIS, 'leaves a Redis that does not answer for one that has taken its address, also while it connects'],
    [KINDS_OF_REDIS, 'asks the next Sentinel if one does not answer'],
    [KINDS_OF_REDIS, 'says nothing in plain text to rediss+sentinel://'],
    [KINDS_OF_REDIS, 'needs few rights: its own keys and channels'],
    [KINDS_OF_REDIS, 'takes a Redis that refuses to write for one that is away'],
  ),
  'cluster:tokens': promise(
    'A token that is created or revoked on one machine counts at all replicas; what may have been revoked lets nobody in',
    [
      TOKEN_REPLICAS,
      'let clients in at every replica, wherever they were created, and nowhere once they are revoked anywhere',
    ],
    [
      'src/auth/shared-tokens.test.ts',
      'lets nobody in by a static token that may have been revoked, once the replicas were not heard of for minutes',
    ],
  ),
  'cluster:reload': promise('`config reload` on one machine reaches the replicas on all others', [
    REPLICAS,
    'reaches the gateways on all others',
  ]),
  'cluster:logins': promise(
    'A login on any machine serves all replicas, one renews it for all, and without Redis tokens in memory serve on',
    [REPLICA_LOGINS, 'on any machine serves all replicas at once, and a logout ends it for all'],
    [REPLICA_LOGINS, 'is renewed once, however many replicas need it'],
    [REPLICA_LOGINS, 'that was renewed while Redis died is not lost: it is saved when Redis is back'],
    [REPLICA_LOGINS, 'serves on from memory while Redis is away, and a new replica says why it cannot'],
  ),
  'cluster:approvals': promise(
    'Approvals and pins of one replica count at all; without Redis nothing new is approved, and nothing is lost with it',
    [REPLICA_APPROVALS, 'made at one replica count at all others at once, and at those that start later'],
    [REPLICA_APPROVALS, 'hold back at every replica what changed after the first sight of one'],
    [REPLICA_APPROVALS, 'stay closed while Redis is away: what was approved works, nothing new is'],
    [REPLICA_APPROVALS, 'survive the loss of everything in Redis'],
  ),

  // 8. Budgets that a test can hold; the others are measured by `npm run bench:gateway`
  'budget:meta': promise('The five meta-tools cost under 600 tokens', [META, 'cost under 600 tokens']),
  'budget:answers': promise(
    'A search answer costs under 200 tokens at the median and 300 at p95, a list under 2,000',
    ['test/budgets.test.ts', 'hold for made-up tools of real sizes'],
    [LISTS, 'list_tools does, whatever tools are called'],
  ),
};
