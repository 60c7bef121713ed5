import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { documentOf, type Ran } from '../../../test/fixtures/cli.ts';
import { fakeIo } from '../../../test/fixtures/gateway/fake-io.ts';
import { tempFolder } from '../../../test/fixtures/gateway/kit.ts';
import { startTestServer, type TestServer } from '../../testing/index.ts';
import { main } from '../main.ts';

let github: TestServer;
let jira: TestServer;
let folder: ReturnType<typeof tempFolder>;
let config: Record<string, unknown>;

const described = (description: string) => ({ description, call: () => 'ok' });

beforeAll(async () => {
  github = await startTestServer({
    tools: {
      create_issue: described('Create an issue in a repository.'),
      list_forks: described('List the forks of a repository.'),
      delete_repo: described('Delete a repository.'),
      get_user: described('Show one account.'),
    },
  });
  jira = await startTestServer({ tools: { get_user: described('Show one person.') } });
});
afterAll(() => Promise.all([github.close(), jira.close()]));
beforeEach(() => {
  folder = tempFolder();
  config = {
    servers: [
      { name: 'github', connection: github.connection },
      { name: 'jira', connection: jira.connection },
    ],
    toolRules: [{ pattern: ['delete_*'], enabled: false }],
  };
});
afterEach(() => folder[Symbol.dispose]());

async function run(queries: string | undefined, argv: string[] = [], { tty = false, input = '' } = {}): Promise<Ran> {
  const path = join(folder.path, 'config.json');
  writeFileSync(path, JSON.stringify(config));
  if (queries !== undefined) writeFileSync(join(folder.path, 'queries'), queries);
  const io = fakeIo({
    cwd: folder.path,
    env: { ANYGPT_HOME: join(folder.path, 'home'), ANYGPT_CONFIG: path, HOME: folder.path },
  });
  if (tty) for (const stream of [io.stdout, io.stderr]) Object.assign(stream, { isTTY: true, columns: 60 });
  if (input !== '') Object.assign(io, { stdin: Readable.from([input]) });
  const file = argv.includes('--queries') || queries === undefined ? [] : ['--queries', 'queries'];
  const code = await main(['mcp', 'eval', ...file, ...argv], io);
  return { code, out: io.out(), err: io.err() };
}
const lines = (...queries: object[]): string => queries.map((query) => JSON.stringify(query)).join('\n');

const MIXED = lines(
  { query: 'create an issue', server: 'github', tool: 'create_issue' },
  { query: 'delete the repository', tool: 'github:delete_repo' },
  { id: 'gone', query: 'list my forks', server: 'github', tool: 'list_fork' },
  { query: 'list my forks', tool: 'nowhere' },
);

