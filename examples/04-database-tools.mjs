/**
 * Reads tools from a database, one row each with the SQL that it runs. Uses SQLite in this process: Node's own from
 * version 22.13, before that `npm install sql.js`. With DATABASE_URL set, uses PostgreSQL in temporary tables:
 * `npm install pg`.
 * @module
 */
import assert from 'node:assert/strict';
import { ToolNotFoundError, ToolRegistry } from '@anygpt/discovery/registry';

/** Imports a package that only this example needs. */
const load = (name) =>
  import(name).catch((cause) => {
    throw new Error(`This example needs a package: npm install ${name}`, { cause });
  });

const openNodeSqlite = ({ DatabaseSync }) => {
  const db = new DatabaseSync(':memory:');
  const query = async (sql, values = []) =>
    db
      .prepare(sql)
      .all(Object.fromEntries(values.map((value, n) => [`$${n + 1}`, value])))
      .map((row) => ({ ...row }));
  return { query, close: () => db.close() };
};
const openSqlJs = async () => {
  const { default: initSqlJs } = await load('sql.js');
  const db = new (await initSqlJs()).Database();
  const query = async (sql, values = []) => {
    const statement = db.prepare(sql, Object.fromEntries(values.map((value, n) => [`$${n + 1}`, value])));
    const rows = [];
    while (statement.step()) rows.push(statement.getAsObject());
    statement.free();
    return rows;
  };
  return { query, close: () => db.close() };
};
const openPostgres = async (url) => {
  const client = new (await load('pg')).default.Client(url);
  await client.connect();
  return { query: async (sql, values = []) => (await client.query(sql, values)).rows, close: () => client.end() };
};
const url = process.env.DATABASE_URL;
const sqlite = () => import('node:sqlite').then(openNodeSqlite, openSqlJs);
const { query, close } = await (url ? openPostgres(url) : sqlite());

/** A ToolProvider: three methods, each one question to the database. */
const provider = {
  name: 'database',
  async listToolMetadata() {
    const rows = await query('SELECT name, description, keywords FROM tools');
    return rows.map(({ keywords, ...tool }) => ({ ...tool, keywords: keywords.split(' ') }));
  },
  async getTool(name) {
    const [row] = await query('SELECT description, parameters FROM tools WHERE name = $1', [name]);
    return row && { name, description: row.description, inputSchema: JSON.parse(row.parameters) };
  },
  async callTool(name, args) {
    const [row] = await query('SELECT parameters, statement FROM tools WHERE name = $1', [name]);
    if (!row) throw new ToolNotFoundError(name);
    // Values are bound, never written into the SQL. That they fit the parameters was checked before.
    const values = Object.keys(JSON.parse(row.parameters).properties).map((key) => args[key] ?? null);
    const rows = await query(row.statement, values);
    return { content: [{ type: 'text', text: JSON.stringify(rows) }], structuredContent: { rows } };
  },
};

const addTool = (name, description, keywords, properties, statement) => {
  const parameters = JSON.stringify({ type: 'object', properties, required: Object.keys(properties) });
  return query('INSERT INTO tools VALUES ($1, $2, $3, $4, $5)', [name, description, keywords, parameters, statement]);
};
const [customer, amount] = [{ type: 'string' }, { type: 'integer' }];
try {
  await query('CREATE TEMP TABLE tools (name TEXT, description TEXT, keywords TEXT, parameters TEXT, statement TEXT)');
  await query('CREATE TEMP TABLE invoices (customer TEXT, amount INTEGER NOT NULL)');
  const select = 'SELECT amount FROM invoices WHERE customer = $1 ORDER BY amount';
  await addTool('invoices_of', 'List what a customer owes', 'bill debt', { customer }, select);

  const registry = new ToolRegistry();
  registry.addProvider(provider);
  console.log(`found   ${(await registry.search('bills of a customer')).results[0].name}`);

  // One tool more. A list is kept for five minutes, unless somebody says that it has changed.
  const insert = 'INSERT INTO invoices VALUES ($1, $2)';
  await addTool('write_invoice', 'Bill a customer', 'charge', { customer, amount }, insert);
  registry.invalidate(provider);
  assert.equal((await registry.search('charge')).results[0].name, 'write_invoice');

  const injection = "Ada'; DROP TABLE invoices; --";
  for (const name of ['Ada', injection]) await registry.callTool('write_invoice', { customer: name, amount: 40 });
  const refused = await registry.callTool('write_invoice', { customer: 'Ada' });
  assert.match(refused.content[0].text, /amount/, 'checked against the parameters of the row');
  assert.equal(refused.isError, true);
  const { structuredContent: owed } = await registry.callTool('invoices_of', { customer: 'Ada' });
  assert.deepEqual(owed, { rows: [{ amount: 40 }] });
  console.log(`called  ${JSON.stringify(owed)}`);
} finally {
  await close();
}
