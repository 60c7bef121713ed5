import { describe, expect, it } from 'vitest';
import { entry, folder, sample } from '../../test/fixtures/engine.ts';
import { type EvilHttp, evilHttp } from '../../test/fixtures/evil.ts';
import { published, startRegistry } from '../../test/fixtures/mcp-registry-service.mjs';
import type { ServerConfig } from '../config/define-config.ts';
import type { ResolvedConfig } from '../config/resolved-config.ts';
import { DiscoveryEngine } from '../engine/discovery-engine.ts';
import { readEntry } from '../mcp-registry/read-page.ts';
import type { RegistryEntry } from '../mcp-registry/registry-server.ts';
import { entryFor } from './registry-servers.ts';

const TOOLS = { tools: [{ name: 'water_plants', description: 'Waters plants', inputSchema: { type: 'object' } }] };
const server = (name: string, more: object) => ({
  name,
  description: `Waters plants: ${name}`,
  version: '1.0.0',
  ...more,
});
const remote = (name: string, url: string, more: object = {}) =>
  published(server(name, { remotes: [{ type: 'streamable-http', url, ...more }] }));
const npm = published(
  server('org.example/local-plants', {
    packages: [{ registryType: 'npm', identifier: 'plants', version: '1.0.0', transport: { type: 'stdio' } }],
  }),
);
const address = ({ origin }: EvilHttp) => `${origin}/mcp`;

describe('a discovery from a registry', () => {
  it('lists the tools of servers that can be reached, and says what is in the way of the others', async () => {
    await using garden = await evilHttp(TOOLS);
    const entries = [
      remote('org.example/garden', address(garden)),
      remote('org.example/gone', 'http://127.0.0.1:9/mcp'),
      remote('org.example/keyed', address(garden), {
        headers: [{ name: 'Authorization', isRequired: true, isSecret: true }],
      }),
      npm,
    ];
    await using registry = await startRegistry({ entries });
    const env = { PATH: process.env.PATH, MCP_AUTH_TOKEN: 'must-not-leave-this-machine' };
    await using engine = new DiscoveryEngine({ servers: [], registries: [{ url: registry.url }] }, { env });
    const service = engine.service();
    const found = await service.discoverFromRegistry('plants', { registerInMarketplace: true });
    const byName = Object.fromEntries(found.map(({ server: name, tools, error }) => [name, error ?? tools.length]));
    expect(byName).toMatchObject({
      garden: 1,
      gone: { code: 'SERVER_CONNECTION_ERROR', stage: 'connection' },
      'org.example/keyed': { code: 'CONFIGURATION_ERROR', stage: 'authentication' },
      'org.example/local-plants': {
        stage: 'connection',
        message: expect.stringContaining('A person adds it: anygpt mcp add org.example/local-plants'),
      },
    });
    expect(JSON.stringify(garden.journal())).not.toContain('must-not-leave');
    expect(await engine.executeTool('garden', 'water_plants', {})).toMatchObject({ success: true });
    await expect(service.discoverFromRegistry('plants', { authHeaders: { a: 'b' } })).rejects.toThrow('authHeaders');
  });

  it('names a server in full where its short name is taken', async () => {
    await using garden = await evilHttp(TOOLS);
    const entries = [remote('org.one/garden', address(garden)), remote('org.two/garden', address(garden))];
    await using registry = await startRegistry({ entries });
    await using engine = new DiscoveryEngine({ servers: [], registries: [{ url: registry.url }] });
    const found = await engine.service().discoverFromRegistry('plants');
    expect(found.map(({ server: name }) => name).toSorted()).toEqual([
      'garden',
      expect.stringMatching(/^org\.\w+-garden$/),
    ]);
  });

  it('obeys a rule that denies a server by its name in the registry', async () => {
    await using garden = await evilHttp(TOOLS);
    await using registry = await startRegistry({ entries: [remote('org.example/garden', address(garden))] });
    const toolRules = [{ pattern: ['*'], server: 'org.example/garden', enabled: false }];
    await using engine = new DiscoveryEngine({ servers: [], registries: [{ url: registry.url }], toolRules });
    expect(await engine.service().discoverFromRegistry('plants')).toEqual([{ server: 'garden', tools: [] }]);
  });
});

describe('a search of the registries', () => {
  it('keeps answers for an hour, in memory or on disk, and asks again without the cache', async () => {
    await using registry = await startRegistry({ entries: [npm] });
    using home = folder();
    for (const state of ['memory', home.path]) {
      await using engine = new DiscoveryEngine({ servers: [], registries: [{ url: registry.url }], state });
      const service = engine.service();
      const before = registry.journal.length;
      const [found] = await service.searchRegistryForCapability('plants');
      expect(found).toMatchObject({ server: 'org.example/local-plants', source: 'registry' });
      await service.searchRegistryForCapability('plants', true);
      expect(registry.journal.length).toBe(before + 1);
      await service.searchRegistryForCapability('plants', false);
      expect(registry.journal.length).toBe(before + 2);
    }
    expect(home.contents()).toContain('local-plants');
  });

  it('is made only if nothing local fits', async () => {
    await using registry = await startRegistry({ entries: [npm] });
    const units = entry('units', sample('units')) as ServerConfig;
    await using engine = new DiscoveryEngine({ servers: [units], registries: [{ url: registry.url }] });
    const service = engine.service();
    await engine.ready();
    expect((await service.findServersForCapability('convert a length'))[0]).toMatchObject({
      server: 'units',
      source: 'local',
      tools: expect.arrayContaining(['convert_length']),
    });
    expect(registry.journal).toHaveLength(0);
    expect(await service.findServersForCapability('watering plants')).toMatchObject([
      { server: 'org.example/local-plants', source: 'registry' },
    ]);
  });
});

describe('an entry of a registry', () => {
  const made = (url: string, registry: string, more: object = {}) =>
    entryFor(
      readEntry(remote('org.example/garden', url, more)) as RegistryEntry,
      { registries: [{ url: registry }] } as unknown as ResolvedConfig,
      () => false,
    );

  it('is used with its pinned name', () => {
    expect(made('https://garden.example.org/mcp', 'https://registry.example.org')).toEqual({
      name: 'garden',
      connection: { type: 'http', url: 'https://garden.example.org/mcp' },
      registry: 'org.example/garden@1.0.0',
    });
  });

  it.each([
    'http://garden.example.org/mcp',
    'https://127.0.0.1/mcp',
    'https://0x7f.1/mcp',
    'https://[::1]/mcp',
    'https://169.254.169.254/latest',
    'https://localhost/mcp',
    'https://router.lan/mcp',
    'https://metadata.google.internal/mcp',
  ])('does not lead to %s', (url) => {
    expect(() => made(url, 'https://registry.example.org')).toThrow(/public https/);
  });

  it('does not get a variable of this machine', () => {
    const headers = [
      {
        name: 'X-Key',
        value: '{AWS_SECRET_ACCESS_KEY}',
        variables: { AWS_SECRET_ACCESS_KEY: { isSecret: true, isRequired: true } },
      },
    ];
    expect(() => made('https://garden.example.org/mcp', 'https://registry.example.org', { headers })).toThrow(
      /wants answers: AWS_SECRET_ACCESS_KEY/,
    );
  });
});
