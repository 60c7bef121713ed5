/**
 * `anygpt mcp execute`: calls a tool and shows what it returned.
 * @module
 */
import { resolve } from 'node:path';
import { fail, type ToolResult, toFailure } from '../../core/result.ts';
import type { CallToolResult, Progress, ToolRef } from '../../core/types.ts';
import { oneLine, plainText } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { argumentsFromPairs, isPair, likelySlips } from '../args-from-pairs.ts';
import type { Command, Values } from '../command.ts';
import { type Outcome, outcomeOf } from '../execute-outcome.ts';
import { exitCodeOf } from '../exit-code.ts';
import { forTerminal } from '../failure.ts';
import { EXIT } from '../io.ts';
import { exactly, pairOf } from '../positionals.ts';
import { resultText } from '../result-text.ts';
import { openFolder, type SavedFile, saveFiles } from '../save-files.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';
import { readArguments } from '../written-arguments.ts';

type Arguments = Readonly<Record<string, unknown>>;

export const execute: Command = {
  usage: `Usage: anygpt mcp execute <server> <tool> [key=value ...] [options]

Calls a tool. Values are typed by the tool's schema; key:=JSON is taken as JSON, a key that is repeated makes a list, and
a.b=value goes into an object. <server>:<tool> in one word works, too.

Options:
  --args JSON        Tool arguments as a JSON object; @FILE reads a file, - reads stdin; pairs are added to it
  --stream           Show progress on stderr while the tool runs
  --output DIR       Save pictures, sound and files of the result there; nothing is overwritten
${SESSION_HELP}

Examples:
  anygpt mcp execute github create_issue --args='{"repo":"owner/repo","title":"Bug report"}'
  anygpt mcp execute github create_issue repo=owner/repo title="Bug report" labels=bug labels=ui
  anygpt mcp execute filesystem read_file --args @arguments.json --json
  anygpt mcp execute browser screenshot url=https://example.com --output ./pictures

Exit codes: 0 success, 1 invalid arguments, 2 server or tool not found, 3 execution failed, 4 tool disabled`,
  options: {
    ...SESSION_OPTIONS,
    args: { type: 'string' },
    stream: { type: 'boolean' },
    output: { type: 'string' },
  },
  async run(values, positionals, io) {
    const { pair, rest } = takeApart(positionals, values.args !== undefined);
    return withSession(values, io, async (session) => {
      const ref = await session.engine.refOf(pair.server, pair.tool);
      const { given, pairs, folder } = await recordingMistakes(session, ref, async () => ({
        given: await readArguments(values.args as string | undefined, io),
        pairs: checkedPairs(rest),
        folder: values.output === undefined ? undefined : await openFolder(resolve(io.cwd, String(values.output))),
      }));
      if (!session.json)
        session.print(`Executing: ${oneLine([ref.server, ref.tool].filter(Boolean).join(':'), 500)}\n`);
      const called = await call(session, ref, { values, given, pairs });
      const outcome = outcomeOf(called, ref);
      const content = called.success && outcome.success ? (called.data.content ?? []) : [];
      const saved = folder === undefined ? [] : await saveFiles(content, folder, ref.tool);
      // A result is the server's own; what we say of a failure is ours.
      const document = saved.length > 0 ? { ...outcome, files: saved } : outcome;
      if (session.json) session.printJson(document, outcome.success ? 'exact' : undefined);
      else session.print(outcomeText(outcome, called, saved, session));
      return outcome.success ? EXIT.ok : exitCodeOf(outcome.error.code);
    });
  },
};

/** With --args the second word is always the tool; otherwise it may be the first pair, if the first word names both. */
function takeApart(positionals: readonly string[], hasArgs: boolean) {
  const [first = '', second] = positionals;
  const inOne = /:|__/.test(first) && (second === undefined || (!hasArgs && isPair(second)));
  const pair = pairOf(inOne ? [first] : positionals);
  return { pair, rest: positionals.slice(inOne ? 1 : 2) };
}

function checkedPairs(words: readonly string[]): readonly string[] {
  const stray = words.filter((word) => !isPair(word));
  if (stray.some((word) => word.trimStart().startsWith('{')))
    throw new UsageError(`JSON is given with --args: --args ${shellWord(stray.join(' '))}`);
  if (stray.length > 0) exactly(stray);
  return words;
}

/** Reads what the call needs. A mistake in it is recorded in the audit log as a refused call, then reported. */
async function recordingMistakes<T>({ engine }: Session, ref: ToolRef, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    await engine.refuse(toFailure(error, { ...ref, outcome: 'not_sent' }), ref);
    throw error;
  }
}

interface CallWords {
  readonly values: Values;
  readonly given: Arguments;
  readonly pairs: readonly string[];
}

async function call(
  { engine, lists, note, progress, io, signal, timeoutMs }: Session,
  { server, tool }: ToolRef,
  { values, given, pairs }: CallWords,
): Promise<ToolResult<CallToolResult>> {
  // Every call is in the audit log, and so is one that ends here.
  const refuse = (refusal: ToolResult<never>) => engine.refuse(refusal, { server, tool, arguments: given });
  const failure = (await lists([server])).get(server);
  if (failure) return refuse({ success: false, error: { ...failure, tool } });
  let args = given;
  if (pairs.length > 0) {
    const described = await engine.describe(server, tool);
    if (!described.success) return refuse(described);
    try {
      args = argumentsFromPairs(pairs, described.data.inputSchema, given);
      for (const { key, near } of likelySlips(pairs, described.data.inputSchema))
        note(`${tool} has no parameter "${key}". Did you mean "${near}"?`);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return refuse(fail('TOOL_VALIDATION_ERROR', `${error.message}.`, { server, tool, outcome: 'not_sent' }));
    }
  }
  const onProgress = (step: Progress) => {
    if (!values.stream) return progress.show(`Calling ${server}:${tool} … ${progressText(step)}`);
    progress.clear();
    io.stderr.write(`${progressText(step)}\n`);
  };
  progress.show(`Calling ${server}:${tool} …`);
  const called = await engine.call({ server, tool, arguments: args, signal, timeout: timeoutMs, onProgress });
  progress.clear();
  return called;
}

const progressText = ({ progress, total, message = '' }: Progress): string =>
  oneLine(`[${progress}${total === undefined ? '' : `/${total}`}] ${message}`, 1000);

function outcomeText(
  outcome: Outcome,
  called: ToolResult<CallToolResult>,
  saved: readonly SavedFile[],
  { paint, block }: Session,
): string {
  if (outcome.success) {
    // Results are not wrapped: a line of theirs is a line.
    const result = called.success ? resultText(called.data, saved) : '';
    return `${paint('green', '✓ Success')}\n\nResult:\n${indented(result)}`;
  }
  const { code, message, server, tool } = outcome.error;
  const words = called.success ? message : forTerminal(message);
  return [
    `${paint('red', '✗ Error')}\n`,
    `Code: ${code}`,
    block(`Message: ${words}`),
    server !== undefined && `Server: ${oneLine(server, 200)}`,
    tool && `Tool: ${oneLine(tool, 200)}`,
  ]
    .filter(Boolean)
    .join('\n');
}

const indented = (text: string): string =>
  plainText(text)
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
