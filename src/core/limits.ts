/**
 * Lists the bounds of this program with their reasons: how deep, how long, how many, how large.
 *
 * `DEFAULTS` is what an operator or a program may change: the defaults of configuration keys and options. `LIMITS` is
 * what stays as it is. A new bound or duration goes here and nowhere else; `test/architecture.test.ts` refuses
 * constants, defaults, members and timers with numbers of their own. It does not see numbers inside other calls.
 * Numbers that shape one algorithm (weights, shares, sizes of a step) are no bounds and stay beside it.
 * @module
 */

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const defaults = {
  /** The configuration keys under `limits`; `config/settings-schema.ts` describes them. */
  limits: {
    /** A larger result is cut and paged: it would fill a model's context. */
    result: 5 * MIB,
    /** A larger message would hold up all other calls while it is read. */
    message: 16 * MIB,
    /** Many small values take far longer to read than their bytes suggest. No server we know comes near it. */
    messageValues: 200_000,
    /** Most calls answer within seconds; one that reports progress may go on. */
    callIdle: 60_000,
    /** Ends a call that reports progress for ever. Leaves people time to answer questions. */
    callCeiling: 600_000,
    /** A page is a small request. */
    listPage: 15_000,
    /** A whole list is read page by page. */
    list: 60_000,
    /** A server that gives one cursor after another is stopped here. */
    listPages: 200,
    /** One server must not fill the catalogue alone. */
    toolsPerServer: 10_000,
    /** The catalogue and its index are in memory. */
    tools: 100_000,
    /** About 60,000 tokens: more than a model can use for one tool. */
    definition: 256 * KIB,
    /** Deeper schemas exhaust the stack of recursive code. */
    schemaDepth: 64,
    /** Checks and texts of a schema take time for each sub-schema. */
    schemaNodes: 5_000,
    /** Agents read the beginning; the rest costs memory. */
    description: 16 * KIB,
    /** More calls at once make most servers slower, not faster. */
    concurrency: 16,
    /** A longer queue would outlast the calls' own time limits. */
    queue: 64,
    /** An agent is told that a server is busy rather than kept waiting. */
    queueWait: 10_000,
    /** Memory and sockets of one gateway. */
    inFlight: 512,
    /** One client leaves room for the others. */
    inFlightPerClient: 64,
    /** A check that takes longer would delay every other call. */
    validation: 50,
    /** Enough for the last words of a server that died. */
    stderr: 64 * KIB,
    /** Starting a program takes the processor; more at once make all of them late. */
    spawns: 5,
    /** Each is a process with its own memory. */
    localServers: 32,
    /** An unused process is not worth its memory. */
    idle: 300_000,
    /** A line that is written in one go stays whole. */
    auditLine: 8 * KIB,
    /** Most calls end by then. */
    drain: 10_000,
    /** A service manager ends a process that takes longer. */
    shutdown: 20_000,
    /** When calls to a failing server are refused at once. */
    breaker: { failures: 5, rate: 0.5, minimum: 10, window: 30_000, open: 30_000 },
  },
  /** How often one remote server is asked for its list. */
  listing: { requestsPerSecond: 10, burst: 20 },
  /** The configuration keys under `retry`. */
  retry: { attempts: 3, initial: 1_000, max: 30_000, factor: 2, jitter: 0.1 },
  /** The configuration keys under `audit`. */
  audit: {
    /** Small enough to be read by people and copied whole. */
    maxBytes: 10 * MIB,
    /** With `maxBytes`, the room that the audit log takes on disk. */
    files: 5,
    /** Long enough for a look back over a quarter. */
    days: 90,
  },
  /** Options of a registry: providers of tools that a program hands in. */
  provider: {
    /** How long a list is fresh. */
    ttlMs: 300_000,
    /** How long an agent's request waits for one provider; a later answer is used from then on. */
    readMs: 5_000,
    /** How long a search waits for a list that it has never seen. */
    waitMs: 2_000,
    /** How long listing may take in the background. */
    listMs: 30_000,
    /** How long a call may take. */
    callMs: 60_000,
    /** Tools of a provider that serves one request: they are indexed for that request alone. */
    requestTools: 1_000,
    /** One list as JSON. */
    listBytes: 16 * MIB,
    /** Tools without a schema that are described with the list; those of a longer list when they are needed. */
    described: 100,
  },
  /** Results that are kept for `read_result`: an agent reads on within minutes or never. */
  results: { bytes: 64 * MIB, keptMs: 600_000 },
  /**
   * Calls that wait for the next request of their client. Each holds a connection, of a local server a process: all of
   * them leave each server a place for one more (`connections/local-places.ts`).
   */
  parked: { calls: 20, waitMs: 300_000 },
  /** Sessions of HTTP clients: each has a server object; idle ones end when a new client comes. */
  http: { sessions: 256 },
  /** Records that wait for the disk. */
  auditQueue: { records: 10_000, bytes: 8 * MIB },
};

