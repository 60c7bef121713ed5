/** Runs the code of README.md as it stands there, in a folder with nothing but the package. Uses the build. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { root } from './fixtures/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What `npx -y name …` does once a package is there, without asking the npm registry. */
const NPX = `#!/usr/bin/env node
const [, name, ...args] = process.argv.slice(2);
process.argv = [process.execPath, name, ...args];
import('${join(root, 'node_modules')}/' + name + '/dist/index.js');
`;

const programs = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
  ([, code = '']) => code,
);

it.skipIf(process.platform === 'win32')(
  'README.md shows a program that runs',
  async () => {
    mkdirSync(join(folder, 'node_modules/@anygpt'), { recursive: true });
    symlinkSync(root, join(folder, 'node_modules/@anygpt/discovery'));
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/npx'), NPX);
    chmodSync(join(folder, 'bin/npx'), 0o755);
    const env = { ...process.env, HOME: folder, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` };
    const run = async (code: string): Promise<string> => {
      writeFileSync(join(folder, 'try.mjs'), code);
      const { stdout } = await promisify(execFile)(process.execPath, ['try.mjs'], { cwd: folder, env });
      return stdout;
    };
    expect(programs).toHaveLength(1);
    const said = await run(programs.join());
    // Five meta-tools, and an answer in which the program's own tool was found.
    expect(said).toContain('5 ');
    expect(said).toContain('send_email');
  },
  60_000,
);
