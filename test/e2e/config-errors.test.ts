/**
 * Configurations that cannot be used, through the real binary: exit code 2, everything that is wrong said at once on
 * stderr, nothing on stdout. And one that may not be used: code that came with a folder.
 * @module
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, Sandbox } from './sandbox.ts';

/** Runs the binary with its input closed. */
const run = async (sandbox: Sandbox, args: readonly string[], more: { cwd?: string; env?: object } = {}) => {
  const child = spawn(process.execPath, [BIN, 'mcp', ...args], {
    cwd: more.cwd ?? sandbox.folder,
    env: { ...sandbox.env, ...more.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  sandbox.heard(output.stdout + output.stderr);
  return { code, ...output };
};

const stdio = { type: 'stdio', command: 'x' };

describe('a configuration that cannot be used', () => {
  it.each([
    ['is missing', undefined, 'config.json', [/config\.json/]],
    ['is broken JSON', '{"servers": [}', 'config.json', [/config\.json/, /1:14|line 1|column 14/i]],
    ['is broken YAML', 'servers:\n  - name: "a\n', 'config.yaml', [/config\.yaml/, /line|:\d+/i]],
    ['is broken TypeScript', 'export default {{', 'config.ts', [/config\.ts/]],
    ['throws', 'throw new Error("no such luck"); export default {}', 'config.ts', [/config\.ts/, /no such luck/]],
    ['exports nothing', 'export const x = 1', 'config.mjs', [/config\.mjs/]],
    ['is a list', '[]', 'config.json', [/config\.json/]],
    ['has unknown keys', { serverz: [] }, 'config.json', [/serverz/, /servers/]],
    [
      'names one server twice',
      {
        servers: [
          { name: 'a', connection: stdio },
          { name: 'a', connection: { ...stdio, command: 'y' } },
        ],
      },
      'config.json',
      [/"?a"?/, /twice|two|unique|already|again/i],
    ],
    [
      'contradicts itself',
      { servers: [{ name: 'a', connection: { type: 'stdio', command: 'x', url: 'http://localhost' } }] },
      'config.json',
      [/servers.*0.*connection|url/],
    ],
    [
      'has a rule that could stall the process',
      { servers: [], toolRules: [{ pattern: ['/(?<=a)b/'], enabled: false }] },
      'config.json',
      [/\(\?<=a\)b/],
    ],
    [
      'has several faults: all are named',
      {
        serverz: 1,
        cache: { ttl: 'soon' },
        servers: [
          { name: 'anygpt', connection: stdio },
          { name: 'b', connection: { type: 'stdio', comand: 'x' } },
        ],
        toolRules: [{ pattern: '*', enabled: false }],
        rulePrecedence: 'deny-win',
      },
      'config.json',
      [/serverz/, /cache\.ttl/, /anygpt/, /comand/, /toolRules/, /deny-wins/],
    ],
  ] as const)('%s', async (_what, content, name, texts) => {
    await using sandbox = new Sandbox();
    const config = content === undefined ? join(sandbox.folder, name) : sandbox.write(content, name);
    const { code, stdout, stderr } = await run(sandbox, ['serve', '--config', config]);
    expect(stderr).not.toMatch(/internal error|\n\s+at /);
    for (const text of texts) expect(stderr).toMatch(text);
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => line.replace(/^.*?(?=\w+(\[\d\])?[.:])/, '').trim());
    expect(new Set(lines).size, 'nothing is said twice').toBe(lines.length);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

describe('a configuration that came with a folder', () => {
  const project = (sandbox: Sandbox) => {
    const folder = join(sandbox.folder, 'project');
    mkdirSync(join(folder, '.anygpt'), { recursive: true });
    const mark = join(sandbox.folder, 'executed');
    sandbox.write(
      `import { writeFileSync } from 'node:fs';
       writeFileSync(${JSON.stringify(mark)}, '');
       export default { servers: [] };`,
      'project/.anygpt/mcp-discovery.config.ts',
    );
    return { folder, executed: () => existsSync(mark) };
  };

  it('is not executed, and that is said', async () => {
    await using sandbox = new Sandbox();
    const { folder, executed } = project(sandbox);
    const { code, stderr } = await run(sandbox, ['serve'], { cwd: folder });
    expect(executed()).toBe(false);
    expect(stderr).toMatch(/not trusted|trust/);
    expect(code).toBe(0);
  });

  it('is executed when the word was given: on the command line, in the environment, or before', async () => {
    for (const way of ['--trust-project', 'environment', 'trust'] as const) {
      await using sandbox = new Sandbox();
      const { folder, executed } = project(sandbox);
      if (way === 'trust') expect((await run(sandbox, ['trust', '--yes'], { cwd: folder })).code).toBe(0);
      const env = way === 'environment' ? { ANYGPT_TRUST_PROJECT: '1' } : {};
      const args = way === '--trust-project' ? ['serve', way] : ['serve'];
      expect((await run(sandbox, args, { cwd: folder, env })).code).toBe(0);
      expect(executed(), way).toBe(true);
    }
  });
});
