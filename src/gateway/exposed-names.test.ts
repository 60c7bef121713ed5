import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exposedName, exposedUri, ownNames, ownUri } from './exposed-names.ts';

const SERVERS = ['a', 'a__b', 'a/b', 'ä ö', 'docs'];

describe('names of several servers', () => {
  it('lead back to the server and its own name', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SERVERS), fc.string({ minLength: 1 }), (server, name) => {
        expect(ownNames(SERVERS, exposedName(server, name))).toContainEqual({ server, name });
      }),
    );
  });

  it('wrap URIs so that they lead back, too', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SERVERS),
        fc.webUrl({ withFragments: true, withQueryParameters: true }),
        (server, name) => {
          const exposed = exposedUri(server, name);
          expect(ownUri(SERVERS, exposed)).toEqual({ server, name });
          expect(URL.canParse(exposed)).toBe(true);
        },
      ),
    );
  });

  it('keep the addresses of apps', () => {
    expect(exposedUri('docs', 'ui://docs/chart')).toBe('ui://docs/chart');
    expect(ownUri(SERVERS, 'ui://docs/chart')).toBeUndefined();
  });
});
