// Converts every tool of a corpus to RTFS, TypeScript and zod with the built package, compiles the last two, and
// compares what zod and the JSON Schema validator say of generated values.
//
//   node bench/convert.mjs PATH [--values N] [--no-compile] [--show N]
//
// PATH is a file of JSON lines (.gz too) or a folder of such files, with tools {server, name, description, inputSchema}
// or lists {server, tools}. N values are generated for each schema (default 20). --show prints the first differences.
// The exit code is 1 if a conversion throws, code does not compile, or there is no tool.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { requireBuild } from './parts/run-sections.mjs';
import { valuesFor } from './parts/schema-values.mjs';
import { jsonLines } from './parts/tool-corpus.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    values: { type: 'string', default: '20' },
    compile: { type: 'boolean', default: true },
    show: { type: 'string', default: '0' },
  },
  allowNegative: true,
});
requireBuild();
const [path] = positionals;
if (path === undefined || !existsSync(path)) {
  process.stderr.write('bench: give the path of the tools, a file of JSON lines or a folder of such files\n');
  process.exit(1);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const { schemaToTypeExpr } = await import('../dist/service/convert/type-expr.js');
const { schemaToTypeScript } = await import('../dist/service/convert/typescript-types.js');
const { schemaToZod, zodModule } = await import('../dist/service/convert/zod-source.js');
const { rtfsText } = await import('../dist/service/rtfs/write-rtfs.js');
const { readRtfs } = await import('../dist/service/rtfs/read-rtfs.js');
const { checkSchema } = await import('../dist/execution/validation/schema-check.js');
const { nativeTest } = await import('../dist/execution/validation/schema-reader.js');
const { checkValue } = await import('../dist/execution/validation/check-value.js');

const files = statSync(path).isDirectory()
  ? readdirSync(path)
      .filter((name) => /tools\.jsonl|servers\.jsonl/.test(name))
      .map((name) => join(path, name))
  : [path];
const tools = files
  .flatMap(jsonLines)
  .flatMap((line) => line.tools?.map((tool) => ({ ...tool, server: line.server })) ?? line);
const schemas = tools.flatMap(({ inputSchema, outputSchema }) =>
  [inputSchema, outputSchema].filter((one) => one != null),
);

const say = (text) => process.stdout.write(`${text}\n`);
let failed = schemas.length === 0;
const thrown = { rtfs: 0, typescript: 0, zod: 0 };
const notes = { rtfs: 0, typescript: 0, zod: 0 };
const ms = { rtfs: 0, typescript: 0, zod: 0 };
const attempt = (language, convert) => {
  const start = performance.now();
  try {
    const result = convert();
    if (result.notes.length > 0) notes[language]++;
    return result;
  } catch (error) {
    if (thrown[language]++ < 3) say(`${language} threw: ${error.stack}`);
    failed = true;
    return undefined;
  } finally {
    ms[language] += performance.now() - start;
  }
};
const written = schemas.map((schema, at) => {
  const expr = attempt('rtfs', () => schemaToTypeExpr(schema));
  const text = expr && rtfsText(expr.expr);
  if (text !== undefined && rtfsText(readRtfs(text)[0]) !== text) {
    say(`RTFS does not read back: ${text.slice(0, 200)}`);
    failed = true;
  }
  return {
    schema,
    typescript: attempt('typescript', () => schemaToTypeScript(schema, `T${at}`)),
    zod: attempt('zod', () => schemaToZod(schema, `Z${at}`)),
    plain: schemaToZod(schema, 'Z', { typed: false }),
  };
});
say(`${tools.length} tools, ${schemas.length} schemas`);
for (const language of Object.keys(thrown))
  say(
    `  ${language}: ${thrown[language]} threw, ${notes[language]} with notes, ${((ms[language] * 1000) / schemas.length).toFixed(0)} µs a schema`,
  );

if (options.compile) {
  const folder = mkdtempSync(join(tmpdir(), 'anygpt-convert-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: 'NodeNext',
      target: 'ES2022',
      skipLibCheck: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      types: [],
    };
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const chunk = 400;
    for (let at = 0; at < written.length; at += chunk) {
      const part = written.slice(at, at + chunk);
      writeFileSync(join(folder, `types-${at}.ts`), part.map(({ typescript }) => typescript?.text ?? '').join('\n'));
      writeFileSync(join(folder, `zod-${at}.ts`), zodModule(part.flatMap(({ zod }) => zod ?? [])));
    }
    const start = performance.now();
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', folder], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    say(
      `  tsc --strict: ${status === 0 ? 'no errors' : 'ERRORS'}, ${((performance.now() - start) / 1000).toFixed(0)} s`,
    );
    if (status !== 0) say(stdout.slice(0, 4000));
    failed ||= status !== 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const counts = { values: 0, accepted: 0, rejected: 0, looser: 0, stricter: 0, unusable: 0 };
const different = new Set();
const keywords = new Map();
let shown = Number(options.show);
for (const { schema, plain } of written) {
  const checked = checkSchema(schema);
  if (checked.verdict === 'unusable') {
    counts.unusable++;
    continue;
  }
  // The worker thread of the validator compiles the patterns that may be slow; values here are short.
  for (const pattern of checked.patterns) pattern.test ??= nativeTest(pattern.source);
  const code = zodModule([plain], { typed: false })
    .replace(/^import .*\n/, '')
    .replaceAll('export const', 'const');
  const zod = new Function('z', `${code}; return Z;`)(z);
  for (const value of valuesFor(schema, Number(options.values))) {
    const found = checkValue(checked.root, value);
    if (found === 'exhausted') continue;
    const isValid = found.length === 0;
    counts.values++;
    counts[isValid ? 'accepted' : 'rejected']++;
    if (zod.safeParse(value).success === isValid) continue;
    counts[isValid ? 'stricter' : 'looser']++;
    different.add(schema);
    const keyword = found[0]?.keyword ?? 'none';
    keywords.set(keyword, (keywords.get(keyword) ?? 0) + 1);
    if (shown-- > 0)
      say(
        `${isValid ? 'zod rejects' : 'zod accepts'} ${JSON.stringify(value)}\n  ${JSON.stringify(schema).slice(0, 1500)}\n  ${found.length ? `${found[0].keyword} at ${found[0].path.join('.')}` : ''}\n  ${code.slice(-1500)}`,
      );
  }
}
say(
  `  ${counts.values} values (${counts.accepted} valid, ${counts.rejected} invalid): zod agrees on ${(100 * (1 - (counts.looser + counts.stricter) / counts.values)).toFixed(3)} %`,
);
say(
  `  accepted though invalid: ${counts.looser}; rejected though valid: ${counts.stricter}; in ${different.size} schemas`,
);
say(`  by the keyword that the validator names: ${JSON.stringify(Object.fromEntries(keywords))}`);
say(`  not compared, because the validator cannot use the schema: ${counts.unusable}`);
process.exitCode = failed ? 1 : 0;
