import fc from 'fast-check';
import { expect, it } from 'vitest';
import { challengeIn } from './challenge.ts';

it.each([
  [null, {}],
  ['Bearer', {}],
  ['Bearer resource_metadata="https://x/y", scope="a b"', { resourceMetadata: 'https://x/y', scope: 'a b' }],
  ['Negotiate, Bearer realm="a, b", error=invalid_token', { error: 'invalid_token' }],
  ['Basic realm="x", bearer scope="say \\"hi\\""', { scope: 'say "hi"' }],
  ['DPoP algs="ES256", resource_metadata="https://d"', { resourceMetadata: 'https://d' }],
  ['Basic resource_metadata="https://not-ours"', {}],
] as const)('reads the challenge of %j', (header, expected) => {
  expect(challengeIn(header)).toEqual({ resourceMetadata: undefined, scope: undefined, error: undefined, ...expected });
});

it('reads any header without throwing', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 500 }), (header) => {
      for (const value of Object.values(challengeIn(`Bearer ${header}`)))
        expect(['string', 'undefined']).toContain(typeof value);
    }),
  );
});
