import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, it } from 'vitest';

const library = fileURLToPath(new URL('../dist/index.js', import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'anygpt-bundled-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a program that is bundled for Node reads a configuration with comments', async () => {
  const [source, config] = [join(folder, 'program.mjs'), join(folder, 'config.json')];
  writeFileSync(
    config,
    '{ /* mine */ "servers": [{ "name": "a", "connection": { "type": "stdio", "command": "x" } }] }',
  );
  writeFileSync(
    source,
    `import { ConfigurationLoader } from ${JSON.stringify(library)};
     const { servers } = await new ConfigurationLoader({ env: {}, home: ${JSON.stringify(folder)}, cwd: ${JSON.stringify(folder)} }).load(${JSON.stringify(config)});
     process.stdout.write(servers[0].name);`,
  );
  const bundle = await rolldown({ input: source, platform: 'node', external: [/^node:/], logLevel: 'silent' });
  await bundle.write({ dir: join(folder, 'out'), format: 'esm' });
  await bundle.close();
  expect(execFileSync(process.execPath, [join(folder, 'out', 'program.js')], { encoding: 'utf8' })).toBe('a');
});
