import { describe, expect, it } from 'vitest';
import { literalSecretIn } from './literal-secrets.ts';
import { maskSecrets } from './mask-secrets.ts';
import { isSecretKey, isSecretName } from './secret-names.ts';
import { secretsOf } from './secrets.ts';
import type { ServerDefinition } from './types.ts';

const NAMES = ['GITHUB_PAT', 'apiKey', 'sessionKey', 'X-Api-Key', 'DB_PASS', 'MY_CREDS', 'SENTRY_AUTH', 'JWT', 'OTP'];

const serverWith = (name: string, value: string): ServerDefinition =>
  ({
    name: 's',
    enabled: true,
    connection: { kind: 'stdio', command: 'x', args: [], env: { [name]: value }, inheritEnv: [] },
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
    expect([...secretsOf([serverWith(name, 'open-sesame1')], {})]).toContain('open-sesame1');
  });

  it.each(['AUTHOR', 'KEYBOARD', 'compat', 'monkeys', 'MODE', '__proto__', ''])('%j is none', (name) => {
    expect(isSecretName(name)).toBe(false);
    expect(literalSecretIn(serverWith(name, 'plain'))).toBeUndefined();
  });

  it('the key of an issue is no secret, the key of a setting is', () => {
    expect([isSecretKey('key'), isSecretName('key')]).toEqual([false, true]);
  });
});
