// Compiles src/ to dist/ with plain tsc (dist mirrors src), then bundles the two commands into dist/bin. An agent waits
// for them at every start, and reading a few files instead of some hundred saves a good part of that time; `npm run
// bench:gateway -- --only start` measures it.
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
// Built aside and swapped in, so that programs running from dist always find a complete one.
const fresh = join(root, `.dist-${process.pid}`);
process.on('exit', () => rmSync(fresh, { recursive: true, force: true }));

/** The licences of the packages whose code is inside the bundle. */
function licences(modules) {
  const folders = new Set(
    modules.map((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id)?.[0]).filter(Boolean),
  );
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** Matches compiled files by their names; what they import comes with them. */
const fileIn = (...names) => new RegExp(`[\\\\/](?:${names.join('|').replaceAll('/', '[\\\\/]')})\\.js$`);

const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', fresh];
const compiled = spawnSync(process.execPath, tsc, { cwd: root, stdio: 'inherit' });
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const bundle = await rolldown({
  input: {
    anygpt: join(fresh, 'cli/bin.js'),
    discovery: join(fresh, 'cli/bin-discovery.js'),
    // Found beside the bundle by name, through import.meta.url.
    'validation-worker': join(fresh, 'execution/validation/validation-worker.js'),
    'define-config': join(fresh, 'config/define-config.js'),
  },
  platform: 'node',
  // The main file of jsonc-parser cannot be bundled: it passes `require` around.
  resolve: { mainFields: ['module', 'main'] },
  // Loaded only by programs that need them.
  external: ['jiti', 'yaml', 're2js', /^node:/],
  // Modules that only some programs load late are bundled below, with what all of them load.
  checks: { ineffectiveDynamicImport: false },
});
const { output } = await bundle.write({
  dir: join(fresh, 'bin'),
  // Node reads a tree of CommonJS files at once, but modules one by one through its thread pool.
  format: 'cjs',
  chunkFileNames: '[name]-[hash].js',
  // One file each for what every start, every command and every search loads: many small files take longer to find than
  // to read. The help of a command must not need the last one.
  codeSplitting: {
    groups: [
      { name: 'start', test: fileIn('cli/process-io'), priority: 3 },
      { name: 'session', test: fileIn('cli/session', 'cli/commands/search'), priority: 2 },
      { name: 'engine', test: fileIn('engine/engine-core', 'config/configuration-loader'), priority: 1 },
    ],
  },
});
await bundle.close();

// The main file of jsonc-parser breaks when esbuild or rolldown bundles it for Node, so the library brings its own
// copy.
const inlined = await rolldown({
  input: {
    'config/parse-jsonc': join(fresh, 'config/parse-jsonc.js'),
    'clients/installers/json-editor': join(fresh, 'clients/installers/json-editor.js'),
  },
  platform: 'node',
  resolve: { mainFields: ['module', 'main'] },
  external: (id, importer) => importer !== undefined && !`${id} ${importer}`.includes('jsonc-parser'),
});
await inlined.write({
  dir: fresh,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'config/jsonc-parser.js',
});
await inlined.close();
writeFileSync(join(fresh, 'bin', 'package.json'), '{ "type": "commonjs" }\n');
writeFileSync(
  join(fresh, 'bin', 'THIRD-PARTY-LICENSES.txt'),
  licences(output.flatMap(({ moduleIds = [] }) => moduleIds)),
);

for (const command of ['anygpt', 'discovery']) chmodSync(join(fresh, 'bin', `${command}.js`), 0o755);
writeFileSync(join(fresh, '.built'), '');
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(fresh, join(root, 'dist'));
