import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seal, unseal } from './sealed-bytes.ts';

const key = randomBytes(32);

it('opens with the same key for the same place, and in no other way', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.string(), (bytes, place) => {
      const sealed = seal(bytes, key, place);
      expect(unseal(sealed, key, place)).toEqual(Buffer.from(bytes));
      expect(unseal(sealed, key, `${place}.`)).toBeUndefined();
      expect(unseal(sealed, randomBytes(32), place)).toBeUndefined();
    }),
  );
});

it('does not open what was cut or changed in any byte', () => {
  const sealed = seal(Buffer.from('a secret'), key, 'here');
  for (let at = 0; at < sealed.length; at++) {
    expect(unseal(sealed.subarray(0, at), key, 'here')).toBeUndefined();
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    expect(unseal(changed, key, 'here')).toBeUndefined();
  }
});

it('seals the same bytes differently each time', () => {
  expect(seal(Buffer.from('a'), key, 'here')).not.toEqual(seal(Buffer.from('a'), key, 'here'));
});
