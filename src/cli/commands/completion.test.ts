import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentOf, root, runBinary } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { main } from '../main.ts';

let folder: ReturnType<typeof tempFolder>;
let env: Record<string, string>;
const PWNED = 'pwned';
const EVIL = 'two words $(touch pwned) `touch pwned`';
const program = () => join(folder.path, 'bin', 'anygpt');

beforeAll(async () => {
  folder = tempFolder();
  const path = (name: string) => join(folder.path, name);
  const connection = {
    type: 'stdio',
    command: process.execPath,
    args: [join(root, 'examples', 'servers', 'notes.mjs')],
  };
  const known = { type: 'stdio', command: 'never-started' };
  const servers = [
    { name: 'notes', description: 'Keeps notes', connection },
    { name: EVIL, connection: known, tools: [{ name: 'odd tool;touch pwned' }, { name: 'line\nbreak' }] },
    { name: 'zebra', connection: known, tools: [{ name: 'stripe', description: 'Adds\ta stripe' }] },
  ];
  writeFileSync(path('config.json'), JSON.stringify({ servers }));
  writeFileSync(path('other.json'), JSON.stringify({ servers: [{ name: 'otherwise', connection: known }] }));
  writeFileSync(path('broken.json'), '{');
  mkdirSync(path('bin'));
  mkdirSync(path('some folder'));
  writeFileSync(program(), `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist/bin/anygpt.js')}' "$@"\n`);
  chmodSync(program(), 0o755);
  env = {
    HOME: folder.path,
    ANYGPT_HOME: path('home'),
    ANYGPT_CONFIG: path('config.json'),
    PATH: `${path('bin')}:${process.env.PATH}`,
    LC_ALL: 'C.UTF-8',
  };
  await runBinary(['tools', 'notes'], { cwd: folder.path, env });
});
afterAll(() => folder[Symbol.dispose]());

const run = async (argv: string[], more: Record<string, string> = {}) => {
  const io = fakeIo({ cwd: folder.path, env: { ...env, ...more } });
  return { code: await main(['mcp', 'completion', ...argv], io), out: io.out(), err: io.err() };
};
const words = async (...line: string[]) => {
  const { code, out, err } = await run(['--words', '--', ...line]);
  expect([code, err]).toEqual([0, '']);
  return out.split('\n').slice(0, -1);
};
const names = async (...line: string[]) => (await words(...line)).map((word) => word.split('\t')[0]);

