/**
 * `anygpt mcp execute`: calls a tool and prints its result.
 * @module
 */
import type { ErrorInfo } from '../../core/errors.ts';
import { fail, type ToolResult, toFailure } from '../../core/result.ts';
import { isLocal } from '../../core/transport-parts.ts';
import type { CallToolResult, JsonSchema, Progress, ToolRef } from '../../core/types.ts';
import { oneLine, plainText } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { argumentsFromPairs, isPair, keysOf, unknownKeys } from '../args-from-pairs.ts';
import type { Command, Values } from '../command.ts';
import { type Outcome, outcomeOf } from '../execute-outcome.ts';
import { exitCodeOf } from '../exit-code.ts';
import { forTerminal } from '../failure.ts';
import { EXIT, type Io } from '../io.ts';
import { pairOf } from '../positionals.ts';
import { pathIn, readText } from '../read-text.ts';
import { rawResult, resultText } from '../result-text.ts';
import { openFolder, type SavedFile, saveFiles } from '../save-files.ts';
import { SESSION_HELP, SESSION_OPTIONS, type Session, withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';

type Arguments = Readonly<Record<string, unknown>>;

export const execute: Command = {
  usage: `Usage: anygpt mcp execute <server> <tool> [key=value ...] [options]

Calls a tool. The tool's schema gives each value its type. key:=JSON takes JSON,
a repeated key makes a list, and a.b=value sets a field of an object.
<server>:<tool> in one word works as well.

Options:
  --args JSON        Tool arguments as a JSON object; @FILE reads a file,
                     - reads stdin; key=value pairs are added
  --raw              Print the result alone, as the tool returned it
  --stream           Show progress on stderr while the tool runs
  --output DIR       Save images, audio and files of the result in DIR;
                     existing files are kept
  --profile NAME     As a caller with this profile of the configuration
${SESSION_HELP}

Examples:
  anygpt mcp execute github create_issue \\
    --args='{"repo":"owner/repo","title":"Bug report"}'
  anygpt mcp execute github create_issue repo=owner/repo title=Bug labels=ui
  anygpt mcp execute filesystem read_file --args @arguments.json --json
  anygpt mcp execute filesystem read_file path=notes.md --raw > copy.md
  anygpt mcp execute browser screenshot url=https://example.com --output ~/shots

Exit codes: 0 success, 1 invalid arguments, 2 server or tool not found,
3 execution failed, 4 tool disabled`,
  options: {
    ...SESSION_OPTIONS,
    profile: { type: 'string' },
    args: { type: 'string' },
    raw: { type: 'boolean' },
    stream: { type: 'boolean' },
    output: { type: 'string' },
  },
  async run(values, positionals, io) {
    const { pair, rest } = takeApart(positionals, values.args !== undefined);
    const raw = values.raw === true;
    if (raw && values.json) throw new UsageError('--raw cannot be combined with --json');
    return withSession(values, io, async (session) => {
      const ref = await session.engine.refOf(pair.server, pair.tool);
      const { given, pairs, folder } = await recordingMistakes(session, ref, async () => ({
        given: await readArguments(values.args as string | undefined, io),
        pairs: checkedPairs(rest),
        folder: values.output === undefined ? undefined : await openFolder(pathIn(String(values.output), io)),
      }));
      if (!session.json && !raw)
        session.print(`Executing: ${oneLine([ref.server, ref.tool].filter(Boolean).join(':'), 500)}\n`);
      let called = await call(session, ref, { values, given, pairs });
      if (!called.success && called.error.code === 'SERVER_AUTH_REQUIRED') {
        const { offerLogin } = await import('../log-in.ts');
        if (await offerLogin(session, called.error)) called = await call(session, ref, { values, given, pairs });
      }
      const outcome = outcomeOf(called, ref);
      const content = called.success && outcome.success ? (called.data.content ?? []) : [];
      const saved = folder === undefined ? [] : await saveFiles(content, folder, ref.tool);
      if (raw) {
        if (!outcome.success) return session.fail(outcome.error);
        if (called.success && !session.signal.aborted) io.stdout.write(rawResult(called.data, saved, io.stdout.isTTY));
        return EXIT.ok;
      }
      // A result is printed exactly as the server returned it; failures are our own text.
      const document = saved.length > 0 ? { ...outcome, files: saved } : outcome;
      if (session.json) session.printJson(document, outcome.success ? 'exact' : undefined);
      else session.print(outcomeText(outcome, called, saved, session));
      if (!session.json && !outcome.success) await noteLog(outcome.error, session);
      return outcome.success ? EXIT.ok : exitCodeOf(outcome.error.code);
    });
  },
};

/** With --args the second word is always the tool. Without, it may be the first pair if the first word names both. */
function takeApart(positionals: readonly string[], hasArgs: boolean) {
  const [first = '', second] = positionals;
  const inOne = /:|__/.test(first) && (second === undefined || (!hasArgs && isPair(second)));
  const pair = pairOf(inOne ? [first] : positionals);
  return { pair, rest: positionals.slice(inOne ? 1 : 2) };
}

function checkedPairs(words: readonly string[]): readonly string[] {
  const stray = words.filter((word) => !isPair(word));
  if (stray.some((word) => word.trimStart().startsWith('{')))
    throw new UsageError(`JSON arguments need --args: --args ${shellWord(stray.join(' '))}`);
  if (stray.length > 0) throw new UsageError(`unexpected argument "${stray.join(' ')}"; write arguments as key=value`);
  return words;
}

/** Reads the arguments of a call. A mistake is recorded in the audit log as a refused call, then thrown. */
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
  { engine, lists, note, progress, io, signal, timeoutMs, caller }: Session,
  { server, tool }: ToolRef,
  { values, given, pairs }: CallWords,
): Promise<ToolResult<CallToolResult>> {
  // A call that ends here is recorded in the audit log as well.
  const refuse = (refusal: ToolResult<never>) => engine.refuse(refusal, { server, tool, arguments: given });
  const failure = (await lists([server])).get(server);
  if (failure) return refuse({ success: false, error: { ...failure, tool } });
  const noteSlips = (keys: readonly string[], schema: JsonSchema | undefined) => {
    for (const { key, near } of unknownKeys(keys, schema))
      if (near !== undefined) note(`${tool} has no parameter "${key}". Did you mean "${near}"?`);
  };
  let args = given;
  if (pairs.length > 0) {
    const described = await engine.describe(server, tool, { caller });
    if (!described.success) return refuse(described);
    const { inputSchema } = described.data;
    noteSlips([...Object.keys(given), ...keysOf(pairs)], inputSchema);
    try {
      args = argumentsFromPairs(pairs, inputSchema, given);
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
  const called = await engine.call({ server, tool, arguments: args, caller, signal, timeout: timeoutMs, onProgress });
  progress.clear();
  if (!called.success && called.error.code === 'TOOL_VALIDATION_ERROR') {
    const described = await engine.describe(server, tool, { caller });
    const schema = described.success ? described.data.inputSchema : undefined;
    if (pairs.length === 0) noteSlips(Object.keys(given), schema);
    // Now that the call has failed, a key that resembles nothing may be why.
    for (const { key, near } of schema ? unknownKeys(Object.keys(args), schema) : [])
      if (near === undefined) note(`${tool} has no parameter "${key}".`);
  }
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
    // Results are not wrapped: their line breaks stay as they are.
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

/** The message of a program that died during a call has only its exit code: why is in its log. */
async function noteLog({ code, outcome, server }: ErrorInfo, { engine, note }: Session): Promise<void> {
  if (code !== 'SERVER_CONNECTION_ERROR' || outcome !== 'unknown' || server === undefined) return;
  const { servers } = await engine.getConfig();
  const isOurs = servers.some(({ name, connection }) => name === server && isLocal(connection));
  if (isOurs) note(`"anygpt mcp logs ${shellWord(server)}" shows what it wrote.`);
}

const indented = (text: string): string =>
  plainText(text)
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');

/** The arguments; none if the option is missing. Throws `UsageError` for anything but a JSON object. */
async function readArguments(
  written: string | undefined,
  io: Pick<Io, 'stdin' | 'cwd' | 'env'>,
): Promise<Readonly<Record<string, unknown>>> {
  if (written === undefined) return {};
  if (written !== '-' && !written.startsWith('@')) return parsed(written, '--args');
  const { text, from } = await readText(written === '-' ? written : written.slice(1), '--args', io);
  return parsed(text, from);
}

function parsed(text: string, what: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what} is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${what} must be a JSON object, for example {"name": "value"}`);
  return value as Readonly<Record<string, unknown>>;
}
