import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toyModel } from '../../test/fixtures/search/toy-model.ts';
import { toDocument } from './document.ts';
import { Lexicon } from './lexicon.ts';
import { MeaningModel } from './meaning-model.ts';
import { MEANING_PARTS, type MeaningPart, toolWords } from './meaning-text.ts';
import { SearchEngine } from './search-engine.ts';
import { resolveSettings } from './settings.ts';

const model = new MeaningModel(toyModel({ delete: 0, erase: 1, file: 2, weather: 3 }, [1, 1, 1, 1, 1]));
/** Training reads no translations. */
const settings = resolveSettings({ model, without: ['languages'] });
const toolOf = (name: string, description: string) => ({
  server: 'files',
  name,
  description,
  summary: '',
  tags: [],
  enabled: true,
});
const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc
    .array(fc.constantFrom('deleteFile', 'delete', 'weather.', 'Erase', 'the', '删除文件', '__proto__', 'x'.repeat(80)))
    .map((words) => words.join(' ')),
);

describe('Lexicon', () => {
  it('gives tools the meaning of the words that training reads', () => {
    const lexicon = new Lexicon(settings);
    fc.assert(
      fc.property(
        texts,
        texts,
        fc.option(texts, { nil: undefined }),
        fc.array(texts),
        (name, description, title, names) => {
          const properties = Object.fromEntries(names.map((own) => [own.slice(0, 64), {}]));
          const tool = { ...toolOf(name, description), title, inputSchema: { type: 'object', properties } };
          const words = toolWords(tool);
          const ordinals = Object.fromEntries(
            MEANING_PARTS.map((part) => [part, words[part].map((word) => model.ordinalOf(word))]),
          ) as Record<MeaningPart, number[]>;
          expect(toDocument(tool, '', settings, lexicon).meaning).toEqual(model.ofTool(ordinals));
        },
      ),
    );
  });

  it('gives a tool the same terms whatever was read before it', () => {
    const shared = new Lexicon(settings);
    const termsOf = (tool: ReturnType<typeof toolOf>, lexicon: Lexicon): [string, number][] => {
      const { terms, impacts } = toDocument(tool, 'about files', settings, lexicon);
      return Array.from(terms, (term, at): [string, number] => [lexicon.terms[term] as string, impacts[at] as number]);
    };
    fc.assert(
      fc.property(texts, texts, (name, description) => {
        const tool = toolOf(name, description);
        expect(termsOf(tool, shared)).toEqual(termsOf(tool, new Lexicon(settings)));
      }),
    );
  });

  it('is not led astray by a tool that could not be read to its end', () => {
    const lexicon = new Lexicon(settings);
    const broken = {
      ...toolOf('broken', 'weather'),
      get tags(): string[] {
        throw new Error('no tags');
      },
    };
    expect(() => toDocument(broken, '', settings, lexicon)).toThrow('no tags');
    const { terms } = toDocument(toolOf('fine', 'erase'), '', settings, lexicon);
    expect(Array.from(terms, (term) => lexicon.terms[term])).not.toContain('weather');
  });

  it('may change while a long list is being read', () => {
    const engine = new SearchEngine({ model });
    const steps = engine.setServerInSteps(
      'files',
      Array.from({ length: 250 }, (_, number) => toolOf(`erase_${number}`, 'erases a file')),
    );
    steps.next();
    engine.setServer('sky', [{ ...toolOf('forecast', 'weather of tomorrow'), server: 'sky' }]);
    expect(engine.search('weather')[0]?.tool).toBe('forecast');
    engine.setServer('sea', [{ ...toolOf('tide', 'weather at sea'), server: 'sea' }]);
    while (steps.next().done !== true);
    expect(engine.search('erase_7')[0]?.tool).toBe('erase_7');
    expect(engine.search('tide')[0]?.tool).toBe('tide');
    expect(
      engine
        .search('weather', { limit: 2 })
        .map(({ server }) => server)
        .sort(),
    ).toEqual(['sea', 'sky']);
  });
});
