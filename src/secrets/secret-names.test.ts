import { describe, expect, it } from 'vitest';
import type { ServerDefinition } from '../core/types.ts';
import { maskSecrets } from './credential-patterns.ts';
import { isSecretKey, isSecretName } from './secret-names.ts';
import { literalSecretIn, secretsOf } from './server-secrets.ts';

const NAMES = ['GITHUB_PAT', 'apiKey', 'sessionKey', 'X-Api-Key', 'DB_PASS', 'MY_CREDS', 'SENTRY_AUTH', 'JWT', 'OTP'];

const NO_REFERENCES = { env: {}, lookUp: (text: string) => ({ expanded: text, values: [] }) };

const serverWith = (name: string, value: string): ServerDefinition =>
  ({
    name: 's',
    enabled: true,
    connection: { type: 'stdio', command: 'x', args: [], env: { [name]: value }, inheritEnv: [] },
    timeouts: {},
    trusted: false,
    origin: { file: 'f' },
  }) as unknown as ServerDefinition;

describe('names of secrets', () => {
  it.each(NAMES)('%s is one for crashes, copies, messages and diffs alike', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(maskSecrets('it was opensesame12', { [name]: 'opensesame12' })).toBe('it was ***');
    expect(maskSecrets(`${name}=opensesame`)).not.toContain('opensesame');
    expect(literalSecretIn(serverWith(name, 'opensesame'))).toBe(`env ${name}`);
    expect([...secretsOf([serverWith(name, 'open-sesame1')], NO_REFERENCES)]).toContain('open-sesame1');
  });

  it.each(['AUTHOR', 'KEYBOARD', 'compat', 'monkeys', 'MODE', '__proto__', ''])('%j is none', (name) => {
    expect(isSecretName(name)).toBe(false);
    expect(literalSecretIn(serverWith(name, 'plain'))).toBeUndefined();
  });

  it('the key of an issue is no secret, the key of a setting is', () => {
    expect([isSecretKey('key'), isSecretName('key')]).toEqual([false, true]);
  });
});
