/**
 * `anygpt mcp inspect`: shows one tool with its parameters and examples.
 * @module
 */

import type { ToolExample, ToolMetadata, ToolParameter } from '../../core/types.ts';
import { oneLine, visible, visibly } from '../../text/plain-text.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { type Belonging, detailsDocument } from '../json-answers.ts';
import { exactly, pairOf } from '../positionals.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';

export const inspect: Command = {
  usage: `Usage: anygpt mcp inspect <server> <tool> [options]

Shows what a tool does, which parameters it takes, and the domains and
categories that are configured or that its name suggests. <server>:<tool> in one
word works as well.

Options:
  --examples         Show usage examples
${SESSION_HELP}

Examples:
  anygpt mcp inspect github create_issue
  anygpt mcp inspect github create_issue --examples
  anygpt mcp inspect github:create_issue --json

Exit codes: 0 success, 1 invalid arguments, 2 server or tool not found,
3 connection failed, 4 tool disabled`,
  options: { ...SESSION_OPTIONS, examples: { type: 'boolean' } },
  async run(values, positionals, io) {
    const { server, tool } = pairOf(positionals);
    exactly(positionals, '<server>', ...(tool === '' ? [] : ['<tool>']));
    return withSession(values, io, async (session) => {
      const { server: name } = await session.engine.refOf(server, tool);
      const failure = (await session.lists([name])).get(name);
      if (failure) return session.fail(failure);
      const found = await session.engine.describe(server, tool, { examples: values.examples === true });
      if (!found.success) return session.fail(found.error);
      const { toolToManifest } = await import('../../service/manifest.ts');
      const { servers } = await session.engine.getConfig();
      const definition = servers.find((one) => one.name === found.data.server) ?? { name: found.data.server };
      const belonging = toolToManifest(found.data, definition);
      if (session.json) session.printJson(detailsDocument(found.data, belonging));
      else session.print(detailsText(found.data, belonging, values.examples === true, session));
      return EXIT.ok;
    });
  },
};

function detailsText(
  tool: ToolMetadata,
  { domains, categories }: Belonging,
  withExamples: boolean,
  session: Session,
): string {
  const { paint, block } = session;
  const { server, name, description, parameters = [], examples = [], tags } = tool;
  const heading = (text: string) => paint('bold', text);
  const parts = [
    `${heading('Tool:')} ${oneLine(`${server}:${name}`, 500)}`,
    `${heading('Description:')}\n${block(description || '(none)', '  ')}`,
    parameters.length === 0
      ? `${heading('Parameters:')}\n  (none)`
      : `${heading('Parameters:')}\n${parameters.map((parameter) => parameterText(parameter, session)).join('\n\n')}`,
    [
      tags.length > 0 && block(`Tags: ${tags.join(', ')}`),
      block(`Domains: ${domains.join(', ')}`),
      categories.length > 0 && block(`Categories: ${categories.join(', ')}`),
    ]
      .filter(Boolean)
      .join('\n'),
    withExamples &&
      `${heading('Examples:')}\n${examples.map((example) => exampleText(example, session)).join('\n\n') || '  (none)'}`,
  ];
  return parts.filter(Boolean).join('\n\n');
}

function parameterText({ name, type, required, description }: ToolParameter, { block }: Session): string {
  const line = block(`${oneLine(visible(name), 200)} (${type}, ${required ? 'required' : 'optional'})`, '  ');
  return description ? `${line}\n${block(description, '    ')}` : line;
}

function exampleText({ description, parameters, generated }: ToolExample, { block }: Session): string {
  const title = description || (generated ? 'Generated from the schema' : 'Example');
  const lines = Object.entries(parameters).map(([name, value]) =>
    block(`${visible(name)}: ${JSON.stringify(visibly(value))}`, '    '),
  );
  return [block(`${oneLine(title, 500)}:`, '  '), ...lines].join('\n');
}
