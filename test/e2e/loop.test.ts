/**
 * A gateway that was configured as one of its own servers: the first call through it is refused, and nothing multiplies.
 * @module
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { connect, errorOf, serveArgs, textOf } from './gateway.ts';
import { BIN, Sandbox, SECRET } from './sandbox.ts';
import { everything } from './servers.ts';

const gateway = (name: string, config: string) => ({
  name,
  connection: {
    type: 'stdio',
    command: process.execPath,
    args: [BIN, 'mcp', 'serve', '--config', config],
    inheritEnv: ['ANYGPT_HOME', SECRET],
  },
});

it('refuses a call that comes back to itself, and serves its other servers as ever', async () => {
  await using sandbox = new Sandbox();
  const own = join(sandbox.folder, 'config.json');
  const config = sandbox.write({ servers: [gateway('self', own), everything()] });
  expect(config).toBe(own);
  const agent = await connect('v2 legacy stdio', sandbox, serveArgs(config), {});
  const refused = await agent.execute('self', 'search_tools', { query: 'echo' });
  expect(errorOf(refused)).toMatchObject({ code: 'CONFIGURATION_ERROR', message: expect.stringContaining('its own') });
  expect(textOf(await agent.execute('everything', 'echo', { message: 'hello' }))).toContain('hello');
});

it('passes calls on to a gateway that is another one', async () => {
  await using sandbox = new Sandbox();
  const behind = sandbox.write({ servers: [everything()] }, 'behind.json');
  const agent = await connect(
    'v2 legacy stdio',
    sandbox,
    serveArgs(sandbox.write({ servers: [gateway('other', behind)] })),
    {},
  );
  const nested = { server: 'everything', tool: 'echo', arguments: { message: 'far away' } };
  expect(textOf(await agent.execute('other', 'execute_tool', nested))).toContain('far away');
});
