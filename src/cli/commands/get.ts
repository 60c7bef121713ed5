/**
 * `anygpt mcp get`: shows one server as it is configured, and where. Starts nothing.
 * @module
 */
import { isLocal, namedTextsOf } from '../../core/transport-parts.ts';
import type { ServerDefinition } from '../../core/types.ts';
import { compact } from '../../meta-tools/answers.ts';
import { oneLine, plainText } from '../../text/plain-text.ts';
import { knownServer, whereIs } from '../add/known-server.ts';
import type { Command } from '../command.ts';
import { EXIT } from '../io.ts';
import { toWord } from '../json-document.ts';
import { exactly } from '../positionals.ts';
import { ENGINE_HELP, ENGINE_OPTIONS, withSession } from '../session.ts';
import { shownConnection } from '../shown-connection.ts';

export const get: Command = {
  usage: `Usage: anygpt mcp get <server> [options]

Shows one server as it is configured: what it runs or where it connects, its
variables and headers without their secrets, and the file it is written in.
Starts no server.

Options:
${ENGINE_HELP}

Examples:
  anygpt mcp get github
  anygpt mcp get github --json

Exit codes: 0 success, 1 invalid arguments, 2 server not found or configuration
error`,
  options: ENGINE_OPTIONS,
  async run(values, positionals, io) {
    const [name = ''] = exactly(positionals, '<server>');
    return withSession(values, io, async (session) => {
      const server = await knownServer(session, name);
      const { redact } = session.engine;
      const { connection, description, enabled, origin, registry, refusal } = server;
      const local = isLocal(connection);
      const words = shownConnection(server, undefined, redact);
      if (session.json) {
        const document = { name, description, enabled, transport: connection.type, registry, refusal };
        const address = local
          ? { command: words, environment: namesOf(server) }
          : { url: words, headers: namesOf(server) };
        const place = { file: origin.file, path: origin.path, client: origin.client, nameThere: origin.name };
        session.printJson(compact({ ...document, ...address, ...place }));
        return EXIT.ok;
      }
      const lines = [
        ...namesOf(server).map((text) => `${local ? 'Environment' : 'Header'}: ${text}`),
        registry && `From the registry: ${registry}`,
        `Written in: ${await whereIs(server, io.env.HOME)}`,
        origin.name !== undefined && origin.name !== name && `Its name there: ${oneLine(origin.name, 200)}`,
        refusal,
      ].filter((line) => typeof line === 'string' && line !== '');
      const title = `${session.paint('bold', oneLine(name, 200))}${enabled ? '' : ' (disabled)'} (${connection.type})`;
      const [about, ...more] = [description ? oneLine(description, 2000) : '', ...lines].map((line) =>
        session.block(String(line), '  '),
      );
      // Not wrapped, so that it can be copied.
      const how = `  ${local ? 'Runs' : 'Connects to'}: ${plainText(words)}`;
      session.print([title, ...(about === '' ? [] : [about]), how, ...more].join('\n'));
      return EXIT.ok;
    });
  },
};

/** Names, each with its text if that is nothing but a reference: any other text may be a secret. */
const namesOf = ({ connection }: ServerDefinition): string[] =>
  Object.entries(namedTextsOf(connection)).map(([name, text]) =>
    /^(?:bearer |basic |token )?\$\{[^{}]*\}$/i.test(text) ? `${toWord(name)}=${toWord(text)}` : toWord(name),
  );
