import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteRing } from './byte-ring.ts';

it('keeps exactly the last bytes, whatever was pushed before', () => {
  const chunks = fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), { maxLength: 150 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 64 }), (texts, capacity) => {
      const ring = new ByteRing(capacity);
      for (const text of texts) ring.push(Buffer.from(text));
      expect(ring.toString()).toBe(texts.join('').slice(-capacity));
      expect(ring.size).toBe(Math.min(texts.join('').length, capacity));
    }),
  );
});
