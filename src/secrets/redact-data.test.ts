import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { definition } from '../../test/fixtures/connections/harness.ts';
import { atOnce } from '../catalog/paced.ts';
import { lookUpReferences } from '../config/references.ts';
import type { ToolDefinition } from '../core/types.ts';
import { redactData, redactDefinitions, redactFailure } from './redact-data.ts';
import { KnownSecrets } from './redactor.ts';
import { secretsOf } from './server-secrets.ts';

/** Returns the engine's known secrets for a server with these variables. */
const knownOf = (env: Readonly<Record<string, string>>): KnownSecrets => {
  const names = Object.keys(env);
  const server = definition('s', {
    type: 'stdio',
    command: 'node',
    args: names.map((name) => `--${name.toLowerCase()}=\${${name}}`),
    env: Object.fromEntries(names.map((name) => [name, `\${${name}}`])),
    inheritEnv: names,
    cwd: undefined,
  });
  return new KnownSecrets(secretsOf([server], { env, lookUp: (text) => lookUpReferences(text, env) }));
};

const words =
  'info debug production staging main search read write list github us-east-1 eu-west-3 gpt-4o-mini-2024-07-18 claude-sonnet-4-20250514 Europe/Berlin customers 8080 true v1.2.3 repos,issues my-project-123 admin@example.com https://api.example.com/v1 /home/me/data 2026-01-02 utf-8 en_US.UTF-8'.split(
    ' ',
  );
const word = fc.oneof(
  fc.constantFrom(...words),
  fc.stringMatching(/^[a-z]{2,11}$/),
  fc.stringMatching(/^[A-Z][a-z]{1,10}$/),
);
const settings = fc.dictionary(
  fc.constantFrom(
    'LOG_LEVEL',
    'MODE',
    'REGION',
    'MODEL',
    'TZ',
    'BRANCH',
    'TOOLSETS',
    'PORT',
    'DB_NAME',
    'BASE_URL',
    'LANG',
  ),
  word,
);

describe('a definition', () => {
  it('environment values that are ordinary words leave every definition as it is', () => {
    fc.assert(
      fc.property(settings, fc.array(word, { minLength: 1 }), (env, said) => {
        const text = [...said, ...Object.values(env)].join('_');
        const tool: ToolDefinition = {
          name: `get_${text}`,
          description: `Gets ${text.replaceAll('_', ' ')}.`,
          inputSchema: {
            type: 'object',
            properties: { [text]: { enum: [...said, ...Object.values(env)], default: text, description: text } },
            required: [text],
          },
        };
        expect(atOnce(redactDefinitions([tool], knownOf(env).redact))[0]).toBe(tool);
      }),
    );
  });

  const secret = fc.stringMatching(/^[0-9a-f]{24,40}$/).filter((text) => /\d/.test(text) && /[a-f]/.test(text));

  it('keeps its names although one of them is a secret, and loses the secret everywhere else', () => {
    fc.assert(
      fc.property(secret, (value) => {
        const named = (description: string, fallback: string): ToolDefinition => ({
          name: `get_${value}`,
          title: description,
          description,
          inputSchema: {
            type: 'object',
            description,
            $defs: { [value]: { const: value, description } },
            properties: {
              [value]: {
                enum: [value],
                $ref: `#/$defs/${value}`,
                description,
                default: fallback,
                examples: [fallback],
              },
              enum: { description, pattern: value, type: 'string' },
            },
            required: [value],
            dependentRequired: { [value]: [value] },
            dependencies: { [value]: [value] },
          },
          annotations: { title: description },
          _meta: { [value]: description },
        });
        const [clean] = atOnce(redactDefinitions([named(`uses ${value}!`, value)], knownOf({ ANY: value }).redact));
        expect(clean).toEqual(named('uses ***!', '***'));
      }),
    );
  });
});

