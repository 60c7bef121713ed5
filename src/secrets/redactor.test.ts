import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactObject } from './redact-object.ts';
import { createRedactor, KnownSecrets, REDACTED } from './redactor.ts';
import { isSecretKey } from './secret-names.ts';

describe('a redactor', () => {
  const secret = 'p@ss w/rd+"é😀\n';
  const redact = createRedactor([secret, 'ghp_0123456789abcdef', 'ab']);

  test('hides a secret in each form it may travel in', () => {
    const bytes = Buffer.from(secret);
    const forms = [
      secret,
      JSON.stringify(secret),
      encodeURIComponent(secret),
      encodeURIComponent(secret).toLowerCase(),
      encodeURI(secret),
      new URLSearchParams({ q: secret }).toString(),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
    ];
    for (const form of forms) expect(redact(`before ${form} after`)).toMatch(/^before .{0,3}\*\*\*.? ?after$/);
  });

  test('hides a secret as URLs, JSON and HTML of other programs write it, also twice', () => {
    const key = 'Zq8+/k3"\\Lm%Np2 xV7&tRw9';
    const bytes = [...Buffer.from(key)];
    const quoted = key.replace(/[/ ]/g, (char) => (char === ' ' ? '%20' : char));
    const forms = [
      new URL(`https://example.com/${encodeURI(key)}`).href,
      new URL(`https://example.com/?q=${key}`).href,
      encodeURIComponent(encodeURIComponent(key)),
      encodeURIComponent(key).replaceAll('%2F', '/'),
      quoted,
      bytes.map((byte) => `%${byte.toString(16)}`).join(''),
      JSON.stringify(key).replaceAll('/', '\\/'),
      JSON.stringify(key).replaceAll('&', '\\u0026').replaceAll('+', '\\u002b'),
      [...key].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
      key.replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
      [...key].map((char) => `&#${char.charCodeAt(0)};`).join(''),
      [...key].map((char) => `&#x${char.charCodeAt(0).toString(16)};`).join(''),
      JSON.stringify(JSON.stringify({ url: encodeURIComponent(key) })),
    ];
    const clean = createRedactor([key]);
    for (const form of forms) {
      expect(clean(`before ${form} after`)).toContain(REDACTED);
      expect(clean(`before ${form} after`)).not.toMatch(/Zq8|k3|Lm|Np2|xV7|tRw9|5a|71|90/i);
    }
  });

  test('hides base64 wherever the secret starts inside the encoded bytes', () => {
    for (const before of ['', 'u', 'us', 'user:', 'admin:']) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const text = Buffer.from(`${before}ghp_0123456789abcdef`).toString(encoding);
        const out = redact(`Authorization: Basic ${text}`);
        expect(out).toContain(REDACTED);
        expect(out.length).toBeLessThan(`Authorization: Basic ${before}`.length + 20);
      }
    }
  });

  test('leaves other text, and secrets too short to mean anything, alone', () => {
    expect(redact('ab is not hidden')).toBe('ab is not hidden');
    expect(createRedactor([])('x')).toBe('x');
    expect(createRedactor(['', 'abc'])('abc')).toBe('abc');
  });

  test('no piece of a secret survives a cut, wherever it falls', () => {
    const random = fc.stringMatching(/^[0-9a-f]{20,60}$/).filter((text) => /\d/.test(text) && /[a-f]/.test(text));
    fc.assert(
      fc.property(random, fc.nat(400), fc.nat(500), fc.nat(2), (value, before, max, form) => {
        const said = [value, Buffer.from(value).toString('base64'), Buffer.from(value).toString('hex')][form] as string;
        const { redact, redactWords } = new KnownSecrets([value]);
        const text = `${'y '.repeat(before / 2)}${said}${said} z`;
        // Cut by us, or before by another program.
        for (const out of [redact.cut(text, max), redactWords.cut(text, max), redact(text.slice(0, max))]) {
          expect(out.length).toBeLessThanOrEqual(Math.max(max, 3));
          for (let at = 0; at + 8 <= said.length; at++) expect(out).not.toContain(said.slice(at, at + 8));
        }
      }),
    );
  });

  test('cuts between characters, and what it cut is otherwise the same', () => {
    const { cut } = createRedactor(['ghp_0123456789abcdef']);
    expect(cut('ab😀cd', 3)).toBe('ab');
    expect(cut('short', 100)).toBe('short');
    expect(cut('x ghp_0123456789abcdef y', 8)).toBe('x ***');
  });

  test('learns at any time, and forgets the oldest when there are very many', () => {
    const known = new KnownSecrets();
    expect(known.redact('k9Xw2LpQ8sVb')).toBe('k9Xw2LpQ8sVb');
    known.learn(['k9Xw2LpQ8sVb']);
    expect(known.redact('k9Xw2LpQ8sVb')).toBe('***');
    known.learn(Array.from({ length: 10_100 }, (_, index) => `r0tated-${index}-s3cret`));
    expect(known.redact('r0tated-10099-s3cret r0tated-9000-s3cret')).toBe('*** ***');
  });

  test('keeps the secrets of servers, however many tokens of callers pass by', () => {
    const known = new KnownSecrets(['k9Xw2LpQ8sVb']);
    for (let index = 0; index < 20_100; index++) known.learnPassing(`t0ken-${index}-of-a-user`);
    expect(known.redact('k9Xw2LpQ8sVb t0ken-20099-of-a-user')).toBe('*** ***');
  });

  test('hides secrets that overlap as one stretch', () => {
    const both = createRedactor(['abcdef', 'defghi', 'abcdefgh']);
    expect(both('1abcdefghi2')).toBe('1***2');
    expect(both('1abcdefabcdef2')).toBe('1******2');
  });

  test('hides a key in PEM form line by line', () => {
    const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEAAo\n-----END KEY-----\n';
    const out = createRedactor([pem])('line: MIIEvQIBADANBgkqhkiG9w0 -----BEGIN KEY-----');
    expect(out).toBe('line: *** -----BEGIN KEY-----');
  });

  test('does not let a secret made of the marker grow back', () => {
    const stars = createRedactor(['****', 'secret']);
    expect(stars('*secret')).not.toContain('****');
    expect(createRedactor(['a***', 'b***', 'c***', 'd***', 'e***', 'f***', 'zzzz'])('fedcbazzzz')).not.toMatch(
      /[a-f]\*\*\*/,
    );
  });

  test('does not stall with a thousand secrets', () => {
    const many = createRedactor(
      Array.from({ length: 1_000 }, (_, index) => `sk-secret-number-${index}-${index * 7919}`),
    );
    const text = 'sk-secret-number-x and some words that are harmless '.repeat(2_000);
    const started = performance.now();
    expect(many(text)).toBe(text);
    expect((performance.now() - started) / (text.length / 1_024)).toBeLessThan(20);
  });

  test('no canary survives in any form, in any surroundings, and nothing is thrown', () => {
    const canary = fc.oneof(
      fc.string({ unit: 'binary', minLength: 4, maxLength: 40 }),
      fc.string({ minLength: 8, maxLength: 40 }),
    );
    const around = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(
        fc.array(canary, { minLength: 1, maxLength: 4 }),
        around,
        around,
        fc.nat(2),
        (canaries, a, b, pad) => {
          const clean = createRedactor(canaries);
          for (const value of canaries) {
            const bytes = Buffer.from(value);
            const shifted = Buffer.concat([Buffer.from('uv'.slice(0, pad)), bytes, Buffer.from('xyz')]).toString(
              'base64',
            );
            for (const text of [value, bytes.toString('hex'), encodeURIComponent(bytes.toString()), shifted]) {
              const out = clean(a + text + b);
              for (const other of canaries) expect(out.includes(other)).toBe(false);
              expect(out).not.toBe(a + text + b);
              if (text !== shifted) expect(out.includes(text)).toBe(false);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('an object', () => {
  test('loses the values under keys that sound secret', () => {
    const value = {
      user: 'ann',
      'X-Api_Key': 'k',
      nested: [{ access_token: { a: 1 }, Password: 1234, note: 'has ghp_0123456789abcdef inside' }],
    };
    expect(redactObject(value, createRedactor(['ghp_0123456789abcdef']))).toEqual({
      user: 'ann',
      'X-Api_Key': '***',
      nested: [{ access_token: '***', Password: '***', note: 'has *** inside' }],
    });
  });

  test.each(['Authorization', 'set-cookie', 'clientSecret', 'auth', 'AWS_SECRET_ACCESS_KEY', 'private key', 'pin'])(
    'hides %s',
    (key) => {
      expect(isSecretKey(key)).toBe(true);
    },
  );

  test.each(['author', 'path', 'title', 'pinned', 'passenger', 'keyword'])('shows %s', (key) => {
    expect(isSecretKey(key)).toBe(false);
  });

  test('that is cyclic, deep, huge or oddly named is copied within bounds', () => {
    const cyclic: Record<string, unknown> = { big: 10n, text: 'x'.repeat(10_000), none: undefined };
    cyclic.self = cyclic;
    expect(JSON.stringify(redactObject(cyclic)).length).toBeLessThan(100_000);
    const odd = redactObject(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}')) as Record<string, unknown>;
    expect(JSON.stringify(odd)).toBe('{"__proto__":{"polluted":1},"constructor":2}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(JSON.stringify(redactObject(Array.from({ length: 50_000 }, () => 1))).length).toBeLessThan(20_000);
  });

  test('of any JSON shape keeps no canary', () => {
    const canary = 'canary-5f2c9a';
    const json = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(json, json, (a, b) => {
        const value = [a, { [`k${canary}`]: b, deep: [`x${canary}y`] }];
        return !JSON.stringify(redactObject(value, createRedactor([canary]))).includes(canary);
      }),
    );
  });
});
