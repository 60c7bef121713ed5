import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  aiSdkTools,
  anthropicTools,
  geminiTools,
  langChainTools,
  openAiChatTools,
  openAiResponsesTools,
} from '../../../test/api-rules.ts';
import type { DescribedTool } from './definition-types.ts';
import { toDefinitions } from './to-definitions.ts';

/** Real tools, if available: a folder with `*.jsonl.gz`. */
const folder = process.env.ANYGPT_CORPUS ?? '';

const lines = (file: string): Record<string, unknown>[] =>
  existsSync(join(folder, file))
    ? gunzipSync(readFileSync(join(folder, file)))
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];

describe.skipIf(folder === '')('every tool of the corpus', () => {
  const tools: DescribedTool[] = [
    ...(lines('mcp-real.tools.jsonl.gz') as unknown as DescribedTool[]),
    ...lines('servers.jsonl.gz').flatMap(({ server, tools: own }) =>
      (own as DescribedTool[]).map((tool) => ({ ...tool, server: `npm ${String(server)}` })),
    ),
  ];
  const report = (title: string, problems: readonly { kind: string; message: string }[]) => {
    const count = (kind: string) => problems.filter((problem) => problem.kind === kind).length;
    const reasons = new Map<string, number>();
    for (const { kind, message } of problems) {
      if (kind === 'simplified') continue;
      const reason = message.replace(/strict: \S+ /, 'strict: … ');
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    const top = [...reasons].sort((a, b) => b[1] - a[1]).slice(0, 8);
    process.stderr.write(
      `${title}: ${tools.length} tools, ${count('left-out')} left out, ${count('not-strict')} not strict, ${count('simplified')} simplified\n`,
    );
    for (const [reason, times] of top) process.stderr.write(`    ${times} × ${reason}\n`);
  };
  const timed = <T>(work: () => T): T => {
    const start = performance.now();
    const result = work();
    process.stderr.write(`  ${(((performance.now() - start) * 1000) / tools.length).toFixed(0)} µs a tool\n`);
    return result;
  };

  it.each([false, true])(
    'fits Anthropic, strict %s',
    (strict) => {
      const { definitions, problems } = timed(() => toDefinitions(tools, { format: 'anthropic', strict }));
      report(`anthropic strict ${strict}`, problems);
      expect(anthropicTools(definitions)).toEqual([]);
    },
    600_000,
  );

  it('fits Anthropic strict mode one by one', () => {
    const one = tools.map((tool) => toDefinitions([tool], { format: 'anthropic', strict: true }));
    report(
      'anthropic strict, one tool in a request',
      one.flatMap(({ problems }) => problems),
    );
    expect(one.flatMap(({ definitions }) => anthropicTools(definitions))).toEqual([]);
  }, 600_000);

  it.each([false, true])(
    'fits OpenAI, strict %s',
    (strict) => {
      const chat = timed(() => toDefinitions(tools, { format: 'openai-chat', strict }));
      report(`openai strict ${strict}`, chat.problems);
      expect(openAiChatTools(chat.definitions)).toEqual([`${tools.length} tools`]);
      expect(chat.problems.filter(({ kind }) => kind === 'too-many')).toHaveLength(1);
      const responses = toDefinitions(tools, { format: 'openai-responses', strict, namespaces: true });
      expect(openAiResponsesTools(responses.definitions)).toEqual([]);
    },
    600_000,
  );

  it.each(['json-schema', 'open-api'] as const)(
    'fits Gemini, %s',
    (parameters) => {
      const { definitions, problems } = timed(() => toDefinitions(tools, { format: 'gemini', parameters }));
      report(`gemini ${parameters}`, problems);
      expect(geminiTools(definitions)).toEqual([]);
    },
    600_000,
  );

  it('fits the AI SDK and LangChain', () => {
    expect(aiSdkTools(toDefinitions(tools, { format: 'ai-sdk' }).definitions)).toEqual([]);
    expect(langChainTools(toDefinitions(tools, { format: 'langchain' }).definitions)).toEqual([]);
  }, 600_000);
});
