import { describe, expect, it } from 'vitest';
import { ToolNotFoundError, type ToolProvider, ToolRegistry, withRequestProviders } from '../../registry.ts';

const pause = (turns: number): Promise<void> =>
  turns === 0 ? Promise.resolve() : new Promise<void>((resolve) => setImmediate(resolve)).then(() => pause(turns - 1));

/** One own tool and one with the name of a shared tool; all texts name the user, and every answer takes a few turns. */
const toolsOf = (user: number): ToolProvider => ({
  async listToolMetadata() {
    await pause(user % 3);
    return [
      { name: `secret_of_${user}`, description: `Opens the vault of user${user}`, keywords: [`key${user}`] },
      { name: 'whoami', description: `Says that you are user${user}` },
    ];
  },
  async getTool(name) {
    await pause((user + 1) % 3);
    return { name, inputSchema: { type: 'object', properties: { [`field_of_${user}`]: { type: 'string' } } } };
  },
  async callTool(name) {
    await pause(user % 4);
    if (name !== 'whoami' && name !== `secret_of_${user}`) throw new ToolNotFoundError(name);
    await pause((user + 2) % 4);
    return { content: [{ type: 'text', text: `user${user}` }] };
  },
});

describe('request-scoped providers', () => {
  it('never cross over in 1,000 concurrent requests', async () => {
    // A machine under load must not make this about time.
    const registry = new ToolRegistry({ providers: { waitMs: 60_000 } });
    registry.registerTool({ name: 'vault_help', description: 'Explains the vault to everybody' }, () => 'help');
    const serve = async (user: number) => {
      const seen: string[] = [];
      await pause(user % 5);
      const found = await registry.search('open the vault', { maxResults: 100 });
      seen.push(...found.results.map(({ name }) => name), JSON.stringify(found));
      await pause(user % 2);
      const [mine] = (await registry.search(`key${user}`)).results;
      const other = (await registry.search(`secret_of_${(user + 1) % 1000}`)).results;
      const said = await registry.callTool('whoami');
      await pause(1);
      const opened = await registry.callTool(`secret_of_${user}`);
      const foreign = await registry.callTool(`secret_of_${(user + 1) % 1000}`).catch((error) => error);
      const names = (await registry.listToolMetadata()).map(({ name }) => name);
      return { seen, mine, other, said, opened, foreign, names };
    };
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, user) => withRequestProviders(toolsOf(user), () => serve(user))),
    );
    for (const [user, { seen, mine, other, said, opened, foreign, names }] of answers.entries()) {
      const text = { content: [{ type: 'text', text: `user${user}` }] };
      expect(said).toEqual(text);
      expect(opened).toEqual(text);
      expect(foreign).toBeInstanceOf(ToolNotFoundError);
      expect(mine).toMatchObject({
        name: `secret_of_${user}`,
        input_schema: { properties: { [`field_of_${user}`]: { type: 'string' } } },
      });
      expect(other.map(({ name }) => name)).not.toContain(`secret_of_${(user + 1) % 1000}`);
      expect(names).toEqual([`secret_of_${user}`, 'vault_help', 'whoami']);
      expect(seen).toContain('vault_help');
      // Whatever a request was shown names no other user.
      const users = [...JSON.stringify(seen).matchAll(/(?:user|secret_of_|field_of_|key)(\d+)/g)].map(
        ([, number]) => number,
      );
      expect(new Set(users)).toEqual(new Set([String(user)]));
    }
    expect((await registry.search('vault')).results.map(({ name }) => name)).toEqual(['vault_help']);
    await expect(registry.callTool('whoami')).rejects.toBeInstanceOf(ToolNotFoundError);
  });

  it('add up where scopes are nested, and end with them', async () => {
    const registry = new ToolRegistry();
    const names = async () => (await registry.listToolMetadata()).map(({ name }) => name);
    await withRequestProviders(toolsOf(1), async () => {
      await withRequestProviders([toolsOf(2)], async () => {
        expect(await names()).toEqual(['secret_of_1', 'secret_of_2', 'whoami']);
      });
      expect(await names()).toEqual(['secret_of_1', 'whoami']);
    });
    expect(await names()).toEqual([]);
  });

  it('never replace registered or shared tools', async () => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'whoami', description: 'Says who you are' }, () => 'the registry');
    registry.addProvider({ ...toolsOf(7), name: 'shared' });
    await withRequestProviders({ ...toolsOf(7), callTool: () => ({ content: [] }) }, async () => {
      expect(await registry.callTool('whoami')).toEqual({ content: [{ type: 'text', text: 'the registry' }] });
      expect(await registry.callTool('secret_of_7')).toEqual({ content: [{ type: 'text', text: 'user7' }] });
      const { results } = await registry.search('whoami');
      expect(results).toMatchObject([{ name: 'whoami', description: 'Says who you are' }]);
      expect(results).toHaveLength(1);
    });
  });

  it('never replace a tool of a shared provider that could not list its tools', async () => {
    const registry = new ToolRegistry();
    const said = (text: string) => ({ content: [{ type: 'text', text }] });
    const pay = { name: 'pay', inputSchema: { type: 'object' } };
    let isDown = false;
    registry.addProvider({
      listToolMetadata: () => Promise.reject(new Error('down')),
      getTool: (name) => (isDown ? Promise.reject(new Error('down')) : name === 'pay' ? pay : undefined),
      callTool: (name) => said(`${name} of everybody`),
    });
    const ofRequest: ToolProvider = {
      listToolMetadata: () => [{ name: 'pay' }, { name: 'mine' }],
      getTool: () => undefined,
      callTool: (name) => said(`${name} of the request`),
    };
    await withRequestProviders(ofRequest, async () => {
      await registry.search('pay');
      expect(await registry.callTool('pay')).toEqual(said('pay of everybody'));
      // A tool that only the request has does not depend on other providers.
      expect(await registry.callTool('mine')).toEqual(said('mine of the request'));
      isDown = true;
      registry.invalidate();
      await registry.search('pay');
      expect(await registry.callTool('mine')).toEqual(said('mine of the request'));
    });
  });

  it('do not get into the lists of shared providers', async () => {
    const inner = new ToolRegistry();
    inner.registerTool({ name: 'inner_tool', description: 'Of the inner registry' }, () => 'inner');
    const outer = new ToolRegistry();
    outer.addProvider({
      listToolMetadata: () => inner.listToolMetadata(),
      getTool: (name) => inner.getTool(name),
      callTool: (name, args, context) => inner.callTool(name, args, context),
    });
    // The first request makes the shared list; it must not leave its own tools in it.
    await withRequestProviders(toolsOf(3), () => outer.search('vault'));
    expect((await outer.listToolMetadata()).map(({ name }) => name)).toEqual(['inner_tool']);
  });

  it('may be the registry itself, which changes nothing', async () => {
    const registry = new ToolRegistry();
    registry.registerTool({ name: 'only', description: 'The only one' }, () => 'yes');
    const names = await withRequestProviders([registry, registry], () => registry.listToolMetadata());
    expect(names.map(({ name }) => name)).toEqual(['only']);
  });

  it('are indexed once for each provider object, whatever the number of requests', async () => {
    let lists = 0;
    const provider: ToolProvider = {
      ...toolsOf(5),
      listToolMetadata: () => {
        lists++;
        return [{ name: 'five', description: 'Fifth' }];
      },
    };
    const registry = new ToolRegistry();
    for (let request = 0; request < 5; request++) {
      const { results } = await withRequestProviders(provider, () => registry.search('five'));
      expect(results).toHaveLength(1);
    }
    expect(lists).toBe(1);
  });
});
