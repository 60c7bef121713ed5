import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runBinary } from '../../../test/fixtures/cli.ts';
import { published, startRegistry } from '../../../test/fixtures/mcp-registry-service.mjs';

/** Stands in for a package manager that this machine may not have: a server that says how it was started. */
const PROGRAM = `#!${process.execPath}
const answer = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'p', version: '1' } });
  else if (method === 'tools/list')
    answer(id, { tools: [{ name: 'words', description: 'Says how it was started', inputSchema: { type: 'object' } }] });
  else if (method === 'tools/call')
    answer(id, { content: [{ type: 'text', text: [...process.argv.slice(2), 'ZONE is ' + process.env.ZONE].join(' | ') }] });
});
`;

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'add-packages-'));
  for (const folder of ['bin', '.anygpt']) mkdirSync(join(home, folder));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it.skipIf(process.platform === 'win32').each([
  ['pypi', 'uvx', { identifier: 'mcp-server-time', version: '2025.9.25' }, 'mcp-server-time==2025.9.25 | --local'],
  [
    'oci',
    'docker',
    { identifier: 'ghcr.io/a/time:1.0.8' },
    'run | -i | --rm | -e | ZONE | ghcr.io/a/time:1.0.8 | --local',
  ],
  ['nuget', 'dnx', { identifier: 'TimeServer', version: '1.0.8' }, 'TimeServer@1.0.8 | --yes | -- | --local'],
])('a server of %s is started by %s, word by word', async (registryType, program, named, words) => {
  const path = join(home, 'bin', program);
  writeFileSync(path, PROGRAM);
  chmodSync(path, 0o755);
  const pack = {
    ...{ registryType, ...named, transport: { type: 'stdio' } },
    packageArguments: [{ type: 'named', name: '--local' }],
    environmentVariables: [{ name: 'ZONE', isRequired: true }],
  };
  const server = { name: 'io.example/time', description: 'Time', version: '1.0.0', packages: [pack] };
  await using registry = await startRegistry({ entries: [published(server)] });
  const config = { discovery: { registries: [{ url: registry.url }] } };
  writeFileSync(join(home, '.anygpt', 'mcp-discovery.config.json'), JSON.stringify(config));
  const started = { cwd: home, env: { HOME: home, PATH: `${join(home, 'bin')}:${process.env.PATH}` } };
  const added = await runBinary(['add', 'io.example/time', '--yes', '--env', 'ZONE=UTC'], started);
  expect(added.code, added.err).toBe(0);
  expect((await runBinary(['approve', 'time'], started)).code).toBe(0);
  const { code, out } = await runBinary(['execute', 'time', 'words'], started);
  expect(code, out).toBe(0);
  expect(out.replace(/\s+/g, ' ')).toContain(`${words} | ZONE is UTC`);
});
