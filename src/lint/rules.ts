/**
 * Lists the lint rules: each with its severity, its meaning and its fix.
 * @module
 */

/** `error`: an API refuses or is misled. `warn`: agents choose or call worse. `info`: worth knowing. */
export type Severity = 'error' | 'warn' | 'info';

export const SEVERITIES = ['error', 'warn', 'info'] as const;

interface Rule {
  readonly severity: Severity;
  readonly title: string;
  readonly fix: string;
}

/** Every rule by its id. */
export const RULES = {
  'name-characters': {
    severity: 'error',
    title: 'OpenAI and Anthropic accept only letters, digits, _ and - in a name',
    fix: 'Rename the tool; agents behind this gateway can call it anyway',
  },
  'name-length': {
    severity: 'error',
    title: 'OpenAI and Anthropic accept names of at most 64 characters',
    fix: 'Shorten the name; agents behind this gateway can call it anyway',
  },
  'name-start': {
    severity: 'warn',
    title: 'Gemini accepts only names that start with a letter or _',
    fix: 'Start the name with a letter',
  },
  'name-prefixed': {
    severity: 'info',
    title: 'With the prefix clients add (mcp__server__) the name is longer than 64 characters',
    fix: 'Shorten the name of the tool or of the server',
  },
  'description-missing': {
    severity: 'warn',
    title: 'Without a description, agents have only the name to go by',
    fix: 'Say in one sentence what the tool does and when to use it',
  },
  'description-vague': {
    severity: 'warn',
    title: 'The description says nothing',
    fix: 'Say what the tool does, on what, and what it returns',
  },
  'description-repeats-name': {
    severity: 'info',
    title: 'The description only repeats the name',
    fix: 'Say what the tool returns, what it needs and what it changes',
  },
  'definition-huge': {
    severity: 'warn',
    title: 'The definition is so long that it costs agents more than it tells them',
    fix: 'Move examples and manuals out of the description, and nested detail out of the schema',
  },
  'hidden-text': {
    severity: 'error',
    title: 'There are characters that people do not see but a model reads',
    fix: 'Do not use the tool until you know why; have the characters removed',
  },
  'invisible-characters': {
    severity: 'info',
    title: 'There are invisible characters, probably from copying',
    fix: 'Have them removed',
  },
  'instruction-like': {
    severity: 'error',
    title: 'The description tells the model how to behave beyond this tool',
    fix: 'Read it; if you do not trust it, disable the tool with a rule',
  },
  'pushy-description': {
    severity: 'warn',
    title: 'The description pushes the model to prefer or always call this tool',
    fix: 'Describe what the tool does, not when it must be called',
  },
  'credential-path': {
    severity: 'warn',
    title: 'A place where credentials are kept is named',
    fix: 'Read what it says: a tool should neither ask for keys nor send them anywhere',
  },
  'parameter-description': {
    severity: 'info',
    title: 'Parameters have no description',
    fix: 'Describe what is expected: meaning, format, an example',
  },
  'parameter-type': {
    severity: 'warn',
    title: 'Parameters have no type, so agents guess',
    fix: 'Give each a type, an enum or a $ref',
  },
  'parameter-name': {
    severity: 'error',
    title: 'Anthropic accepts only letters, digits, _ . and - in names of parameters, at most 64',
    fix: 'Rename the parameters',
  },
  'required-unknown': {
    severity: 'error',
    title: '`required` lists parameters that the schema does not define; Gemini and strict modes refuse that',
    fix: 'Define them in properties, or remove them from required',
  },
  'array-items': {
    severity: 'error',
    title: 'Arrays do not declare their items; OpenAI and Gemini refuse that',
    fix: 'Add items, at least {"type": "string"}',
  },
  'schema-not-object': {
    severity: 'error',
    title: 'The input schema does not describe an object',
    fix: 'Make it {"type": "object", "properties": {…}}',
  },
  'schema-root-union': {
    severity: 'error',
    title: 'OpenAI and Anthropic refuse anyOf, oneOf and allOf at the top of a schema',
    fix: 'Merge it into one object with optional parameters',
  },
  'schema-reference': {
    severity: 'error',
    title: 'The schema refers to something outside of it, or to nothing',
    fix: 'Put the target into $defs and refer to #/$defs/…',
  },
  'schema-invalid': {
    severity: 'error',
    title: 'The schema is not valid JSON Schema',
    fix: 'Correct the keywords that are named',
  },
  'schema-deep': {
    severity: 'warn',
    title: 'The schema nests deeper than 10 levels; OpenAI accepts no more, and agents make mistakes',
    fix: 'Flatten it, or accept JSON as text where any structure is allowed',
  },
  'annotation-contradiction': {
    severity: 'warn',
    title: 'The annotations say the opposite of the name, or of each other',
    fix: 'Correct readOnlyHint and destructiveHint: clients skip confirmations because of them',
  },
  'look-alike': {
    severity: 'warn',
    title: 'Tools of one server can hardly be told apart',
    fix: 'Merge them, or say in each description how it differs',
  },
  'look-alike-server': {
    severity: 'info',
    title: 'Other servers have nearly the same tool',
    fix: 'Disable all but one with a rule, if they do the same',
  },
} as const satisfies Record<string, Rule>;

export type RuleId = keyof typeof RULES;

export const RULE_IDS = Object.keys(RULES) as readonly RuleId[];

/** A breach of one rule by one tool. */
export interface Finding {
  readonly server: string;
  readonly tool: string;
  readonly rule: RuleId;
  readonly severity: Severity;
  /** What is wrong, in a sentence. */
  readonly message: string;
  /** Affected parameters, places or other tools; may be empty. */
  readonly where: readonly string[];
  /** What to do. */
  readonly fix: string;
}

/** A tool to check. All of its content came from a server. */
export interface LintedTool {
  readonly server: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** The result of a check: the rule and the affected places. */
export type Breach = readonly [rule: RuleId, ...where: string[]];
