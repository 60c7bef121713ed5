/**
 * `anygpt mcp resources` and `anygpt mcp prompts`: list what servers offer beside tools.
 * @module
 */

import type { ServerItems } from '../../core/types.ts';
import { compact } from '../../meta-tools/answers.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { exactly } from '../positionals.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';

const EXIT_CODES = `Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error, 3 connection failed`;

/** One entry of a list: what it is called by, and its texts. */
interface Line {
  readonly id: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

interface Kind {
  readonly title: string;
  readonly document: (items: ServerItems) => Readonly<Record<string, unknown>>;
  readonly lines: (items: ServerItems) => readonly Line[];
}

const textsOf = ({ name, title, description }: Readonly<Record<string, unknown>>) => ({ name, title, description });

const RESOURCES: Kind = {
  title: 'Resources',
  document: ({ resources, resourceTemplates }) => ({
    resources: resources.map(({ uri, mimeType, ...rest }) => compact({ uri, ...textsOf(rest), mimeType })),
    resourceTemplates: resourceTemplates.map(({ uriTemplate, mimeType, ...rest }) =>
      compact({ uriTemplate, ...textsOf(rest), mimeType }),
    ),
  }),
  lines: ({ resources, resourceTemplates }) => [
    ...resources.map((definition) => ({ id: definition.uri, definition })),
    ...resourceTemplates.map((definition) => ({ id: definition.uriTemplate, definition })),
  ],
};

const PROMPTS: Kind = {
  title: 'Prompts',
  document: ({ prompts }) => ({
    prompts: prompts.map(({ arguments: given = [], ...rest }) =>
      compact({
        ...textsOf(rest),
        arguments: given.map(({ name, description, required }) => ({ name, description, required: required === true })),
      }),
    ),
  }),
  lines: ({ prompts }) =>
    prompts.map((definition) => {
      const given = definition.arguments ?? [];
      const names = given.map(({ name, required }) => (required === true ? name : `${name}?`));
      return { id: `${definition.name}${names.length > 0 ? ` (${names.join(', ')})` : ''}`, definition };
    }),
};

export const resources: Command = {
  usage: `Usage: anygpt mcp resources [server] [options]

Lists the resources and resource templates of all servers, or of one, from the
cached lists. Starts only servers whose lists are not known.

Options:
${SESSION_HELP}

Examples:
  anygpt mcp resources
  anygpt mcp resources github --json
  anygpt mcp read github repo://owner/name/README.md

${EXIT_CODES}`,
  options: SESSION_OPTIONS,
  run: (values, positionals, io) => withSession(values, io, (session) => list(RESOURCES, positionals, session)),
};

export const prompts: Command = {
  usage: `Usage: anygpt mcp prompts [server] [options]

Lists the prompts of all servers, or of one, with their arguments, from the
cached lists. Starts only servers whose lists are not known.

Options:
${SESSION_HELP}

Examples:
  anygpt mcp prompts
  anygpt mcp prompts github --json

${EXIT_CODES}`,
  options: SESSION_OPTIONS,
  run: (values, positionals, io) => withSession(values, io, (session) => list(PROMPTS, positionals, session)),
};

async function list(
  { title, document, lines }: Kind,
  positionals: readonly string[],
  session: Session,
): Promise<number> {
  const named = positionals.length === 0 ? undefined : exactly(positionals, '[server]');
  const failed = await session.lists(named);
  const [only] = named ?? [];
  const failure = only === undefined ? undefined : failed.get(only);
  if (failure) return session.fail(failure);
  const servers: object[] = [];
  const blocks: string[] = [];
  for (const server of named ?? (await session.engine.serverNames())) {
    const missing = failed.get(server);
    if (missing) session.note(missing.message);
    const items = missing ? undefined : await session.engine.items.list(server);
    if (items?.success === false && only !== undefined) return session.fail(items.error);
    if (!items?.success) continue;
    const found = lines(items.data);
    if (found.length === 0 && only === undefined) continue;
    servers.push({ server, ...document(items.data) });
    blocks.push(
      `${title} of ${oneLine(server, 200)} (${found.length}):`,
      ...found.map((line) => lineText(line, session)),
    );
  }
  if (session.json) session.printJson({ servers });
  else if (blocks.length > 0) session.print(blocks.join('\n\n'));
  else session.note(`No server has ${title.toLowerCase()}.`);
  return EXIT.ok;
}

function lineText({ id, definition }: Line, { paint, block }: Session): string {
  const { title, description, name } = definition;
  const about = description ?? title ?? (id.startsWith(String(name)) ? '' : name);
  const shown = paint('bold', oneLine(id, 2000));
  return about ? `${shown}\n${block(oneLine(String(about), 2000), '  ')}` : shown;
}
