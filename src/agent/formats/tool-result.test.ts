import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicResult } from '../../../test/api-rules.ts';
import type { CallToolResult } from '../../core/types.ts';
import { TOOL_FORMATS, type ToolFormat } from './definition-types.ts';
import type { AnthropicToolReference } from './hosted-search.ts';
import type { AnthropicToolResult } from './result-types.ts';
import { toAiSdkOutput, toToolResult } from './tool-result.ts';

const DATA = 'aGVsbG8=';
const RICH: CallToolResult = {
  content: [
    { type: 'text', text: 'Done.' },
    { type: 'image', data: DATA, mimeType: 'image/png' },
    { type: 'audio', data: DATA, mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside' } },
    { type: 'resource', resource: { uri: 'file:///b.pdf', mimeType: 'application/pdf', blob: DATA } },
    { type: 'resource_link', uri: 'https://x.org/c', name: 'c', mimeType: 'text/html', description: 'More' },
    { type: 'hologram', depth: 3 },
  ],
  structuredContent: { ok: true },
};
const write = <F extends ToolFormat>(result: CallToolResult, format: F, media?: boolean) =>
  toToolResult<ToolFormat>(result, { format, id: 'call_1', name: 'tool', media });

const RESOURCE = '[resource file:///a.txt]\ninside';
const LINK = '[resource link https://x.org/c: c, text/html, More]';
const UNKNOWN = '[content of type "hologram", as JSON]\n{"type":"hologram","depth":3}';
const STRUCTURED = '{"ok":true}';
const noAudio = (api: string) =>
  `[audio/wav, 6 bytes, is left out: ${api} does not accept this kind of content in a tool result]`;

describe('a result with everything in it', () => {
  it('for Anthropic has pictures and PDFs, and words for the rest', () => {
    const text = (value: string) => ({ type: 'text', text: value });
    expect(write(RICH, 'anthropic')).toEqual({
      type: 'tool_result',
      tool_use_id: 'call_1',
      content: [
        text('Done.'),
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } },
        text(noAudio('Anthropic')),
        text(RESOURCE),
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: DATA },
          title: 'file:///b.pdf',
        },
        text(LINK),
        text(UNKNOWN),
        text(STRUCTURED),
      ],
    });
  });

  it('for OpenAI Chat is text, which says what is missing', () => {
    const api = 'OpenAI Chat Completions';
    expect(write(RICH, 'openai-chat')).toEqual({
      role: 'tool',
      tool_call_id: 'call_1',
      content: [
        'Done.',
        `[image/png, 6 bytes, is left out: ${api} does not accept this kind of content in a tool result]`,
        noAudio(api),
        RESOURCE,
        `[file:///b.pdf (application/pdf), 6 bytes, is left out: ${api} does not accept this kind of content in a tool result]`,
        LINK,
        UNKNOWN,
        STRUCTURED,
      ].join('\n'),
    });
  });

  it('for OpenAI Responses has pictures and files', () => {
    const text = (value: string) => ({ type: 'input_text', text: value });
    expect(write(RICH, 'openai-responses')).toEqual({
      type: 'function_call_output',
      call_id: 'call_1',
      output: [
        text('Done.'),
        { type: 'input_image', image_url: `data:image/png;base64,${DATA}`, detail: 'auto' },
        text(noAudio('OpenAI')),
        text(RESOURCE),
        { type: 'input_file', filename: 'b.pdf', file_data: `data:application/pdf;base64,${DATA}` },
        text(LINK),
        text(UNKNOWN),
        text(STRUCTURED),
      ],
    });
  });

  it('for Gemini has parts beside its output', () => {
    expect(write(RICH, 'gemini')).toEqual({
      functionResponse: {
        id: 'call_1',
        name: 'tool',
        response: { output: ['Done.', noAudio('Gemini'), RESOURCE, LINK, UNKNOWN, STRUCTURED].join('\n') },
        parts: [
          { inlineData: { mimeType: 'image/png', data: DATA } },
          { inlineData: { mimeType: 'application/pdf', data: DATA } },
        ],
      },
    });
  });

  it('for the AI SDK is content, and files are left to the provider', () => {
    const text = (value: string) => ({ type: 'text', text: value });
    expect(write(RICH, 'ai-sdk')).toEqual({
      type: 'tool-result',
      toolCallId: 'call_1',
      toolName: 'tool',
      output: {
        type: 'content',
        value: [
          text('Done.'),
          { type: 'image-data', data: DATA, mediaType: 'image/png' },
          { type: 'file-data', data: DATA, mediaType: 'audio/wav' },
          text(RESOURCE),
          { type: 'file-data', data: DATA, mediaType: 'application/pdf', filename: 'file:///b.pdf' },
          text(LINK),
          text(UNKNOWN),
          text(STRUCTURED),
        ],
      },
    });
  });

  it('for LangChain has pictures', () => {
    const message = write(RICH, 'langchain');
    expect(message).toMatchObject({ role: 'tool', tool_call_id: 'call_1', name: 'tool', status: 'success' });
    expect(message).toHaveProperty('content[1]', {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${DATA}` },
    });
  });

  it.each(TOOL_FORMATS)('for %s is text only where the model reads nothing else', (format) => {
    const written = JSON.stringify(write(RICH, format, false));
    expect(written).not.toContain(DATA);
    expect(written).toContain('[image/png, 6 bytes, is left out');
  });
});

describe('failure', () => {
  const failed: CallToolResult = { content: [{ type: 'text', text: 'no such file' }], isError: true };
  it('is marked in the way of each API', () => {
    expect(write(failed, 'anthropic')).toMatchObject({ is_error: true });
    expect(write(failed, 'openai-chat')).toMatchObject({ content: 'Error:\nno such file' });
    expect(write(failed, 'openai-responses')).toMatchObject({ output: 'Error:\nno such file' });
    expect(write(failed, 'gemini')).toMatchObject({ functionResponse: { response: { error: 'no such file' } } });
    expect(write(failed, 'ai-sdk')).toMatchObject({ output: { type: 'error-text', value: 'no such file' } });
    expect(write(failed, 'langchain')).toMatchObject({ status: 'error', content: 'no such file' });
  });

  it('with a picture is marked, too', () => {
    const result = { isError: true, content: [{ type: 'image', data: DATA, mimeType: 'image/png' }] };
    expect(toAiSdkOutput(result)).toMatchObject({ type: 'content', value: [{ text: 'Error:' }, {}] });
    expect(write(result, 'openai-responses')).toMatchObject({ output: [{ text: 'Error:' }, {}] });
  });

  it('is text alone for Anthropic, which refuses anything else', () => {
    const written = write({ ...RICH, isError: true }, 'anthropic') as AnthropicToolResult;
    expect(anthropicResult(written)).toEqual([]);
    expect(written.content.slice(0, 2)).toEqual([
      { type: 'text', text: 'Done.' },
      { type: 'text', text: '[image/png, 6 bytes, is left out: Anthropic accepts only text from a failed tool]' },
    ]);
  });
});

describe('structured content', () => {
  it.each([
    ['is not said twice', '{"b":[1],"a":{}}', { a: {}, b: [1] }, 1],
    ['is said where the text says something else', '{"a":1}', { a: 2 }, 2],
    ['is said where the text is no JSON', '{broken', { a: 2 }, 2],
    ['may be a list', '[1,2]', [1, 2], 1],
    ['is not said twice where the text is what it holds', 'hello file', { content: 'hello file' }, 1],
    ['nor where people can read all of it', 'Oslo: -3.5 °C, snow', { city: 'Oslo', now: { sky: 'snow' }, t: -3.5 }, 1],
    ['is said where a number is missing', 'The file', { content: 'The file', lines: 3 }, 2],
    ['is said where a truth value is missing', 'The file', { content: 'The file', truncated: true }, 2],
    ['is said where a word is only a part of another', 'I know', { answer: 'no' }, 2],
    ['is said where a number is only a part of another', '13 of 2.5', { a: 3, b: 2 }, 2],
    ['is said where it holds nothing that could stand in a text', 'Nothing', { items: [] }, 2],
    ['is said where it is too large to be compared', 'x', Array.from({ length: 3000 }, () => 'x'), 2],
  ])('%s', (_what, text, structuredContent, blocks) => {
    const result = toToolResult(
      { content: [{ type: 'text', text }], structuredContent },
      { format: 'anthropic', id: '1' },
    );
    expect(result.content).toHaveLength(blocks);
  });

  it('that cannot be written is said to be there', () => {
    const own: Record<string, unknown> = {};
    own.self = own;
    expect(write({ structuredContent: own }, 'openai-chat')).toMatchObject({
      content: '[a value that cannot be written as JSON]',
    });
  });
});

describe('a model that reads text only', () => {
  it.each(TOOL_FORMATS)('is told so, and not that %s takes no pictures', (format) => {
    const picture: CallToolResult = { content: [{ type: 'image', data: DATA, mimeType: 'image/png' }] };
    const written = JSON.stringify(write(picture, format, false));
    expect(written).toContain('[image/png, 6 bytes, is left out: only text is sent to this model]');
  });
});

describe('odd results', () => {
  it.each([
    ['nothing', {}, ''],
    ['content that is no list', { content: 'text' as never }, ''],
    ['blocks that are none', { content: [null, 5] as never }, 'null\n5'],
    [
      'a picture without data',
      { content: [{ type: 'image' }] },
      '[content of type "image", as JSON]\n{"type":"image"}',
    ],
    [
      'a resource without content',
      { content: [{ type: 'resource', resource: {} }] },
      '[content of type "resource", as JSON]\n{"type":"resource","resource":{}}',
    ],
    ['a resource without a name', { content: [{ type: 'resource', resource: { text: 'x' } }] }, 'x'],
    ['a link with nothing else', { content: [{ type: 'resource_link', uri: 'a:b' }] }, '[resource link a:b]'],
  ])('%s becomes text', (_what, result, content) => {
    expect(write(result, 'openai-chat')).toMatchObject({ content });
  });

  it('blank text is not sent to Anthropic, which refuses it', () => {
    expect(write({ content: [{ type: 'text', text: ' \n' }] }, 'anthropic')).toMatchObject({ content: [] });
  });

  it('media without a type get the usual one', () => {
    expect(write({ content: [{ type: 'image', data: DATA }] }, 'anthropic')).toHaveProperty(
      'content[0].source.media_type',
      'image/png',
    );
    expect(write({ content: [{ type: 'resource', resource: { blob: DATA } }] }, 'openai-chat')).toMatchObject({
      content: expect.stringContaining('application/octet-stream'),
    });
    const pdf = { type: 'resource', resource: { blob: DATA, mimeType: 'application/pdf' } };
    expect(write({ content: [pdf] }, 'openai-responses')).toHaveProperty('output[0].filename', 'file.pdf');
  });

  it('Gemini needs no id', () => {
    expect(toToolResult({}, { format: 'gemini', name: 'x' })).toEqual({
      functionResponse: { name: 'x', response: { output: '' } },
    });
  });

  it('an unknown format is a mistake of the program', () => {
    expect(() => write({}, 'claude' as 'anthropic')).toThrow('There is no format "claude"');
    expect(() => write({}, 'constructor' as 'anthropic')).toThrow('There is no format "constructor"');
  });

  it('and so is an answer to nothing', () => {
    expect(() => toToolResult({}, { format: 'anthropic', id: '' })).toThrow("needs the call's id");
    expect(() => toToolResult({}, { format: 'gemini' } as never)).toThrow("needs the call's name");
  });

  it('never throw, and lose no text', () => {
    const block = fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.string({ minLength: 1 }) }),
      fc.record({ type: fc.constantFrom('image', 'audio', 'x'), data: fc.base64String(), mimeType: fc.string() }),
      fc.anything(),
    );
    fc.assert(
      fc.property(
        fc.array(block),
        fc.anything(),
        fc.constantFrom(...TOOL_FORMATS),
        (content, structuredContent, format) => {
          const written = JSON.stringify(write({ content: content as never, structuredContent }, format));
          for (const one of content as { type?: unknown; text?: unknown }[]) {
            if (one?.type === 'text' && typeof one.text === 'string' && one.text.trim() !== '')
              expect(written).toContain(JSON.stringify(one.text).slice(1, -1));
          }
        },
      ),
    );
  });
});

describe('types', () => {
  it('do not compile without what a format needs', () => {
    const wrong = () => {
      // @ts-expect-error Anthropic needs the id of the call
      toToolResult({}, { format: 'anthropic' });
      // @ts-expect-error Gemini needs the name of the function
      toToolResult({}, { format: 'gemini', id: '1' });
      // @ts-expect-error the AI SDK needs both
      toToolResult({}, { format: 'ai-sdk', id: '1' });
      // @ts-expect-error an option is misspelt
      toToolResult({}, { format: 'anthropic', id: '1', medias: false });
    };
    const references: AnthropicToolReference[] = [{ type: 'tool_reference', tool_name: 'a' }];
    const searched: AnthropicToolResult = { type: 'tool_result', tool_use_id: '1', content: references };
    expect(searched.content).toHaveLength(1);
    const right: { tool_use_id: string } = toToolResult({}, { format: 'anthropic', id: '1' });
    expect([wrong.length, right.tool_use_id]).toEqual([0, '1']);
  });
});