describe('the words that may come next', () => {
  it('are commands, with what they do', async () => {
    expect(await words('')).toEqual(['mcp\tAll commands']);
    expect(await words('mcp', 'ins')).toContain('inspect\tShow one tool with its parameters');
    expect(await names('mcp', '')).toEqual(expect.arrayContaining(['init', 'list', 'completion', 'help']));
    expect(await names('li')).toContain('list');
    expect(await names('mcp', 'help', 'exe')).toEqual(['execute']);
    expect(await names('mcp', 'nope', '')).toEqual([]);
    expect(await names('mcp', 'toString', '')).toEqual([]);
  });

  it('are the options of the command, and their values', async () => {
    expect(await names('mcp', 'init', '--fo')).toEqual(['--format', '--force']);
    expect(await names('mcp', 'init', '--format', '')).toEqual(['json', 'yaml', 'ts']);
    expect(await names('mcp', 'export', '--format', 't')).toEqual(['typescript']);
    expect(await names('mcp', 'export', '--format=z')).toEqual(['--format=zod']);
    expect(await names('mcp', 'export', 'n')).toEqual(['notes']);
    expect(await names('mcp', 'init', '--client', 'cur')).toEqual(['cursor']);
    expect(await words('mcp', 'init', '--client', 'claude-d')).toEqual(['claude-desktop\tClaude Desktop']);
    expect(await names('mcp', 'search', 'x', '--server', 'n')).toEqual(['notes']);
    expect(await names('mcp', 'search', '--server=n')).toEqual(['--server=notes']);
    expect(await names('mcp', 'list', '--log-level', 'd')).toEqual(['debug']);
    expect(await names('mcp', 'list', '--timeout', '')).toEqual([]);
    expect(await words('mcp', 'list', '--config', '')).toEqual([':files\t']);
    expect(await words('mcp', 'list', '--config=so')).toEqual([':files\t--config=']);
    expect(await words('mcp', 'eval', '--queries', '')).toEqual([':files\t']);
    expect(await words('mcp', 'execute', 'notes', 'create_note', '--args', '@so')).toEqual([':files\t@']);
    expect(await words('mcp', 'execute', 'notes', 'create_note', '--args', '{')).toEqual([]);
    expect(await names('mcp', 'list', '--json', '--', '--')).toEqual([]);
  });

  it('are servers and tools, as far as they are known', async () => {
    expect(await words('mcp', 'execute', 'no')).toEqual(['notes\tKeeps notes']);
    expect(await names('mcp', 'execute', '--json', 'notes', 'create')).toEqual(['create_note']);
    expect(await words('mcp', 'inspect', 'zebra', '')).toEqual(['stripe\tAdds a stripe']);
    expect(await names('mcp', 'inspect', 'notes:create')).toEqual(['notes:create_note']);
    expect(await names('mcp', 'inspect', EVIL, '')).toEqual(['odd tool;touch pwned']);
    expect(await names('mcp', 'tools', 'notes', '')).toEqual([]);
    expect(await names('mcp', 'lint', 'notes', 'z')).toEqual(['zebra']);
    expect(await names('mcp', 'install', 'cur')).toEqual(['cursor']);
    expect(await names('mcp', 'install', 'cursor', '')).toEqual([]);
    expect(await names('mcp', 'uninstall', 'cursor', '')).toEqual([]);
    expect(await names('mcp', 'execute', 'nobody', '')).toEqual([]);
    expect(await names('mcp', 'cache', 'clear', 'z')).toEqual(['zebra']);
    expect(await names('mcp', 'config', 'sh')).toEqual(['show']);
    expect(await names('mcp', 'trust', 'a', '')).toEqual([':files']);
    expect(await names('mcp', 'logs', '--config', 'other.json', '')).toEqual(['otherwise']);
    expect(await names('mcp', 'logs', '--config=other.json', '')).toEqual(['otherwise']);
  });

  it('are what a tool still wants, what it needs first', async () => {
    expect(await words('mcp', 'execute', 'notes', 'create_note', 'ti')).toEqual([
      expect.stringMatching(/^title=\tstring.*, required, /),
    ]);
    expect(await names('mcp', 'execute', 'notes', 'create_note', '')).toEqual(['title=', 'body=', 'tags=']);
    expect(await names('mcp', 'execute', 'notes', 'create_note', 'title=x', 'tags=a', '')).toEqual(['body=', 'tags=']);
    expect(await names('mcp', 'execute', 'notes:create_note', 'ti')).toEqual(['title=']);
    expect(await names('mcp', 'execute', 'notes:create_note', 'title=x', 'bo')).toEqual(['body=']);
    expect(await names('mcp', 'execute', 'notes', 'create_note', 'title=')).toEqual([]);
    expect(await words('mcp', 'execute', 'notes', 'read', 'file_path=so')).toEqual([':files\tfile_path=']);
    expect(await names('mcp', 'execute', 'notes', 'nope', '')).toEqual([]);
  });

  it('are none, without a word, when something is wrong', async () => {
    for (const config of ['broken.json', 'missing.json']) {
      const ran = await run(['--words', '--', 'mcp', 'tools', ''], { ANYGPT_CONFIG: join(folder.path, config) });
      expect(ran).toEqual({ code: 0, out: '', err: '' });
    }
    expect(await words()).toEqual(['mcp\tAll commands']);
  });
});

