import { expect, it } from 'vitest';
import { childEnvironment } from './child-environment.ts';

const ours = {
  HOME: '/home/a',
  PATH: '/bin',
  LC_TIME: 'C',
  HTTPS_PROXY: 'http://proxy',
  NODE_EXTRA_CA_CERTS: '/ca.pem',
  AWS_SECRET_ACCESS_KEY: 'canary',
  OPENAI_API_KEY: 'canary',
  NODE_OPTIONS: '--require ./evil.js',
  LD_PRELOAD: '/evil.so',
  'BASH_FUNC_x%%': '() { evil; }',
  TERM: '() { evil; }',
  DOCKER_HOST: 'unix:///d',
  Path: 'C:\\bin',
  SystemRoot: 'C:\\Windows',
  __proto__hidden: 'canary',
};

it('lets a child see the allow-list and what its entry names, and nothing else', () => {
  const env = childEnvironment(
    { env: { TOKEN: '${T}', __proto__: 'p' } as Record<string, string>, inheritEnv: ['DOCKER_HOST'] },
    ours,
    (text) => text.replace('${T}', 'secret'),
    'linux',
  );
  expect({ ...env }).toEqual({
    HOME: '/home/a',
    PATH: '/bin',
    LC_TIME: 'C',
    HTTPS_PROXY: 'http://proxy',
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    DOCKER_HOST: 'unix:///d',
    TOKEN: 'secret',
  });
});

it('knows the names Windows needs, in whatever case', () => {
  const env = childEnvironment({ env: {}, inheritEnv: [] }, ours, (text) => text, 'win32');
  expect(env).toMatchObject({ Path: 'C:\\bin', SystemRoot: 'C:\\Windows' });
  expect(Object.values(env)).not.toContain('canary');
});

it('accepts any name as the name of a variable', () => {
  const named = JSON.parse('{"__proto__": "p", "constructor": "c"}') as Record<string, string>;
  const env = childEnvironment({ env: named, inheritEnv: [] }, {}, (text) => text, 'linux');
  expect(Object.keys(env)).toEqual(['__proto__', 'constructor']);
});

it.each([
  ['http://me:hunter2@proxy:3128', 'http://proxy:3128'],
  ['http://me:p@ss/w@rd@proxy:3128/', 'http://proxy:3128/'],
  ['me:hunter2@proxy:3128', 'proxy:3128'],
  ['socks5h://token@proxy', 'socks5h://proxy'],
  ['http://proxy:3128', 'http://proxy:3128'],
])('hands on the address of a proxy without its password: %s', (address, bare) => {
  const learnt: string[] = [];
  const learn = (secrets: Iterable<string>) => void learnt.push(...secrets);
  for (const name of ['HTTP_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']) {
    const child = (inheritEnv: string[], env = {}) =>
      childEnvironment({ env, inheritEnv }, { [name]: address }, (text) => text, 'linux', { learn })[name];
    expect(child([])).toBe(bare);
    expect(child([name])).toBe(address);
    expect(child([], { [name]: 'http://x:y@own' })).toBe('http://x:y@own');
  }
  if (address.includes('hunter2')) expect(learnt).toContain('hunter2');
});

it('makes what a child inherits known as a secret where it is one', () => {
  const learnt: string[] = [];
  const learn = (secrets: Iterable<string>) => void learnt.push(...secrets);
  const env = { GH_TOKEN: 'short1', MODE: 'info' };
  childEnvironment({ env: {}, inheritEnv: ['GH_TOKEN', 'MODE'] }, env, (text) => text, 'linux', { learn });
  expect(learnt).toEqual(['short1']);
});

it('hands on only the absolute folders of the search path, and none at all where there is no such', () => {
  const path = (PATH: string, platform: NodeJS.Platform) =>
    childEnvironment({ env: {}, inheritEnv: [] }, { PATH }, (text) => text, platform).PATH;
  expect(path('.::bin:/usr/bin:./x:/bin:', 'linux')).toBe('/usr/bin:/bin');
  expect(path('.;C:\\bin;bin;;D:\\x', 'win32')).toBe('C:\\bin;D:\\x');
  expect(path('.:', 'linux')).toBeUndefined();
});