const limits = {
  /** JSON from servers, clients, agents and files. */
  json: {
    /** Deeper values exhaust the stack of recursive code, here and in servers. */
    depth: 200,
    /** A message of the allowed depth and the envelope around it. */
    exactDepth: 256,
    /** Keeping digits exact costs a second pass over the text. */
    exactChars: 4 * MIB,
    /** Keeping digits exact costs a look at each value. */
    exactValues: 50_000,
    /** Agents write arguments by hand; bulk goes in several calls. Each value costs time on every later step. */
    clientValues: 40_000,
    /** Arguments of a program may hold long lists of numbers; shared objects and holes can stand for far more. */
    walkedValues: 1_000_000,
    /** A schema or an argument that a program hands in is copied in one go. */
    copyValues: 100_000,
    /** Texts and keys of such a copy together. */
    copyChars: 2_000_000,
    /** In bytes. The size of a larger value is not counted to the end; that of a cyclic value has no end. */
    measured: 64 * MIB,
    /** Arguments are hashed for the audit log within a few milliseconds. */
    hashedNodes: 20_000,
    /** Sorting a hostile object with a million keys would stall the process; wider objects keep their order. */
    sortedKeys: 5_000,
  },
  /** JSON Schemas of tools. What is accepted at all is `limits.schemaDepth` and `limits.schemaNodes`. */
  schema: {
    /** As deep as a schema that is accepted by default. */
    depth: 64,
    /** As many sub-schemas as are accepted by default. */
    nodes: 5_000,
    /** Sub-schemas visited when references are followed: a few references can stand for a very large schema. */
    expanded: 20_000,
    /** Sub-schemas visited to write one short text. */
    shown: 2_000,
    /** References that lead to references; a ring ends here. */
    hops: 8,
    /** Characters of one `$ref`; each step of it costs a look-up. */
    reference: 2_000,
    /** Sub-schemas searched for the one that a pointer means. */
    places: 200,
    /** Members of `allOf` that are merged for a text; the text is short, and merging is repeated for each node. */
    parts: 16,
    /** Members of `allOf` that are merged for an API, which is sent all of them. */
    sentParts: 64,
    /** `allOf` inside `allOf`. */
    mergedLevels: 4,
    /** A few references in `allOf` can stand for a very long list of properties. */
    mergedNames: 500,
    /** Alternatives of `anyOf` or `oneOf` whose parameters are gathered; gathering is repeated for each node. */
    branches: 20,
    /** Alternatives of the root that are sent to an API or offered on the command line. */
    sentBranches: 50,
    /** A definition of 256 KiB can hold ten thousand parameters; no agent reads them, and each costs time. */
    parameters: 256,
    /** How often a schema that refers to itself is written out. */
    rounds: 2,
    /** Nesting of a type that is written as text; a schema that refers to itself ends here. */
    textNesting: 12,
    /** Properties of a type that is written as text. */
    textProperties: 30,
    /** Members of a union or tuple that is written as text. */
    textParts: 8,
    /** Nesting of a type that is written in one line. */
    typeNesting: 4,
    /** Characters of such a line. */
    typeChars: 400,
    /** Members that such a line names. */
    typeMembers: 20,
    /** Objects inside each other whose fields the command line takes as `a.b=1`. */
    pairNesting: 4,
    /** Values of one generated example. */
    samples: 100,
    /** Characters of one generated example; a longer one shows less than the types do. */
    example: 600,
    /** Nesting that lint reports: models fill deeper objects badly. */
    deepNesting: 10,
    /** Nesting down to which a name with invisible characters is restored in arguments. */
    hiddenNames: 20,
  },
  /** Schemas that are written in other languages, and files made from them. */
  convert: {
    /** Types inside types, references followed. Printers and compilers recurse. */
    depth: 100,
    /** Values of one enumeration; a longer one is written as its base type. */
    members: 2_000,
    /** Characters of one value of an enumeration. */
    literal: 2_000,
    /** Characters of one name of a property; a longer one is left out. */
    name: 500,
    /** Characters of one description in generated code. */
    description: 1_000,
    /** Types of one RTFS expression, which has no names for repeated parts. */
    expanded: 5_000,
    /** Remarks on what a language cannot express, for each schema. */
    notes: 50,
    /** Characters of a name that domains and categories are read from. */
    readName: 200,
  },
  /** Checks of arguments and results against a schema. The time is `limits.validation`. */
  validation: {
    /** Steps of one check on the main thread: about twenty milliseconds. */
    fuel: 100_000,
    /** Schema and value together; keeps the recursion far from the end of the stack. */
    depth: 500,
    /** A check stops after this many; more do not help to correct a call. */
    violations: 20,
    /** References that need each other; a longer chain makes the schema unusable. */
    chain: 256,
    /** Parts of a value that is copied to another thread; the copying itself takes time. */
    copied: 50_000,
    /** One overrun may be the value's fault; a schema that overruns this often in a row is not checked for a while. */
    overruns: 3,
    /** Checks that wait for the other thread. */
    queue: 64,
    /** Problems in one error message; an agent repairs a few at a time. */
    problems: 8,
    /** Known names listed where one was wrong. */
    names: 25,
    /** Bytes of the part of a schema that an error message quotes. */
    excerpt: 2_000,
    /** Steps down to the offending part of a value. */
    path: 32,
    /** Reasons why a schema does not fit an API. */
    misfits: 3,
    /** Characters of a value or a name in an error message. */
    value: 64,
    /** Argument names compared with the known ones. */
    misspelt: 32,
  },
  /** Globs and regular expressions, in rules and in schemas. */
  pattern: {
    /** Compiling and matching grow with the length. */
    length: 1_000,
    /** Braces or groups inside each other. */
    depth: 20,
    /** Globs that one glob with braces stands for. */
    alternatives: 100,
    /** Characters of all these together. */
    expanded: 10_000,
    /** Instructions of a compiled expression: matching costs program times text. */
    program: 5_000,
    /** Compiled patterns kept in memory. */
    compiled: 1_000,
    /** States of a pattern that is proved to run in linear time; larger ones go to the slower engine. */
    positions: 1_000,
    /** States that follow one state in such a proof. */
    nextPositions: 64,
    /** States of a pattern without `^`, which is tried at every character. */
    unanchored: 64,
    /** Copies that `{n}` is written out to in such a proof. */
    repeats: 256,
  },
  /** What replicas of the gateway share over Redis. Durations in milliseconds. */
  cluster: {
    /** How long a command is waited for. Redis answers within one; a frozen one must not hold up calls. */
    command: 250,
    /** How long a start waits for Redis. */
    connect: 1_000,
    /** How long commands fail at once after one was not answered. */
    held: 1_000,
    /** The pause between attempts to connect: a new Redis is found within two seconds. */
    reconnect: { initial: 50, max: 2_000, jitter: 0.2 },
    /** A replica that does not take a request by then is frozen; one that is dead is noticed sooner. */
    taken: 4_000,
    /** A replica does not take a request that is older: its sender may have given up. */
    late: 3_000,
    /** An answer that takes longer is preceded by the word that the request was taken. */
    quick: 100,
    /** What comes within this time of an answer leaves in one message. */
    gathered: 10,
    /** How often a replica says that it still works on requests of another one, which asks whether it is dead. */
    working: 250,
    /** A replica that says nothing for so long is frozen. */
    silent: 4_000,
    /** How long a replica that was gone is not asked again. */
    notAsked: 5_000,
    /** Bytes of one message between replicas. A request over HTTP fits whole; answers are sent in pieces. */
    message: 8 * MIB,
    /** Bytes of one piece of an answer. */
    answerPiece: 256 * KIB,
    /** Bytes of an answer that wait for a client which reads slowly. */
    unread: 16 * MIB,
    /** Requests that one replica passes on at once. */
    passed: 512,
    /** A session that is unused for so long cannot be continued at another replica. */
    session: DAY,
    /** How often the masters of a Redis Cluster are asked for: a frozen one does not say that it was replaced. */
    slots: 5_000,
    /** How often a replica looks for changed tokens, although changes are announced. */
    tokensRead: 10_000,
    /** A replica that has not heard of tokens for so long lets none in: they may have been revoked. */
    tokens: 300_000,
    /** Characters of what a session's id says about its client; ids travel in a header of every request. */
    claims: 2_000,
    /** Replicas whose messages are told apart. */
    replicas: 1_000,
    /** How often a replica says that it is alive. */
    beat: 1_000,
    /** A replica that has not said so for as long is not counted. */
    gone: 4_000,
    /** A lease ends so long after its holder died. */
    lease: 3_000,
    /** How often its holder renews it. */
    renewal: 1_000,
    /** How long news of another replica are waited for before looking into Redis: they may have been missed. */
    look: 1_000,
    /** How far the clocks of two replicas are apart after each was set by that of Redis. */
    skew: 5,
    /** Lists whose dates are remembered: those of all servers, and of users with credentials of their own. */
    dates: 10_000,
    /** How often a replica asks for its turn to change a login or approvals. */
    turn: 100,
    /** Lists that are remembered while Redis is away. They are in memory anyway. */
    unsent: 1_000,
    /** Bytes of one value in Redis; longer ones are split. Each is sealed in about a millisecond. */
    piece: 2 * MIB,
    /** Bytes of a result that any replica can read on. Larger ones are read on where they were made. */
    result: 16 * MIB,
    /** Sessions that have moved between replicas; of others, Redis is asked again. */
    moved: 10_000,
  },
  telemetry: {
    /** Series of one metric. A monitoring system keeps each for weeks. */
    series: 2_000,
    /** A monitoring system needs one, a few people with curl the others. */
    connections: 16,
  },
  /** Names of tools and servers, in characters. */
  names: {
    /** The protocol asks for at most 128. Longer names are refused or cut. */
    tool: 256,
    /** Server and tool together; nothing longer is taken apart at its separators. */
    qualified: 1_024,
    /** A user of the gateway: issuer and subject of a token. */
    principal: 2_048,
    /** A resource is read by its URI, so none can be cut. */
    uri: 2_048,
    /** A name or a value in a message. */
    shown: 200,
    /** A pinned tool's name for clients: as long as the protocol asks for. */
    pinned: 128,
    /** OpenAI and Anthropic refuse longer names of tools. */
    api: 64,
    /** Letters of two names that are compared to find the one that was meant. */
    compared: 64,
    /** A file name made from what a server said. */
    file: 100,
    /** OpenAI's Chat Completions refuses longer lists of tools. */
    apiTools: 128,
  },
  /** Texts that are kept, shown or handed on, in characters. */
  text: {
    /** Why something failed, in one line. */
    reason: 300,
    /** The first sentence of a description, where one line has to do. */
    sentence: 100,
    /** A path that someone else chose, in a message. */
    path: 300,
    /** What a schema says that an API does not take, added to a description. */
    note: 300,
    /** An example in such a note. */
    noteExample: 60,
    /** An error with its explanation. */
    detail: 1_000,
    /** As much of one text as a person or an agent reads in one go. */
    long: 2_000,
    /** A message of a server or a tool: an error, a word on progress, advice. */
    message: 4_096,
    /** A tool's description, where it is shown or indexed whole. */
    description: 4_096,
    /** A tool's title. */
    title: 512,
    /** Keywords of one tool. */
    keywords: 64,
    /** One keyword. */
    keyword: 128,
    /** What a function or a tool gave as its error; stack traces fit. */
    error: 16 * KIB,
    /** Raw text that is searched for secrets or for a reason: looking through more would delay other calls. */
    raw: 64 * KIB,
    /** A server's instructions. */
    instructions: MIB,
    /** The last error of a program that died. */
    lastError: 200,
    /** Lines of stderr searched for the reason why a server died. */
    lastWords: 200,
    /** Description that lint searches for phrases. */
    lintedText: 50_000,
    /** Errors inside errors that are looked at; they may form a ring. */
    causes: 8,
    /** A regular expression that is kept in a definition for an API. */
    pattern: 5_000,
  },
  /** Answers of the five tools: an agent pays for every token. */
  answer: {
    /** Tools shown beside the five: each costs an agent tokens in every message. */
    pinned: 64,
    /** One page of details or of a schema, in weight: about 1,400 tokens. */
    page: 5_600,
    /** A list of servers or tools, in tokens. */
    listTokens: 2_000,
    /** The hits of a search with no limit given, in estimated tokens. The estimate is nearly twice too high: these are 175 to 195. */
    hits: 330,
    /** Names of servers in a description of `search_tools`: forty, and the estimate may be two too low. */
    nameTokens: 38,
    /** Characters of a description that details are taken from; `read_schema` shows the rest. */
    description: 20_000,
    /** Lines of such a description. */
    descriptionLines: 500,
    /** Characters of a tool's signature in a search result. */
    signature: 120,
    /** Characters of one type in a signature. */
    signatureType: 30,
    /** Characters of one parameter's type in details. */
    parameter: 300,
    /** Servers that a note on a search names. */
    servers: 4,
    /** Why each of them gives no tools. */
    reason: 100,
    /** Servers of a registry that a note names. */
    registryServers: 2,
    /** Characters of such a name: a longer one could be a sentence. */
    registryName: 80,
    /** Warnings beside the hits of a search. */
    warnings: 3,
    /** Characters of such a warning. */
    warning: 200,
    /** The definitions in an answer of `tool_search`. */
    bytes: 512 * KIB,
    /** Content blocks on one page of a result; the HTTP transport spends time on each. */
    blocks: 2_000,
    /** Notes on one definition for an API. */
    notes: 5,
    /** Examples of one definition for an API. */
    examples: 5,
    /** Examples of a tool that are checked to find those. */
    examplesRead: 20,
    /** Characters compared to find values that a result has twice; beyond it both are sent. */
    repeatedWork: 20_000_000,
    /** Places of one text that are compared for this. */
    repeatedTries: 1_000,
  },
  /** How many things a message or a list on a terminal names. */
  shown: {
    /** A command line in a list. */
    command: 500,
    /** An argument with spaces or quotes in a list. */
    argument: 40,
    /** Names inside one sentence; the rest is counted. */
    named: 5,
    /** Names where the sentence is about them. */
    some: 10,
    /** Allowed values; of a longer list the nearest ones help more. */
    options: 12,
    /** Lines of a list; what scrolls away is not read. */
    listed: 20,
    /** Problems of one configuration file; people mend them a screen at a time. */
    problems: 50,
    /** Characters of a label in a chart. */
    label: 24,
    /** Characters of one line of a diff. */
    diffLine: 160,
    /** Characters of a file whose long lines a diff shows formatted. */
    diffFormatted: 256 * KIB,
    /** Lines of a diff. */
    diffLines: 200,
    /** Lines of the two texts multiplied; beyond it they are shown one after the other. */
    diffCells: 4_000_000,
    /** Words that completion offers to a shell. */
    completions: 2_000,
  },
  /** Pins, approvals and the scan of definitions. */
  approvals: {
    /** Characters of a canonical definition. A longer one gets no pin, so it cannot be approved. */
    definition: 4 * MIB,
    /** Values of such a definition. */
    values: 100_000,
    /** Approved definitions of one tool; the oldest is forgotten. */
    pins: 32,
    /** Tools that are remembered for one server. Unknown ones are not approved. */
    tools: 50_000,
    /** Bytes of a file with approvals; a larger one was not written by this program. */
    fileBytes: 64 * MIB,
    /** Characters of an approved definition that is kept for the next diff. */
    keptDefinition: 64 * KIB,
    /** Lines of the diff of one definition on a terminal: more than 99.5 % of real tools have. */
    diffLines: 500,
    /** Characters of a text in such a line, more than 99.9 % of real ones have; of a longer one the middle is left out. */
    diffText: 8_000,
    /** Unchanged characters on both sides of it. */
    diffContext: 60,
    /** Characters of all texts of a definition that are scanned: more than a definition may have by default. */
    scanned: 2 * MIB,
    /** Findings of one definition; a person has seen enough by then. */
    findings: 50,
    /** Lists that one call asks of a server that announces a change with every list. */
    confirmations: 3,
    /** Characters of a finding's excerpt. */
    excerpt: 160,
    /** Characters of one encoded text that is decoded and scanned. */
    encoded: 64 * KIB,
  },
  /** Requests to search. */
  search: {
    /** Longer queries are cut: every word costs time. */
    query: 2_000,
    /** Hits of one search, whatever it asks for. */
    results: 100,
    /** Hits of a search that gives no limit. */
    defaultResults: 10,
    /** Resources and prompts beside tools. */
    items: 3,
    /** Filters in one query. */
    filters: 16,
    /** Characters of one filter's value. */
    filterValue: 128,
    /** Wildcards in one filter: matching grows with each. */
    filterStars: 8,
    /** Characters of a query that is compared with the names of a request's own tools. */
    nameQuery: 200,
    /** Letters of two words whose edit distance is computed. */
    fuzzyWord: 40,
    /** Words of one query. */
    terms: 64,
    /** Acts in one query that are searched for, each on its own: every one costs a search. */
    acts: 4,
    /** Words of a query in which acts are looked for. */
    actWords: 256,
    /** Words and marks of a query that are weighed by how much they ask: the time grows with the square. */
    askingPieces: 128,
    /** Words that an explanation names as those that ask most. */
    askingShown: 8,
    /** Concrete things in one query that are said in words. */
    things: 4,
    /** Words of the object of a request. */
    goalWords: 5,
    /** Names in one query that may be those of tools. */
    pieces: 32,
    /** Ways to split a query into a server's name and the rest. */
    splits: 8,
    /** Steps through the dictionary for one misspelt word: enough for two edits among 100,000 words. */
    steps: 20_000,
    /** Completions of one word. */
    completions: 256,
    /** Names of one server that differ only in case, separators or look-alike letters. */
    alike: 16,
    /** Counts of words kept in memory; a search needs a few hundred. */
    entries: 2_048,
    /** Characters of one word. Longer runs are noise (base64, hashes). */
    word: 64,
    /** Characters of a word that is put together from parts. */
    compound: 96,
    /** Characters of a word whose ending is taken off. */
    stemmed: 32,
    /** Characters of a text that is turned into a vector. */
    meaningText: 2_000,
    /** Words of such a text. */
    meaningWords: 64,
    /** Phrases kept for one tool. */
    phrases: 16,
    /** Characters of one phrase. */
    phrase: 256,
    /** Nesting of a schema whose words are indexed. */
    schemaDepth: 8,
    /** Sub-schemas whose words are indexed; ranking needs no more. */
    schemaNodes: 1_000,
    /** Names of parameters that are indexed. */
    schemaNames: 256,
    /** Allowed values that are indexed. */
    schemaValues: 64,
    /** Characters of one parameter's description that are indexed. */
    schemaText: 1_024,
    /** Characters of all of them together. */
    schemaTexts: 16 * KIB,
    /** Queries in one file for `eval`. */
    judged: 50_000,
    /** Tools of one name that lint compares; the time grows with the square. */
    similarTools: 200,
  },
  /** What one principal's use has taught, as it is written to disk. */
  usage: {
    /** Searches that led to a call. */
    queries: 1_000,
    /** Words of one query. */
    words: 24,
    /** Tools of one query. */
    tools: 8,
    /** Characters of the name of a server or tool. */
    name: 256,
    /** Characters of a query that is kept as written. */
    text: 200,
    /** The whole as JSON. */
    bytes: 512 * KIB,
  },
  /** Vectors of a service. */
  embeddings: {
    /** Vectors on disk; the least recently used go first. */
    disk: 1024 * MIB,
    /** Tools that get vectors. */
    tools: 50_000,
    /** Memory for all vectors. */
    bytes: 256 * MIB,
    /** One answer of the service. */
    response: 32 * MIB,
    /** No model gives longer vectors. */
    dimensions: 65_536,
    /** Vectors of queries kept in memory. */
    queries: 256,
    /** Requests to find the one text of a batch that the service refuses. */
    splits: 32,
    /** Nearest tools that are handed to the ranking. */
    similar: 200,
    /** Characters of a query or a tool; small models read about 500 tokens. */
    text: 1_000,
    /** Characters of a tool's description in such a text. */
    description: 600,
    /** Parameters in such a text. */
    parameters: 24,
  },
  /** Credentials of those who ask over HTTP. */
  auth: {
    /** Characters of an Authorization header; Node refuses heads of more than 16 KiB. */
    header: 8_192,
    /** Characters of a user's or a profile's name in a token. */
    name: 500,
    /** Keys and metadata of an identity provider are a few kilobytes. */
    answer: MIB,
    /** Tokens that are being asked about at the same time. */
    asking: 64,
    /** Checked tokens that are remembered. */
    known: 1_000,
    /** Static tokens of one state folder. */
    tokens: 1_000,
    /** Seconds by which the clocks of two machines may differ. */
    clockSkew: 5,
  },
  /** What authorization servers send. */
  login: {
    /** Metadata and tokens are a few kilobytes. */
    answer: MIB,
    /** Characters of a `WWW-Authenticate` header that are read. */
    challenge: 8_192,
    /** Authorization servers of one server that are tried. */
    issuers: 3,
  },
  /** What an MCP Registry sends. Its entries are written by strangers. */
  registry: {
    /** One answer; a page of a hundred entries of ordinary size has a tenth of it. */
    answer: 16 * MIB,
    /** Pages of one sync; a registry that gives one cursor after another is stopped here. */
    pages: 5_000,
    /** Entries kept of one registry: five times as many as the largest has. */
    entries: 100_000,
    /** All entries of one registry as JSON. */
    bytes: 512 * MIB,
    /** One entry as JSON; a page of text describes any server. */
    entry: 64 * KIB,
    /** Entries of one file on disk together; a look-up reads one file. */
    chunk: 512 * KIB,
    /** Files of one registry before they are written anew. */
    chunks: 2_048,
    /** Characters of a name; the schema allows as many. */
    name: 200,
    /** Characters of a version; the schema allows as many. */
    version: 255,
    /** Characters of a description; the schema allows a hundred, earlier ones had no limit. */
    description: 500,
    /** Characters of a value that becomes part of a command line, an address or a header. */
    value: 2_000,
    /** Packages, remotes, arguments, variables and choices in one list. */
    list: 64,
    /** Reasons for entries that were left out. */
    skipped: 20,
    /** Registries in a configuration. */
    registries: 16,
    /** Answers to queries of one registry that are kept. */
    answers: 200,
    /** A bundle (MCPB) as it is downloaded; those with a runtime in them have 100 MiB. */
    bundle: 256 * MIB,
    /** All files of a bundle together. */
    unpacked: 1_024 * MIB,
    /** Files of a bundle; dependencies of a large server have 20,000. */
    bundleFiles: 50_000,
    /** Addresses that lead to another before a bundle is there. */
    redirects: 5,
  },
  /** Messages on their way. From a server, `limits.message` and `limits.messageValues` apply. */
  wire: {
    /** One message of a client on stdio, and the arguments of one call. */
    message: 16 * MIB,
    /** One HTTP request, which is the SDK's own limit; arguments that came as text. */
    body: 4 * MIB,
    /** Bodies of this length are no heavier than the connection that brings them. */
    shortBody: 16 * KIB,
    /** All longer bodies that are being read: eight of the longest. */
    bodies: 32 * MIB,
    /** Entries on one page of a list of several exposed servers. */
    page: 1_000,
    /** Streams on which clients without sessions wait for notifications. */
    streams: 256,
    /** One message that is kept for a client of the old protocol whose stream broke. */
    event: MIB,
    /** Messages that are kept for one session. */
    sessionEvents: 256,
    /** The same in bytes. */
    sessionEventBytes: 2 * MIB,
    /** What is kept for all sessions. */
    events: 64 * MIB,
    /** Requests of HTTP clients that start in one round of the event loop. */
    starts: 8,
    /** Unanswered requests on one connection; clients send the next one after an answer. */
    pipelined: 4,
    /** What a client of the old protocol says about itself; its session keeps it. In characters. */
    greeting: 64 * KIB,
    /** Connections of HTTP clients: four for each session. */
    connections: 1_024,
    /** A larger request waits its turn where several callers share a local server, in characters. */
    largeRequest: 64 * KIB,
    /** Text of an unfinished line that is looked at again with the next chunk. */
    overtaking: 16 * KIB,
    /** Larger messages are counted before they are parsed, and wait for their turn. */
    large: 256 * KIB,
    /** Chunks of an answer that is read at once; one of that length has fewer, and each of many small ones costs time. */
    plainChunks: 16,
    /** All larger messages of servers that are being received: four of the longest. */
    answers: 64 * MIB,
    /** Shorter events of one HTTP chunk are passed on together. */
    shortEvent: 8 * KIB,
    /** Start of a refused message that is searched for its id. */
    head: 1_024,
    /** End of a refused message that is searched for its id. */
    tail: 128,
    /** Answers that wait for a client on stdio before the gateway stops reading. */
    unread: 4 * MIB,
    /** Answers that wait for HTTP clients that have stopped reading. */
    unreadHttp: 16 * MIB,
    /** How many times as much may wait for all HTTP clients, busy ones included. */
    unreadFactor: 4,
    /** Messages in one HTTP answer; the protocol has no batches any more. */
    batch: 64,
    /** Messages in one HTTP request, which is the SDK's own limit. */
    clientBatch: 100,
    /** Open requests of a server to its client. */
    requests: 64,
    /** Answers to pings that are being written; a server that floods us with pings waits. */
    pongs: 4,
    /** Questions in one result. */
    questions: 16,
    /** How often one call may ask its client something. */
    questionRounds: 10,
    /** Characters of a cursor; each is remembered while a list is read, and goes back to the server. */
    cursor: 8_192,
    /** Tools that were left out of a list and are remembered with the reason. */
    skipped: 100,
    /** A list weighs at most as much as this many definitions of the largest size. */
    listDefinitions: 128,
    /** Resources, templates or prompts of one server; a server with more has templates. */
    items: 1_000,
    /** One of them as JSON. */
    item: 64 * KIB,
    /** Characters of a request to listen, which is kept while its stream is open. */
    listening: 128 * KIB,
    /** Resources that one client watches. */
    watched: 1_000,
    /** Resources of one server that all clients watch together, each counted once for each client. */
    watchedByAll: 4_000,
    /** Resources that a client begins to watch before other work has its turn. */
    watchedAtOnce: 4,
    /** Gateways that one call may pass; gateways that call each other end here. */
    gateways: 8,
    /** Idle connections of one server kept for clients with the same roots. */
    sameRoots: 4,
  },
  /** Keeping secrets out of texts, in characters. */
  secrets: {
    /** Values remembered: a secret that is rotated every minute is known for a week. */
    known: 10_000,
    /** Longer values are known by their lines; no program prints a file of this size in hex. */
    encoded: 8_192,
    /** How often a text is searched again after a secret was found. */
    rounds: 4,
    /** How far patterns look beyond a cut, so that a credential across it is seen whole. */
    reach: 4_096,
    /** A private key with its line breaks and headers. */
    key: 16 * KIB,
    /** A line that grows longer is let through in parts. */
    line: 8_192,
    /** Hidden text that is read beyond a cut; a server may write megabytes of it. */
    ahead: 256 * KIB,
    /** Text that is held back until it is known to hold no secret. */
    held: 128 * KIB,
    /** Assignments inside each other, as in `--env=HEADER=Authorization: Bearer x`. */
    nesting: 3,
    /** Nesting of what goes into a log line. */
    logDepth: 8,
    /** Nesting of argument values in the audit log. */
    auditDepth: 20,
    /** Argument values of one call in the audit log. */
    auditNodes: 2_000,
    /** Secret values of one client's file. */
    documentValues: 2_000,
  },
  /** The record of calls. A line is `limits.auditLine`. */
  audit: {
    /** A longer line in an audit file is none of ours. */
    foreignLine: MIB,
    /** Arguments of one call that are named. */
    arguments: 64,
    /** Different refusals that get lines of their own in one window; more are counted by code. */
    distinct: 1_000,
    /** Bytes of audit files that `stats` reads. */
    summaryBytes: 1024 * MIB,
    /** Calls of each tool that are kept of surplus files. */
    perTool: 100,
    /** Tools that `stats` tells apart. */
    summaryTools: 10_000,
  },
  /** Files that are read or kept. */
  files: {
    /** Files of one configuration: by `extends`, by one pattern of a client, or to be trusted at once. People read the last. */
    configuration: 64,
    /** Parents of the working folder that are searched for a project's files; no person nests folders deeper. */
    parents: 64,
    /** A configuration of more files is watched in part. */
    watched: 4_096,
    /** One configuration file; a larger one was named by mistake. */
    bytes: 5 * MIB,
    /** One file of a project; parsing it must end soon. */
    projectBytes: 256 * KIB,
    /** All untrusted files of one load; they are only hashed. */
    projectTotal: 8 * MIB,
    /** Characters of untrusted files that one load parses: enough for the settings of several editors. */
    untrusted: 128 * KIB,
    /** Characters parsed only to say what a file holds. */
    looked: 2 * MIB,
    /** A client's own file. Files of 250 MB exist; a larger one holds no settings. */
    clientBytes: 1024 * MIB,
    /** Up to this size a client's file is parsed whole; parsing takes many times the memory. */
    clientWhole: MIB,
    /** What is kept of a client's file: servers, and the names of tens of thousands of projects. */
    clientExcerpt: 16 * MIB,
    /** A file that `${file:…}` or `envFile` names. */
    referenced: 64 * KIB,
    /** Characters of one `${…}`; without a bound, text full of braces takes quadratic time. */
    reference: 8_192,
    /** How often a file that changes while it is read is read again. */
    readTries: 3,
    /** How often an edit is made again because the file has changed meanwhile. */
    writeTries: 10,
    /** Symbolic links in one path; Linux follows as many. */
    links: 40,
    /** Servers in one project file; no person wrote more, and no person checks them. */
    servers: 1_000,
    /** Tool names in one filter of a client's entry. */
    toolNames: 1_000,
    /** Compiled copies of configuration files that are kept. */
    compiled: 64,
    /** Configurations and folders whose notes were already shown. */
    notes: 200,
    /** Servers of one client's file that are asked whether they need a login. */
    logins: 200,
    /** Folders of PATH that are searched for a command. */
    commandFolders: 1_000,
    /** File names tried in a folder full of the same name. */
    saveTries: 1_000,
    /** Log files of servers that are kept. */
    serverLogs: 256,
    /** What is read of one such file. */
    serverLogRead: 4 * MIB,
    /** Entries of a zip archive. Reading a directory of so many takes about a second. */
    zipEntries: 100_000,
    /** Places of one text in a configuration that are tried before an edit is left to a person. */
    places: 64,
    /** One manifest in a zip archive. */
    zipEntry: MIB,
  },
  /** What is kept in memory and on disk. */
  cache: {
    /** One value in a store. */
    value: 64 * MIB,
    /** Characters of a key. */
    key: 4_096,
    /** The first line of an entry on disk. */
    header: 64 * KIB,
    /** Broken entries kept for a look. */
    setAside: 3,
    /** Days for which hits and misses are counted. */
    days: 30,
    /** Decisions of the rules kept in memory. */
    decisions: 100_000,
    /** Servers in a `CachingLayer`. */
    servers: 10_000,
    /** Definitions of providers kept in memory. */
    definitions: 1_000,
    /** Sets of definitions kept for one state of a registry; others are made anew each time. */
    definitionSets: 8,
    /** Earlier sets of names that calls may still use: conversations go on while lists change. */
    earlierNames: 4,
    /** Servers and users whose failures to connect are remembered. */
    health: 10_000,
    /** Rates of servers and of their users. */
    buckets: 10_000,
    /** Users whose usage is held in memory. */
    usageBooks: 256,
    /** Uses that wait to be written. */
    usagePending: 1_000,
    /** Callers whose last searches are remembered. */
    usageCallers: 1_000,
    /** Searches remembered for one caller. */
    usageSearches: 16,
  },
  /** How much is done at the same time. */
  atOnce: {
    /** Network callers whose calls have ended: they find a place beside newer callers. */
    knownCallers: 256,
    /** Servers that are listed: each may be a process that starts. */
    servers: 5,
    /** Views of an exposed server that are remembered for clients without sessions, by what the client can do. */
    views: 64,
    /** Files that are read. */
    files: 16,
    /** Definitions that one provider is asked for. */
    definitions: 16,
    /** Servers that were discovered without being configured; each has a list and an index in memory. */
    guests: 256,
    /** Users with credentials of their own whose lists are kept in memory. */
    users: 1_000,
  },
  /** What is looked at to infer the type of a tool's results. */
  observe: {
    /** Results of one tool: more of them rarely say more. */
    results: 8,
    /** Values of one result: a fraction of a millisecond. */
    values: 2_000,
    /** Levels of nesting. */
    depth: 8,
    /** Fields of one object; an object with more is a map. */
    properties: 64,
    /** Characters of a text that may be JSON. */
    text: 64 * KIB,
    /** Characters of a schema that is kept. */
    schema: 8 * KIB,
    /** Characters of the type that an agent is shown. */
    shown: 300,
  },
  /** How long something is waited for, in milliseconds. Calls and lists have keys of their own under `limits`. */
  time: {
    /** `setTimeout` takes no more; a longer wait would fire at once. */
    timer: 2 ** 31 - 1,
    /** A call that only finds out what a tool returns. */
    safeCall: 10_000,
    /** A token is renewed when it expires so soon: a call takes a while to arrive. */
    tokenMargin: 30_000,
    /** A person logs in and comes back. */
    login: 5 * MINUTE,
    /** A keychain that asks a person to unlock it waits for long. */
    keychain: 10_000,
    /** One request to an identity provider that tells who is asking. */
    issuer: 5_000,
    /** One request of a login. */
    loginRequest: 15_000,
    /** Waiting for another process that renews the same token: as long as its request may take. */
    refreshTurn: 20_000,
    /** The longest `Retry-After` that is waited for. */
    retryAfter: MINUTE,
    /** The start of a program, unless its entry says otherwise: a cold `npx` takes long. */
    connectLocal: 30_000,
    /** The greeting of a remote server, unless its entry says otherwise. */
    connectRemote: 5_000,
    /** Lists that a search, a call or `tools/list` misses. Those that come later serve the next request. */
    lists: 2_000,
    /** Schemas of a provider's tools, while its list is read; the others are read when they are needed. */
    described: 1_000,
    /** Resources and prompts, while tools are listed: a server that hangs there must not lose its tools. */
    items: 5_000,
    /** A server that failed last time, where all lists are wanted. */
    failing: 3_000,
    /** Providers of a registry in `tools/list`: clients are told when their tools come later. */
    listedTools: 250,
    /** One harmless question to a server: does it know us, does it answer. */
    probe: 5_000,
    /** Silence after which a server with waiting callers is pinged. */
    ping: 5_000,
    /** The shortest silence after which a server hangs, however short calls may be. */
    silence: 3_000,
    /** Questions of a server at its start, before its first call. */
    firstQuestions: 2_000,
    /** What a server does with an answer: it checks folders before it allows them. */
    digest: 100,
    /** Messages to an earlier caller, before the next caller takes its connection. */
    echo: 2_000,
    /** An answer on a stream of legacy SSE after its POST was refused. */
    lateAnswer: 50,
    /** The body of an HTTP answer with an error status: its beginning says enough. */
    refusal: 2_000,
    /** A call of the old protocol over HTTP before it gets a stream that survives its connection. */
    quickCall: 1_000,
    /** The end of a session over HTTP; a server that does not answer is left. */
    goodbye: 1_000,
    /** Answers over HTTP that are still being sent when the gateway ends. */
    lastAnswers: 1_000,
    /** Output of a process that has ended. */
    lastWords: 250,
    /** Each step of ending a process: closed stdin, SIGTERM, SIGKILL. */
    stage: 2_000,
    /** An idle socket to a server. It is closed before the server's usual five seconds are over, because a request on
     * a socket that is just being closed would be lost. */
    socket: 4_000,
    /** One HTTP request of a client. */
    httpRequest: 30_000,
    /** The head of such a request. */
    httpHead: 10_000,
    /** An idle socket of a client. A client without a session is known by its socket, and agents pause for long. */
    httpKeepAlive: MINUTE,
    /** A client that reads nothing, while too much waits for it or the gateway is to end. */
    unread: 2_000,
    /** A client that reads nothing, while little waits for it: it has stopped. */
    stalled: 15_000,
    /** A command ends this long after the signal that asked for it, whatever hangs. */
    ending: 5_000,
    /** The end of a process waits this long for a lock; what is not written stays for the next time. */
    lastWrite: 2_000,
    /** A file that another process writes. */
    lock: 30_000,
    /** The vector of a query: a search without it is better than a late one. */
    queryVector: 600,
    /** After a late vector, searches do without for this long at first. */
    lateVector: 5_000,
    /** One request to an embedding service: loading a large model takes a while. */
    embedding: MINUTE,
    /** One request to an embedder that a program hands in. */
    embedder: 65_000,
    /** The download of a bundle (MCPB). */
    bundle: 300_000,
    /** One request to a registry, its answer included. */
    registry: 30_000,
    /** A search refreshes what was synced before for this long; then it uses what is there. */
    registryRefresh: 5_000,
    /** What `doctor` waits for an embedding service. */
    embeddingCheck: 30_000,
    /** The thread for doubtful checks; it loads the validator. */
    checkerStart: 10_000,
    /** Running a configuration that is written as code. */
    configuration: 10_000,
    /** The same while a shell completes a line. */
    completion: 2_000,
  },
  /** The pause between two attempts, looks or writes, in milliseconds. Retries of calls have keys under `retry`. */
  pace: {
    /** A server is asked again when a tool is called that had changed in its last list. */
    secondLook: 5_000,
    /** Between two questions whether a person has typed the code of a login, unless the server says otherwise. */
    deviceCode: 5_000,
    /** The shortest such pause. */
    deviceCodeLeast: 1_000,
    /** First pause before another attempt to connect; it doubles. */
    connectRetry: 1_000,
    /** Longest pause between two attempts to connect. */
    connectRetryMost: 300_000,
    /** When a caller that found no place for a local server may try again. */
    localRetry: 1_000,
    /** Before a server whose list failed is asked again in the background. */
    listRetry: MINUTE,
    /** Before a provider whose list failed is asked again, at first. */
    providerRetry: 1_000,
    /** Before a definition that a provider failed to give is asked for again. */
    definitions: 30_000,
    /** What clients of the old protocol wait before they open a stream again. */
    streamRetry: 1_000,
    /** Shortest pause before a broken stream is opened again, whatever its server asks for. */
    reconnect: 1_000,
    /** Longest pause before a broken stream is opened again. */
    reconnectMost: 30_000,
    /** Between two lists of a server that announces changes. */
    changes: 5_000,
    /** The same for a server that never stops announcing. */
    slowChanges: 30_000,
    /** Announcements within this time are one change. */
    gatheredChanges: 50,
    /** Questions within this time are asked together. */
    gatheredQuestions: 5,
    /** Records of calls within this time are written together. */
    gatheredRecords: 25,
    /** Repeated refusals within this time share a line of the audit log. */
    refusals: 5_000,
    /** Before a failed write to the audit log is tried again. */
    auditRetry: 1_000,
    /** How long a stat of the audit file is reused; for that long, lines may go to a file that was just rotated. */
    stat: 250,
    /** Between two warnings of one kind. */
    warning: MINUTE,
    /** Changed counts and usage are written together. */
    saving: 5_000,
    /** How soon a process sees what others have learnt from use. */
    usage: MINUTE,
    /** Changed indexes are written together. */
    indexSave: 1_000,
    /** Before a failed write of an index is tried again. */
    indexSaveAgain: 10 * MINUTE,
    /** Longest pause of a server's log after a flood. */
    logWrites: 250,
    /** Longest pause between two attempts to take a lock. */
    lock: 50,
    /** Looking whether configuration files have changed. */
    files: 500,
    /** Looking whether a reload was asked for. */
    stamp: 1_000,
    /** How often a saved login is compared with what was read: another program may have replaced it. */
    login: 1_000,
    /** A configuration file that was quiet for so long is read. */
    settled: 300,
    /** The same for formats in which a part looks whole, such as YAML. */
    settledPart: 2_000,
    /** The same if the change removes something: half a file looks like that. */
    settledLoss: 10_000,
    /** Looking for new lines of a file that a command follows. */
    follow: 200,
    /** Looking for clients that do not read. */
    unread: 3_000,
    /** Looking whether all answers have left, at the end of the gateway. */
    exit: 100,
    /** Looking for large messages that do not grow while others wait for their memory. */
    stalledAnswers: 1_000,
    /** Looking for servers that hang. */
    hung: 1_000,
    /** Looking for idle connections, at most so often. */
    idle: 1_000,
    /** Looking for HTTP requests that take too long. */
    httpConnections: 5_000,
    /** Between two notes on the progress of one call; an agent uses no more. */
    progress: 50,
    /** When a caller may try again while one call tests whether a failing server works. */
    breaker: 1_000,
    /** When a caller may try a busy server again, where that cannot be estimated. */
    busy: 1_000,
    /** The shortest such time. */
    busyLeast: 100,
    /** The longest such time. */
    busyMost: 10_000,
    /** Before a schema whose checks took too long is checked again. */
    schema: MINUTE,
    /** Before an embedding service that failed is asked again. */
    embeddingRetry: 500,
  },
  /** The age at which something counts as old, in milliseconds. */
  age: {
    /** A list is used at once and read again in the background. */
    list: DAY,
    /** What an exposed server has shown to clients without sessions is used without asking it again. */
    view: MINUTE,
    /** A server that failed is waited for again. */
    failure: DAY,
    /** The list of a connection to a server that needs approval is asked for again before the next call. */
    confirmed: 5 * MINUTE,
    /** A connection that lasts this long clears earlier failures. */
    healthy: MINUTE,
    /** A server that accepted a token so recently is not asked again before the next call. */
    proven: 30_000,
    /** The same for a token without an expiry date. */
    provenLasting: 1_000,
    /** A younger connection on which no call was answered is no proof that a refused call was not looked at. */
    settled: 10_000,
    /** What a registry answered is used without asking it again. */
    registry: HOUR,
    /** A registry is read as a whole again, in case an incremental sync missed something. */
    registryFull: 7 * DAY,
    /** An incremental sync begins this much earlier than the last one did: clocks differ. */
    registryOverlap: 2 * MINUTE,
    /** A session over HTTP that asks for nothing ends when a new one comes. */
    session: 30 * MINUTE,
    /** A session that never asked for anything was not opened to be used. */
    newSession: 5_000,
    /** What a browser remembers of what a page may send. */
    preflight: 10 * MINUTE,
    /** A static token, unless its creator says otherwise. */
    staticToken: 90 * DAY,
    /** The longest life of a static token. */
    staticTokenMost: 10 * 366 * DAY,
    /** A token that was checked is checked again, so that a revoked one ends. */
    credential: MINUTE,
    /** How long clients may keep the list of the five tools. */
    metaTools: MINUTE,
    /** A call after a search was found by it. */
    search: 10 * MINUTE,
    /** A lock whose holder has not renewed it. */
    lock: 10_000,
    /** The same for the lock of the audit file, whose holder may compress old files. */
    auditLock: 30_000,
    /** A half-written file; no write takes so long. */
    abandoned: MINUTE,
    /** A half-written file of the audit log. */
    auditTemporary: MINUTE,
    /** A half-written file in the cache, which other machines may share. */
    temporary: HOUR,
    /** Vectors that are in use are written again, so that their file is not old. */
    vectorFile: 7 * DAY,
    /** Vectors that nothing has used are deleted. */
    vectors: 90 * DAY,
  },
  /** Shares of the processor or of a queue, in milliseconds. */
  slice: {
    /** Work on one connection, before others get their turn. */
    stretch: 4,
    /** Requests of HTTP clients in one round of the event loop, before the next one starts. */
    starts: 1,
    /** Work on the catalogue, before other work gets its turn. */
    catalogue: 10,
    /** A request estimated below this waits for no turn. */
    shortRequest: 8,
    /** The longest rest after large messages. */
    largeRest: 300,
    /** The longest rest of a connection that sends what was not requested. */
    unaskedRest: 500,
    /** The longest rest of an address that sends pipelines. Clients that share it wait as long with a new connection. */
    pipelineRest: 200,
    /** How long a starting server keeps its place: loading takes about so long. A slower one waits for something else. */
    start: 500,
    /** How long a large request keeps the next one waiting; without an answer by then, the server works on it. */
    request: 500,
  },
};

type Table<T> = { readonly [K in keyof T]: T[K] extends object ? Table<T[K]> : T[K] };

/** What may be changed, by a configuration key or an option. */
export const DEFAULTS: Table<typeof defaults> = defaults;

/** What stays as it is. */
export const LIMITS: Table<typeof limits> = limits;