describe('eval', () => {
  it('measures search on the tools that are there', async () => {
    const { code, out, err } = await run(lines({ query: 'create an issue', server: 'github', tool: 'create_issue' }));
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('1 query over 5 tools of 2 servers');
    expect(out).toMatch(/nDCG@10 +100\.0 {2}100\.0 to 100\.0\n/);
    expect(out).toMatch(/in the answer +100\.0/);
    expect(out).toMatch(/Tokens of an answer: about \d+ at the median, \d+ at the 95th percentile\./);
    expect(out).toMatch(/Time of a search: [\d.]+ ms at the median/);
    expect(out).toContain('Every needed tool came first.');
  });

  it('lists what was missed and why', async () => {
    const { code, out } = await run(MIXED);
    expect(code).toBe(0);
    expect(out).toContain('Needed tools that were not first: 2 not in the catalogue, 1 disabled.');
    expect(out).toMatch(
      /needed github:list_fork: no server lists it; did you mean github:list_forks\?\n +found instead: github:list_forks/,
    );
    expect(out).toContain('needed nowhere: no server lists it\n');
    expect(out).toContain('needed github:delete_repo: the rules disable it\n');
  });

  it('with --json prints everything as one document', async () => {
    const { code, out, err } = await run(MIXED, ['--json']);
    expect([code, err]).toEqual([0, '']);
    const document = await documentOf('eval', out);
    expect(document).toMatchObject({
      queries: 4,
      tools: 5,
      servers: 2,
      figures: { recall10: { value: 0.25 }, hit1: { value: 0.25 } },
      missed: { 'not-in-catalogue': 2, disabled: 1 },
    });
    expect(document.misses).toHaveLength(3);
    expect(document.misses[0]).toMatchObject({ id: 'gone', wanted: [{ server: 'github', tool: 'list_fork' }] });
  });

  it('lists as many misses as asked for', async () => {
    expect((await run(MIXED, ['--misses', '1'])).out).toContain('+2 more (--misses N shows them)');
    expect((await run(MIXED, ['--misses', '0'])).out).not.toContain('needed ');
    const { out } = await run(MIXED, ['--misses', '1', '--json']);
    expect((await documentOf('eval', out)).misses).toHaveLength(1);
  });

  it('takes any server for a name without one', async () => {
    const { out } = await run('query,tool\nshow a person,get_user\n', ['--json']);
    expect(await documentOf('eval', out)).toMatchObject({ figures: { recall10: { value: 1 } } });
  });

  it('says where a needed tool came that was not first, and what an answer leaves out', async () => {
    const query = { query: 'create_issue repository', server: 'github', tool: 'list_forks' };
    const late = await documentOf('eval', (await run(lines(query), ['--json', '--limit', '5'])).out);
    expect(late.misses).toMatchObject([{ reason: 'late', rank: 2, instead: [{ tool: 'create_issue' }] }]);
    const cut = await run(lines(query), ['--limit', '1']);
    expect(cut.out).toContain('needed github:list_forks: number 2, beyond the end of the answer');
  });

  it('reads queries from stdin', async () => {
    const { code, out } = await run(undefined, ['--queries', '-', '--json'], {
      input: lines({ query: 'create an issue', server: 'github', tool: 'create_issue' }),
    });
    expect(code).toBe(0);
    await documentOf('eval', out);
  });

  it('names servers that could not be searched', async () => {
    config = {
      servers: [
        { name: 'github', connection: github.connection },
        { name: 'away', connection: { type: 'http', url: 'http://127.0.0.1:9/mcp' } },
      ],
    };
    const { code, err } = await run(lines({ query: 'create an issue', tool: 'create_issue' }));
    expect(code).toBe(0);
    expect(err).toContain('The tools of away are not known and were not searched.');
  });

  it('fits a terminal and obeys no escape sequence', async () => {
    const query = `a query ${'that is rather long '.repeat(6)}\u001b]0;owned\u0007`;
    const { out } = await run(lines({ query, server: 'github', tool: '\u001b[31mred' }), [], { tty: true });
    const plain = out.replace(/\u001b\[\d+m/g, '');
    expect(plain).not.toContain('\u001b');
    expect(plain).not.toContain('owned');
    const indented = plain.split('\n').slice(plain.split('\n').findIndex((line) => line.startsWith('Needed')));
    expect(indented.filter((line) => line.length > 60)).toEqual([]);
  });

  it.each([
    [[], '--queries FILE is missing'],
    [['--queries', 'no-such-file'], '--queries cannot read'],
    [['--queries', 'queries', '--limit', '0'], '--limit takes a number from 1 to 100'],
    [['--queries', 'queries', '--misses', 'x'], '--misses takes a number from 0 up'],
    [['--queries', 'queries', 'more'], 'unexpected argument "more"'],
  ])('is 1 for %j', async (argv, message) => {
    writeFileSync(join(folder.path, 'queries'), MIXED);
    expect(await run(undefined, argv)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(message) });
  });

  it('is 1 for queries it cannot understand, with the line', async () => {
    expect(await run('{"query":"a"}')).toMatchObject({
      code: 1,
      err: expect.stringContaining('line 1: no tool is given'),
    });
    const { code, out } = await run('{"query":"a"}', ['--json']);
    expect(code).toBe(1);
    await documentOf('failure', out);
  });

  it('is 2 where there is nothing to search', async () => {
    config = { servers: [] };
    const { code, out } = await run(MIXED, ['--json']);
    expect(code).toBe(2);
    expect(await documentOf('failure', out)).toMatchObject({ error: { code: 'TOOL_NOT_FOUND' } });
  });
});
