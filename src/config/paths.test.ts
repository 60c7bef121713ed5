import { expect, it } from 'vitest';
import { ConfigurationError } from '../errors.ts';
import { expandPath } from './paths.ts';
import { realWorld } from './world.ts';

const world = realWorld({
  home: '/home/ada',
  cwd: '/work',
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
    expandPath(written, '/work', world, 'extends');
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    message = (error as Error).message;
  }
  expect(message).toMatch(/^extends holds \$\{.*has no place in a path/);
  expect(message).not.toContain('canary');
});

it('other references and the home folder are put in', () => {
  expect(expandPath('~/${PLACE}/x', '/work', world)).toBe('/home/ada/p/x');
  expect(expandPath('./${PLACE}', '/work', world)).toBe('/work/p');
});
