import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRedactor } from '../../secrets/redactor.ts';
import { ByteRing } from './byte-ring.ts';

it('keeps the last bytes, whatever was pushed before, from the beginning of a line on', () => {
  const chunks = fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), { maxLength: 150 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 64 }), (texts, capacity) => {
      const ring = new ByteRing(capacity);
      for (const text of texts) ring.push(Buffer.from(text));
      const all = texts.join('');
      const shown = ring.read(createRedactor([]));
      expect(all.slice(-capacity).endsWith(shown)).toBe(true);
      if (all.length <= capacity) expect(shown).toBe(all);
      expect(shown.length).toBeLessThanOrEqual(capacity);
    }),
  );
});

it('shows no piece of a secret that was cut at the edge of the ring', () => {
  const secret = 'k9Xw2LpQ8sVbT1zR4mN7cJ5h';
  const redact = createRedactor([secret]);
  for (let more = 0; more < 60; more++) {
    const ring = new ByteRing(64);
    ring.push(Buffer.from(`before ${secret} after\n${'y'.repeat(more)}\n`));
    for (let at = 0; at + 8 <= secret.length; at++) expect(ring.read(redact)).not.toContain(secret.slice(at, at + 8));
  }
});
