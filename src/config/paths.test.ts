import { expect, it } from 'vitest';
import { ConfigurationError } from '../core/errors.ts';
import { expandPath } from './paths.ts';
import { realWorld } from './world.ts';

const world = realWorld({
  home: '/home/ada',
  cwd: '/srv',
  env: { AWS_SECRET_ACCESS_KEY: 'wJalr-canary', PLACE: 'p' },
});

it.each([
  './${AWS_SECRET_ACCESS_KEY}/x.json',
  '${file:~/.aws/credentials}',
  'a/${envFile:.env#X}/b',
  '${env:GH_TOKEN}',
])('a path that would show a secret wherever it is shown is refused as it is written: %s', (written) => {
  let message = '';
  try {
    expandPath(written, '/srv', world, 'extends');
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    message = (error as Error).message;
  }
  expect(message).toMatch(/^extends contains \$\{.*is not allowed in a path/);
  expect(message).not.toContain('canary');
});

it('other references and the home folder are put in', () => {
  expect(expandPath('~/${PLACE}/x', '/srv', world)).toBe('/home/ada/p/x');
  expect(expandPath('./${PLACE}', '/srv', world)).toBe('/srv/p');
});
