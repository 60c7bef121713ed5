/**
 * `anygpt mcp config validate`: lists every problem of a configuration, and every rule without effect.
 * @module
 */
import { ConfigurationError } from '../../core/errors.ts';
import type { Command } from '../command.ts';
import { EXIT, type Io } from '../io.ts';
import { toJson } from '../json-document.ts';
import { block, widthOf } from '../layout.ts';
import { paintFor } from '../paint.ts';
import { withSession } from '../session.ts';
import { withTilde, withTildes } from '../source-lines.ts';

interface Report {
  readonly valid: boolean;
  readonly file?: string | undefined;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

export const validateConfig: Command['run'] = async (values, _positionals, io) => {
  const json = values.json === true;
  try {
    return await withSession(
      values,
      io,
      async ({ engine, lists, note }) => {
        if (values.refresh) await lists();
        const { origin, warnings } = await engine.getConfig();
        const rules = (await engine.ruleWarnings()).map(({ message }) => message);
        const report: Report = {
          valid: true,
          file: origin,
          errors: [],
          warnings: [...(json ? warnings : []), ...rules],
        };
        print(report, json, io);
        const unseen = await engine.unseen();
        if (unseen.length > 0 && !json)
          note(
            `The tools of ${unseen.join(', ')} are not known yet, so rules were not checked against them; --refresh reads them.`,
          );
        return EXIT.ok;
      },
      'configuration',
    );
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const errors = error.problems.length > 0 ? error.problems : [error.message];
    print({ valid: false, errors, warnings: [] }, json, io);
    return EXIT.notFound;
  }
};

function print(report: Report, json: boolean, io: Io): void {
  const { valid, file, errors, warnings } = report;
  if (json) {
    io.stdout.write(toJson({ valid, file, errors, warnings }));
    return;
  }
  const [paint, width] = [paintFor(io), widthOf(io)];
  const list = (title: string, items: readonly string[]) =>
    items.length > 0 &&
    [
      `${title} (${items.length}):`,
      ...items.map((item) => block(`- ${withTildes(item, io.env.HOME)}`, width, '  ')),
    ].join('\n');
  const what = file === undefined ? 'The configuration' : withTilde(file, io.env.HOME);
  const parts = [
    valid ? `${paint('green', '✓')} ${what} is valid` : `${paint('red', '✗')} The configuration is not valid`,
    list('Problems', errors),
    list('Warnings', warnings),
  ];
  io.stdout.write(`${parts.filter(Boolean).join('\n\n')}\n`);
}
