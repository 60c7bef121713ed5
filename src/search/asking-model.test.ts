import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../test/fixtures/search/catalogue.ts';
import { LIMITS } from '../core/limits.ts';
import { AskingModel, piecesOf, SIGNS } from './asking-model.ts';
import type { MeaningModel } from './meaning-model.ts';
import { SearchEngine } from './search-engine.ts';
import { shippedAsking, shippedModel } from './shipped.ts';

const file = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const model = shippedModel() as MeaningModel;
const other = Object.create(model, { id: { value: 'other' }, dimensions: { value: 8 } }) as MeaningModel;
// Vectors of another size come first: they must not keep the model from those that it was trained on.
const ofOther = shippedAsking(other);
const shipped = shippedAsking(model) as AskingModel;

/** What training/train-asking.py computes with the shipped numbers. */
const TRAINED: readonly (readonly [text: string, weights: Readonly<Record<string, number>>])[] = [
  [
    'Our flight was moved to 18:40 because of the storm. Please let Elena know.',
    {
      our: 0.987,
      flight: 0.924,
      was: 0.976,
      moved: 0.978,
      to: 1,
      because: 0.973,
      of: 0.969,
      the: 0.978,
      storm: 0.93,
      please: 0.962,
      let: 0.927,
      elena: 0.853,
      know: 0.924,
    },
  ],
  [
    'I paid $270 to Pranav (his mail is pranav@example.org); which of our invoices are still open, and since when?',
    {
      i: 0.947,
      paid: 0.913,
      '270': 0.903,
      to: 0.956,
      pranav: 0.97,
      his: 0.91,
      mail: 0.917,
      is: 0.966,
      which: 0.973,
      of: 0.974,
      our: 0.949,
      invoices: 0.926,
      are: 0.977,
      still: 0.881,
      open: 0.921,
      and: 1,
      since: 0.873,
      when: 0.889,
    },
  ],
];

describe('the model of asking', () => {
  it.each(TRAINED)('gives the weights that PyTorch gives: %s', (text, weights) => {
    const own = [...(shipped.weigh(text, model) ?? [])];
    expect(Object.fromEntries(own.map(([word, weight]) => [word, Math.round(weight * 1000) / 1000]))).toEqual(weights);
  });

  it('is the one its card speaks of, and was trained on the stories in the project', () => {
    const card = file('models/ASKING.md');
    expect(card).toContain(sha256(file('models/asking.json')));
    expect(card).toContain(sha256(file('training/stories.jsonl')));
  });

  it('was trained on the vectors that ship', () => {
    expect(shipped.vectors).toBe(model.id);
  });

  it('leaves short requests as they are', () => {
    expect(shipped.weigh('send Elena the new time of our flight', model)).toBeUndefined();
  });

  it.each([
    ['no JSON', 'no'],
    ['numbers that were changed', JSON.stringify({ ...JSON.parse(file('models/asking.json')), numbers: 'AAAAAA==' })],
    ['other sizes', JSON.stringify({ ...JSON.parse(file('models/asking.json')), width: 32 })],
  ])('is not read from a file with %s', (_, text) => {
    expect(AskingModel.parse(text, model.dimensions)).toBeUndefined();
  });

  it('reads words, values and marks in order, and no more than so many', () => {
    const pieces = piecesOf('Mail /tmp/a.pdf, to qqxzzyw? Yes: createIssue', model);
    expect(pieces.map(({ word, sign, ordinal }) => word ?? (ordinal === undefined ? SIGNS[sign] : ''))).toEqual([
      'mail',
      'value',
      'to',
      'qqxzzyw',
      '?',
      'yes',
      ':',
      'create',
      'issue',
    ]);
    expect(pieces[3]).toMatchObject({ ordinal: undefined, sign: SIGNS.indexOf('unknown') });
    expect(piecesOf('word '.repeat(5_000), model)).toHaveLength(LIMITS.search.askingPieces);
  });

  it('weighs the words of any text above 0 and at most 1, the one that asks most with 1', () => {
    const words = fc.array(fc.oneof(fc.constantFrom('send', 'the', 'flight', '"x"', '.', '\u0000'), fc.string()), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(words, (list) => {
        const weights = [...(shipped.weigh(list.join(' '), model)?.values() ?? [1])];
        expect(weights.every((weight) => weight > 0 && weight <= 1)).toBe(true);
        expect(Math.max(...weights)).toBe(1);
      }),
    );
  });
});

describe('a search whose words are weighed', () => {
  const engineOf = (...without: 'asking'[]): SearchEngine => {
    const engine = new SearchEngine({ without });
    for (const server of new Set(CATALOGUE.map((tool) => tool.server)))
      engine.setServer(
        server,
        CATALOGUE.filter((tool) => tool.server === server),
      );
    return engine;
  };
  const story =
    'My sister Elena lands in Porto at 18:40 with two suitcases and the cat, and the car is at the garage until Friday, so I need to know if it will rain there tonight';

  it('says in its explanation which words ask most', () => {
    const [tool] = CATALOGUE;
    const explained = (query: string) => engineOf().explain(query, tool as (typeof CATALOGUE)[number])?.asking;
    expect(explained(story)?.length).toBe(8);
    expect(explained(story)?.[0]).toEqual({ word: 'know', weight: expect.closeTo(0.954, 2) });
    expect(explained('will it rain')).toBeUndefined();
  });

  it('leaves requests in other languages to their translation', () => {
    const german =
      'Meine Schwester Elena landet um halb sieben in Porto und hat zwei Koffer dabei, deshalb lösche bitte die alte Rechnung von gestern';
    expect(engineOf().read(german)).toMatchObject({ translation: { language: 'de' }, asking: undefined });
  });

  it('weighs nothing without the part, without vectors and with other vectors', () => {
    expect(engineOf().read(story).asking).toBeDefined();
    expect(engineOf('asking').read(story).asking).toBeUndefined();
    expect(new SearchEngine({ model: false }).read(story).asking).toBeUndefined();
    expect(ofOther).toBeUndefined();
    expect(shippedAsking(Object.create(model, { id: { value: 'another' } }))).toBeUndefined();
  });
});
