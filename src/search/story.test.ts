import { describe, expect, it } from 'vitest';
import { PARAPHRASES } from '../../test/fixtures/search/paraphrases.ts';
import { splitStory } from './story.ts';

describe('a story', () => {
  it.each([
    [
      'Our flight was moved to 18:40. Dr. Weiss is at the airport. Let her know about it.',
      'Let her know about it.',
      'Our flight was moved to 18:40. Dr. Weiss is at the airport.',
    ],
    [
      'I took over the night and it looks odd. What is running in checkout.eu?',
      'What is running in checkout.eu?',
      'I took over the night and it looks odd.',
    ],
    ['The file is too big, so cut it. It is a.pdf', 'The file is too big, so cut it.', 'It is a.pdf'],
  ])('has sentences that ask and sentences that tell: %j', (text, asked, told) => {
    expect(splitStory(text)).toEqual({ asked, told });
  });

  it('without a sentence that asks ends in what is wanted', () => {
    const [told, asked] = ['Two boxes fell off the forklift.', 'So there are only 76 mugs now.'];
    expect(splitStory(`${told} ${asked}`)).toEqual({ asked, told });
  });

  it.each(['', 'delete a draft', 'Merge the files. Then send them to Ann.'])(
    'is nothing that has only one kind of sentence: %j',
    (text) => {
      expect(splitStory(text)).toEqual({ asked: text, told: '' });
    },
  );

  it('is no short request', () => {
    expect(PARAPHRASES.filter(([request]) => splitStory(request).told !== '')).toEqual([]);
  });
});
