/**
 * What is looked for in the definitions of tools: each rule with how bad a breach is, what it means and what to do.
 * @module
 */

/** An API refuses or misleads (error), agents choose or call worse (warn), worth knowing (info). */
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
    fix: 'Rename the tool; agents behind this gateway can call it all the same',
  },
  'name-length': {
    severity: 'error',
    title: 'OpenAI and Anthropic accept names of at most 64 characters',
    fix: 'Shorten the name; agents behind this gateway can call it all the same',
  },
  'name-start': {
    severity: 'warn',
    title: 'Gemini accepts only names that begin with a letter or _',
    fix: 'Begin the name with a letter',
  },
  'name-prefixed': {
    severity: 'info',
    title: 'With the prefix clients add (mcp__server__) the name is longer than 64 characters',
    fix: 'Shorten the name of the tool or of the server',
  },
  'description-missing': {
    severity: 'warn',
    title: 'Without a description agents have only the name to go by',
    fix: 'Say in one sentence what the tool does and when to use it',
  },
  'description-vague': {
    severity: 'warn',
    title: 'The description says nothing',
    fix: 'Say what the tool does, on what, and what it gives back',
  },
  'description-repeats-name': {
    severity: 'info',
    title: 'The description only repeats the name',
    fix: 'Say what the tool gives back, what it needs and what it changes',
  },
  'definition-huge': {
    severity: 'warn',
    title: 'The definition is so long that it costs agents more than it tells them',
    fix: 'Move examples and manuals out of the description, and nested detail out of the schema',
  },
  'hidden-text': {
    severity: 'error',
    title: 'There are characters a person does not see and a model reads',
    fix: 'Do not use the tool before you know why; then have them removed',
  },
  'invisible-characters': {
    severity: 'info',
    title: 'There are invisible characters, as they come from copying',
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
    fix: 'Have it say what the tool does instead of when it must be called',
  },
  'credential-path': {
    severity: 'warn',
    title: 'A place where keys are kept is named',
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
    title: 'Parameters are required that the schema does not define; Gemini and strict modes refuse that',
    fix: 'Define them in properties, or take them out of required',
  },
  'array-items': {
    severity: 'error',
    title: 'Arrays do not say what they hold; OpenAI and Gemini refuse that',
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
    fix: 'Make one object of it, with optional parameters',
  },
  'schema-reference': {
    severity: 'error',
    title: 'The schema refers to something outside of it, or to nothing',
    fix: 'Put what is meant into $defs and refer to #/$defs/…',
  },
  'schema-invalid': {
    severity: 'error',
    title: 'The schema is not valid JSON Schema',
    fix: 'Correct the keywords that are named',
  },
  'schema-deep': {
    severity: 'warn',
    title: 'The schema nests deeper than 10 levels; OpenAI takes no more, and agents get lost',
    fix: 'Flatten it, or take a JSON text where anything goes',
  },
  'annotation-contradiction': {
    severity: 'warn',
    title: 'The annotations say the opposite of the name, or of each other',
    fix: 'Correct readOnlyHint and destructiveHint: clients skip questions because of them',
  },
  'look-alike': {
    severity: 'warn',
    title: 'Tools of one server can hardly be told apart',
    fix: 'Merge them, or have each description say what sets it apart',
  },
  'look-alike-server': {
    severity: 'info',
    title: 'Other servers have nearly the same tool',
    fix: 'Disable all but one with a rule, if they do the same',
  },
} as const satisfies Record<string, Rule>;

export type RuleId = keyof typeof RULES;

/** Every id. */
export const RULE_IDS = Object.keys(RULES) as readonly RuleId[];

/** A breach of one rule by one tool. */
export interface Finding {
  readonly server: string;
  readonly tool: string;
  readonly rule: RuleId;
  readonly severity: Severity;
  /** What is wrong, in a sentence. */
  readonly message: string;
  /** Parameters, places or other tools concerned; may be empty. */
  readonly where: readonly string[];
  /** What to do. */
  readonly fix: string;
}

/** A tool as it is looked at. Everything in it came from a server. */
export interface LintedTool {
  readonly server: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** What a check found: the rule and the places concerned. */
export type Breach = readonly [rule: RuleId, ...where: string[]];
