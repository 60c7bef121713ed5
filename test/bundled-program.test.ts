/** A program that was bundled into one file, away from the files of this package. Uses the build. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from './fixtures/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'bundled-'));
const run = promisify(execFile);

const PROGRAMS = {
  engine: `
    import { DiscoveryEngine, ToolRegistry } from ${JSON.stringify(join(root, 'dist/index.js'))};
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'send_email', description: 'Send an email' }, () => 'sent');
    const engine = new DiscoveryEngine({ providers: [registry] });
    const [hit] = await engine.searchTools('send an email');
    process.stdout.write(hit.tool);
    await engine.close();
  `,
  registry: `
    import { ToolRegistry } from ${JSON.stringify(join(root, 'dist/registry.js'))};
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'send_email', description: 'Send an email' }, () => 'sent');
    const { results } = await registry.search('send an email');
    process.stdout.write(results[0].name);
  `,
  comments: `
    import { ConfigurationLoader } from ${JSON.stringify(join(root, 'dist/index.js'))};
    const folder = ${JSON.stringify(folder)};
    const { servers } = await new ConfigurationLoader({ env: {}, home: folder, cwd: folder }).load(folder + '/config.json');
    process.stdout.write(servers[0].name);
  `,
};

beforeAll(async () => {
  for (const [name, text] of Object.entries(PROGRAMS)) {
    const input = join(folder, `${name}-source.mjs`);
    writeFileSync(input, text);
    const bundle = await rolldown({ input, platform: 'node', external: ['jiti', 'yaml', 're2js'], logLevel: 'silent' });
    await bundle.write({ dir: join(folder, name, 'out', 'dist'), entryFileNames: 'program.mjs' });
    await bundle.close();
  }
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a bundled program reads a configuration with comments', async () => {
  const servers = '[{ "name": "a", "connection": { "type": "stdio", "command": "x" } }]';
  writeFileSync(join(folder, 'config.json'), `{ /* mine */ "servers": ${servers} }`);
  const { stdout } = await run(process.execPath, [join(folder, 'comments', 'out', 'dist', 'program.mjs')]);
  expect(stdout).toBe('a');
});

describe.each(['engine', 'registry'])('a bundled program with the %s', (name) => {
  const program = join(folder, name, 'out', 'dist', 'program.mjs');

  it('is told that it lost the model file, and finds tools by their words', async () => {
    const { stdout, stderr } = await run(process.execPath, [program]);
    expect(stdout).toBe('send_email');
    expect(stderr).toContain('The model file of @anygpt/discovery is missing');
    expect(stderr.match(/model file/g)).toHaveLength(1);
  });

  it('is told nothing where the folder lies where the message says', async () => {
    const { stderr: told } = await run(process.execPath, [program]);
    const [, file = ''] = /damaged: (.+meaning\.bin)\./.exec(told) ?? [];
    cpSync(join(root, 'models'), join(file, '..'), { recursive: true });
    const { stdout, stderr } = await run(process.execPath, [program]);
    expect({ stdout, stderr }).toEqual({ stdout: 'send_email', stderr: '' });
  });
});