describe('data', () => {
  const { redactWords } = new KnownSecrets(['k9Xw2LpQ8sVbT1zR']);

  it('keeps its keys, and stays the same object where nothing is hidden', () => {
    const data = { k9Xw2LpQ8sVbT1zR: ['key k9Xw2LpQ8sVbT1zR', 1, null], password: 'x', __proto: { a: 1 } };
    expect(redactData(data, redactWords)).toEqual({
      ...data,
      k9Xw2LpQ8sVbT1zR: ['key ***', 1, null],
    });
    const plain = { a: [{ b: 'text' }] };
    expect(redactData(plain, redactWords)).toBe(plain);
  });

  it('of a result is touched only where the result reports an error', () => {
    const content = [
      { type: 'text', text: 'k9Xw2LpQ8sVbT1zR postgres://me:hunter2@db' },
      { type: 'image', data: 'aa' },
    ];
    const good = { content, structuredContent: { a: 'k9Xw2LpQ8sVbT1zR' } };
    expect(atOnce(redactFailure(good, redactWords))).toBe(good);
    const bad = { ...good, isError: true };
    expect(atOnce(redactFailure(bad, redactWords))).toEqual({
      isError: true,
      content: [{ type: 'text', text: '*** postgres://***@db' }, content[1]],
      structuredContent: { a: '***' },
    });
    const harmless = { isError: true, content: [{ type: 'text', text: 'not found' }] };
    expect(atOnce(redactFailure(harmless, redactWords))).toBe(harmless);
  });

  it('of an error is masked in blocks of every type and in every other member; kinds, keys and bytes stay', () => {
    const token = 'k9Xw2LpQ8sVbT1zR';
    const data = Buffer.from('an image').toString('base64');
    const result = (said: string) => ({
      isError: true,
      content: [
        { type: 'resource', resource: { uri: `file:///${said}`, text: said, mimeType: said, blob: data } },
        { type: 'resource_link', uri: `x:${said}`, name: said, _meta: { [token]: said } },
        { type: 'image', data, mimeType: 'image/png' },
        { type: 'of another protocol', parts: [[said]] },
      ],
      _meta: { x: said },
      structuredContent: { y: { z: [said] } },
    });
    expect(atOnce(redactFailure(result(token), redactWords))).toEqual(result('***'));
  });

  it('of an error is masked under a key that names a credential, as it is in text', () => {
    const said = (secret: string) => ({
      request: { auth: { pass: secret }, client_secret: secret, api_key: [secret], DB_PASSWORD: secret },
      tokens: 12,
      password: 'required',
      errors: { password: 'must not be empty', token: 'expired' },
      secret: null,
      passwordRules: { least: 'eight characters' },
    });
    const result = { isError: true, content: [], structuredContent: said('hunter2'), _meta: said('hunter2') };
    const masked = { ...result, structuredContent: said('***'), _meta: said('***') };
    expect(atOnce(redactFailure(result, redactWords))).toEqual(masked);
    expect(redactData(said('hunter2'), redactWords)).toEqual(said('***'));
  });

  it('of an error is looked through in steps, however long it is, and a secret at a border is seen', () => {
    for (let before = 30_000; before < 34_000; before += 97) {
      const text = `${'x '.repeat(before / 2)}k9Xw2LpQ8sVbT1zR ${'y '.repeat(100_000)}`;
      const steps = redactFailure({ isError: true, content: [{ type: 'text', text }] }, redactWords);
      let count = 0;
      let step = steps.next();
      for (; !step.done; step = steps.next()) count += 1;
      expect(count).toBeGreaterThan(5);
      expect(step.value.content?.[0]?.text).toBe(text.replace('k9Xw2LpQ8sVbT1zR', '***'));
    }
  });

  it('of an error is cut where it is more than anybody reads', () => {
    const data = redactData([`${'x'.repeat(65_530)} k9Xw2LpQ8sVbT1zR`, 'more', { deep: 'more' }], redactWords);
    expect(data).toEqual([`${'x'.repeat(65_530)} ***…`, '…', { deep: '…' }]);
  });
});