describe('a configuration on the unfinished line', () => {
  it('is not run, nor what it extends, before Enter is pressed', async () => {
    const at = (name: string) => join(folder.path, name);
    writeFileSync(
      at('evil.config.ts'),
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(at('ran'))}, '');\nexport default { servers: [{ name: 'evil', connection: { type: 'stdio', command: 'x' } }] };\n`,
    );
    writeFileSync(at('extends.json'), JSON.stringify({ extends: './evil.config.ts' }));
    for (const file of ['evil.config.ts', 'extends.json']) {
      for (const line of [
        ['--config', file, ''],
        [`--config=${file}`, ''],
        ['', '--config', file],
      ])
        expect(await names('mcp', 'tools', ...line)).not.toContain('evil');
      expect(existsSync(at('ran'))).toBe(false);
    }
    // A file that the user has set for all commands is another matter.
    const ran = await run(['--words', '--', 'mcp', 'tools', ''], { ANYGPT_CONFIG: at('evil.config.ts') });
    expect(ran.out).toBe('evil\n');
  });
});

describe('completion', () => {
  it('prints a script for each shell, and knows no others', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, out } = await run([shell]);
      expect(code).toBe(0);
      expect(out).toContain('mcp completion --words --');
      expect((await documentOf('completion', (await run([shell, '--json'])).out)).script).toBe(out);
    }
    expect(await run(['csh'])).toMatchObject({ code: 1, err: expect.stringContaining('bash, zsh, fish') });
    expect((await run([])).code).toBe(1);
  });

  it('through the real binary keeps stdout to the result', async () => {
    const at = { cwd: folder.path, env };
    const listed = await runBinary(['completion', '--words', '--json', '--', 'mcp', 'execute', 'no'], at);
    expect([listed.code, listed.err]).toEqual([0, '']);
    expect((await documentOf('completion', listed.out)).words).toEqual([{ word: 'notes', about: 'Keeps notes' }]);
    const wrong = await runBinary(['completion', 'csh', '--json'], at);
    expect([wrong.code, wrong.err]).toEqual([1, '']);
    await documentOf('failure', wrong.out);
  });
});

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
/** Loads the script of a shell into it and runs lines there. */
function inShell(shell: string, args: string[], lines: string): string[] {
  const { stdout, stderr, status } = spawnSync(shell, [...args, '-c', lines], {
    cwd: folder.path,
    env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(existsSync(join(folder.path, PWNED))).toBe(false);
  return stdout.split('\n').slice(0, -1);
}

describe.skipIf(!has('bash'))('in bash', () => {
  const complete = (...line: string[]) =>
    inShell(
      'bash',
      ['--norc'],
      `source <(anygpt mcp completion bash)\nCOMP_WORDS=(${line.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')})\n` +
        `COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))\n$(complete -p anygpt | sed 's/.*-F //;s/ .*//') anygpt\n` +
        `printf '%s\\n' "\${COMPREPLY[@]}"`,
    );

  it('completes commands, options, servers, tools and files', () => {
    expect(complete('anygpt', 'mcp', 'exe')).toEqual(['execute']);
    expect(complete('anygpt', 'mcp', 'init', '--fo')).toEqual(['--format', '--force']);
    expect(complete('anygpt', 'mcp', 'execute', 'notes', 'create')).toEqual(['create_note']);
    expect(complete('anygpt', 'mcp', 'execute', 'notes', 'create_note', 'ti')).toEqual(['title=']);
    expect(complete('anygpt', 'mcp', 'list', '--config', 'some')).toEqual(['some folder']);
    expect(complete('anygpt', 'mcp', 'list', '--config', '=', 'some')).toEqual(['some folder']);
    expect(complete('anygpt', 'mcp', 'list', '--config', '~/some')).toEqual(['~/some folder']);
    expect(complete('anygpt', 'mcp', 'execute', 'notes', 'x', '--args', '@', 'some')).toEqual(['some folder']);
    expect(complete('anygpt', 'mcp', 'execute', 'notes', 'x', 'path', '=', 'some')).toEqual(['some folder']);
  });

  it('copes with the colons and equals signs at which bash breaks words', () => {
    expect(complete('anygpt', 'mcp', 'execute', 'notes', ':', 'create')).toEqual(['create_note']);
    expect(complete('anygpt', 'mcp', 'execute', 'zebra', ':')).toEqual(['stripe']);
    expect(complete('anygpt', 'mcp', 'search', '--server', '=', 'n')).toEqual(['notes']);
  });

  it('escapes names from outside and runs nothing in them', () => {
    expect(complete('anygpt', 'mcp', 'tools', 'tw')).toEqual([
      'two\\ words\\ \\$\\(touch\\ pwned\\)\\ \\`touch\\ pwned\\`',
    ]);
    // Inside quotes bash inserts a name as it is.
    for (const quote of ['"', "'"]) {
      expect(complete('anygpt', 'mcp', 'tools', `${quote}tw`)).toEqual(['']);
      expect(complete('anygpt', 'mcp', 'tools', `${quote}no`)).toEqual(['notes']);
    }
    expect(complete('anygpt', 'mcp', 'inspect', EVIL.replace(/[ $()`]/g, '\\$&'), '')).toEqual([
      'odd\\ tool\\;touch\\ pwned',
    ]);
  });
});

describe.skipIf(!has('zsh'))('in zsh', () => {
  /** `compadd` works only inside the line editor; here it prints what it is given. */
  const complete = (...line: string[]) =>
    inShell(
      'zsh',
      ['-f'],
      `compdef() { }\ncompadd() { print -rl -- $names $keys }\n_files() { print files }\nsource <(anygpt mcp completion zsh)\n` +
        `words=(${line.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')}); CURRENT=\${#words}\n_anygpt`,
    );

  it('completes commands, options, servers, tools and files', () => {
    expect(complete('anygpt', 'mcp', 'exe')).toEqual(['execute']);
    expect(complete('anygpt', 'mcp', 'init', '--fo')).toEqual(['--format', '--force']);
    expect(complete('anygpt', 'mcp', 'execute', 'notes', 'create')).toEqual(['create_note']);
    expect(complete('anygpt', 'mcp', 'execute', 'notes:create')).toEqual(['notes:create_note']);
    expect(complete('anygpt', 'mcp', 'execute', 'notes', 'create_note', 'ti')).toEqual(['title=']);
    expect(complete('anygpt', 'mcp', 'list', '--config', '')).toEqual(['files']);
    expect(complete('anygpt', 'mcp', 'tools', 'tw')).toEqual([EVIL]);
  });

  it('loads as a function file, too', () => {
    inShell(
      'zsh',
      ['-f'],
      `mkdir -p functions; anygpt mcp completion zsh > functions/_anygpt; fpath=($PWD/functions $fpath)\n` +
        `autoload -U compinit; compinit -u -D; [[ $_comps[anygpt] == _anygpt ]]`,
    );
  });
});

describe.skipIf(!has('fish'))('in fish', () => {
  const complete = (line: string) =>
    inShell('fish', ['--no-config'], `anygpt mcp completion fish | source\ncomplete -C ${JSON.stringify(line)}`).map(
      (candidate) => candidate.split('\t')[0],
    );

  it('completes commands, options, servers, tools and files', () => {
    expect(complete('anygpt mcp exe')).toEqual(['execute']);
    expect(complete('anygpt mcp init --fo')).toEqual(expect.arrayContaining(['--format', '--force']));
    expect(complete('anygpt mcp execute notes create')).toEqual(['create_note']);
    expect(complete('anygpt mcp execute notes:create')).toEqual(['notes:create_note']);
    expect(complete('anygpt mcp list --config some')).toEqual(['some folder/']);
    expect(complete('anygpt mcp list --config=some')).toEqual(['--config=some folder/']);
    expect(complete('anygpt mcp execute notes x --args @some')).toEqual(['@some folder/']);
    expect(complete('anygpt mcp tools tw')).toEqual([expect.stringContaining('two')]);
  });
});
