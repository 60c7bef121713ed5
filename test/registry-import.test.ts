/** What `@anygpt/discovery/registry` loads, asked of a process that does nothing else. Runs against the build. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ENTRY = new URL('../dist/registry.js', import.meta.url).href;

/** Every module file that is loaded, by a hook that watches the loader. */
const PROGRAM = `
import { register } from 'node:module';
import { MessageChannel } from 'node:worker_threads';
const { port1, port2 } = new MessageChannel();
const urls = [];
port1.on('message', (url) => urls.push(url));
port1.unref();
register('data:text/javascript,' + encodeURIComponent(
  'let port; export const initialize = (data) => { port = data.port; };' +
  'export const load = (url, context, next) => { port.postMessage(url); return next(url, context); };'
), { data: { port: port2 }, transferList: [port2] });
const registry = await import(${JSON.stringify(ENTRY)});
new registry.ToolRegistry();
await new Promise((resolve) => setTimeout(resolve, 50));
process.stdout.write(JSON.stringify({ urls, exports: Object.keys(registry) }));
`;

describe('importing the registry alone', () => {
  const { urls, exports } = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      encoding: 'utf8',
    }),
  ) as { urls: string[]; exports: string[] };

  it('loads neither transports nor the MCP SDK', () => {
    expect(urls.some((url) => url.endsWith('/registry/tool-registry.js'))).toBe(true);
    const unwanted = urls.filter((url) =>
      /@modelcontextprotocol|\/zod\/|\/dist\/(connections|cli|discovery-engine|engine-|gateway\/serve)|^node:(https?|net|tls|child_process)$/.test(
        url,
      ),
    );
    expect(unwanted).toEqual([]);
  });

  it('gives the names of the library', () => {
    expect(exports).toEqual(expect.arrayContaining(['ToolRegistry', 'ToolNotFoundError', 'withRequestProviders']));
  });
});
