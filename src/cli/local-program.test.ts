import { join } from 'node:path';
import { expect, it } from 'vitest';
import { VERSION } from '../core/version.ts';
import { stayingProgram } from './local-program.ts';

const FILE = 'node_modules/@anygpt/discovery/dist/bin/discovery.js';

it.each([
  ['/usr/local/lib', 'a global installation'],
  ['/home/ada/project', 'a local one'],
  [
    '/home/ada/_npx',
    'a folder that is only called so and holds no packages of its own',
    '/clone/dist/bin/discovery.js',
  ],
])('names the program where it is: %s, %s', (folder, _what, file = `/${FILE}`) => {
  const { command } = stayingProgram(folder + file, '/state');
  expect(command).toEqual([process.execPath, folder + file]);
});

it.each([
  ['npx', `/home/ada/.npm/_npx/0a1b/${FILE}`, FILE],
  [
    'pnpm',
    `/home/ada/.cache/pnpm/dlx/0a1b/node_modules/.pnpm/@anygpt+discovery@1/${FILE}`,
    `node_modules/.pnpm/@anygpt+discovery@1/${FILE}`,
  ],
  ['yarn', `/tmp/xfs-1/dlx-123/${FILE}`, FILE],
  ['bunx', `/tmp/bunx-0-@anygpt/discovery@latest/${FILE}`, FILE],
])('names a copy in the state folder where %s would take it away', (_tool, file, copied) => {
  const { command } = stayingProgram(file, '/state');
  expect(command).toEqual([process.execPath, join('/state/program', VERSION, copied)]);
});
