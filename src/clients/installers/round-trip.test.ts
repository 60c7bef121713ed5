import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigurationLoader } from '../../config/configuration-loader.ts';
import { parseJsonc } from '../../config/parse-jsonc.ts';
import { Snapshot } from '../../config/project-snapshot.ts';
import { TrustStore } from '../../config/trust-store.ts';
import { stateFolder, type World } from '../../config/world.ts';
import { CLIENT_TYPES, type ClientType, clientOf } from '../importers/clients.ts';
import { importSource } from '../importers/import-source.ts';
import { type InstallOptions, planInstall as plan, planUninstall } from './plan-install.ts';

const planInstall = (type: ClientType, path: string, options: InstallOptions, world: World) =>
  plan(type, path, { local: ['/opt/node', '/opt/discovery.js'], ...options }, world);

const fixtures = fileURLToPath(new URL('../../../test/fixtures/clients/', import.meta.url));
let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'anygpt-install-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
let counter = 0;
const newWorld = (platform: NodeJS.Platform = 'linux'): World => {
  const home = join(root, `${counter++}`);
  mkdirSync(join(home, 'work'), { recursive: true });
  return { home, cwd: join(home, 'work'), env: {}, platform };
};

/** Every file of every client that can be written. */
const files = CLIENT_TYPES.filter((type) => type !== 'docker-mcp').flatMap((type) => {
  const own = join(fixtures, type);
  if (!existsSync(own)) throw new Error(`Add a file as ${type} writes it: test/fixtures/clients/${type}/`);
  return (readdirSync(own, { recursive: true, encoding: 'utf8' }) as string[])
    .filter((path) => statSync(join(own, path)).isFile())
    .map((path) => [type, join(own, path)] as const);
});

const SHAPES: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['with CRLF', (text) => text.replaceAll('\n', '\r\n')],
  ['with a byte order mark', (text) => `\ufeff${text}`],
  ['without a final line break', (text) => text.trimEnd()],
];
const JSON_SHAPES: typeof SHAPES = [
  ['with tabs', (text) => text.replaceAll(/^(?: {2})+/gm, (spaces) => '\t'.repeat(spaces.length / 2))],
  ['on one line', (text) => JSON.stringify(parseJsonc(text))],
  ['as programs write it', (text) => JSON.stringify(parseJsonc(text), null, 4)],
  ['with comments at the end', (text) => `${text.trimEnd()} // the end\n/* really */`],
];
const shapes = [
  ...SHAPES.flatMap(([name, shaped]) => files.map(([type, file]) => [type, file, name, shaped] as const)),
  ...JSON_SHAPES.flatMap(([name, shaped]) =>
    files.filter(([, file]) => /\.jsonc?$/.test(file)).map(([type, file]) => [type, file, name, shaped] as const),
  ),
].map(([type, file, ...rest]) => [type, relative(fixtures, file), ...rest] as const);

async function install(type: ClientType, file: string, options: InstallOptions, world: World) {
  const plan = await planInstall(type, file, options, world);
  await plan.write();
  return plan;
}
async function uninstall(type: ClientType, file: string, world: World) {
  const plan = await planUninstall(type, file, {}, world);
  await plan.write();
  return plan;
}
const trusting = async () => true;
const imported = async (type: ClientType, path: string, world: World) => {
  const [result] = await importSource(
    { type, path },
    { world, base: world.cwd, isTrusted: trusting, isTrustedProject: trusting },
  );
  return result;
};

/** Puts the file where the client has one of this name, else elsewhere and trusts it. */
async function placed(type: ClientType, name: string, text: string, world: World): Promise<string> {
  const { user, former } = clientOf(type);
  const own = [...user(world), ...(former?.(world) ?? [])].find((path) => basename(path) === name);
  const file = own ?? join(world.home, 'config', name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  if (own === undefined) await new TrustStore(stateFolder(world)).trust(file, new Snapshot().hashOf(file, []) ?? '');
  return file;
}

/** A connection as it is written, as the program reads it. */
const plain = (connection: object = {}) => JSON.parse(JSON.stringify(connection));

describe('install and uninstall', () => {
  it.each(shapes)('leaves the same bytes: %s, %s, %s', async (type, source, shape, shaped) => {
    const world = newWorld();
    const original = shaped(readFileSync(join(fixtures, source), 'utf8'));
    const file = await placed(type, basename(source), original, world);
    const before = await imported(type, file, world);
    for (const takeOver of [false, true]) {
      const plan = await install(type, file, { takeOver }, world);
      expect(plan.status).toBe('installed');
      const changed = readFileSync(file, 'utf8');
      expect(changed).not.toBe(original);
      expect((await planInstall(type, file, { takeOver }, world)).status).toBe('unchanged');
      const after = await imported(type, file, world);
      expect(after?.skipped.join()).toContain('it starts this gateway itself');
      const moved = (before?.entries ?? []).map(({ entry }) => entry).filter(({ name }) => plan.servers.includes(name));
      const stayed = (before?.entries ?? []).map(({ entry }) => entry).filter((entry) => !moved.includes(entry));
      expect(after?.entries.map(({ entry }) => entry)).toEqual(stayed);
      if (takeOver) expect(moved.length).toBeGreaterThan(0);
      if (moved.length > 0 && shape === 'as it is') {
        const { servers } = await new ConfigurationLoader(world).load();
        const here = new Map(servers.map((server) => [server.name, server]));
        for (const { name, connection } of moved) expect(here.get(name)?.connection).toMatchObject(plain(connection));
      }
      const removed = await uninstall(type, file, world);
      expect(removed.status).toBe('removed');
      expect(readFileSync(file, 'utf8')).toBe(original);
      const kept = readdirSync(dirname(file)).filter((name) => name.startsWith(basename(source)));
      expect(kept).toEqual([basename(source)]);
    }
    expect(existsSync(join(world.home, '.anygpt', 'mcp-discovery.config.json'))).toBe(false);
  });
});
