/**
 * Asks a question at the terminal. Ctrl-C and the end of the input count as no answer.
 * @module
 */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Io } from './io.ts';

/** Asks again while `understand` returns undefined. Resolves with undefined without an answer. */
export async function ask<T>(
  io: Pick<Io, 'stdin' | 'stderr'>,
  question: string,
  understand: (answer: string) => T | undefined,
): Promise<T | undefined> {
  const prompt = createInterface({ input: io.stdin, output: io.stderr, prompt: question });
  try {
    prompt.prompt();
    for await (const line of prompt) {
      const answer = understand(line.trim());
      if (answer !== undefined) return answer;
      prompt.prompt();
    }
    io.stderr.write('\n');
    return undefined;
  } finally {
    prompt.close();
  }
}

/** Whether the answer is yes; anything else, or no answer, is no. */
export const isYes = async (io: Pick<Io, 'stdin' | 'stderr'>, question: string): Promise<boolean> =>
  (await ask(io, question, (answer) => /^y(?:es)?$/i.test(answer))) ?? false;

/** Asks for something that is not shown while it is typed. Resolves with undefined without an answer. */
export async function askHidden(io: Pick<Io, 'stdin' | 'stderr'>, question: string): Promise<string | undefined> {
  io.stderr.write(question);
  // The line editor echoes to its output; this one drops everything.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: io.stdin, output: nowhere, terminal: io.stdin.isTTY === true });
  try {
    for await (const line of prompt) return line.trim();
    return undefined;
  } finally {
    prompt.close();
    io.stderr.write('\n');
  }
}
