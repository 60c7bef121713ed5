import { expect, it } from 'vitest';
import { literalSecrets } from './literal-secrets.ts';

const GITHUB = `ghp_${'a1B2'.repeat(9)}`;
const marked = (text: string, name = '', given = false): string => {
  let [out, at] = ['', 0];
  for (const [from, to] of literalSecrets(text, name, given)) {
    out += `${text.slice(at, from)}<${text.slice(from, to)}>`;
    at = to;
  }
  return out + text.slice(at);
};

it.each([
  [`--token=${GITHUB}`, '', `--token=<${GITHUB}>`],
  [GITHUB, '', `<${GITHUB}>`],
  ['--password=abc', '', '--password=<abc>'],
  ['abc=def', 'token', '<abc=def>'],
  ['hunter', 'password', '<hunter>'],
  [
    'https://me:pw@x.example/mcp?api_key=k1&mode=plain&token=abc',
    '',
    'https://me:<pw>@x.example/mcp?api_key=<k1>&mode=plain&token=<abc>',
  ],
  ['https://k3yk3yk3y@x.example', '', 'https://<k3yk3yk3y>@x.example'],
  [
    'postgres://app:s3cr3t@db/x?sslpassword=t0psecret',
    'DATABASE_URL',
    'postgres://app:<s3cr3t>@db/x?sslpassword=<t0psecret>',
  ],
  [`--header=Authorization: Bearer ${GITHUB}`, '', `--header=Authorization: Bearer <${GITHUB}>`],
  ['--dsn=Server=db;Password=s3cr3t-9', '', '--dsn=Server=<db;Password=s3cr3t-9>'],
  ['npx foo --password hunter --db-token="abc" x', '', 'npx foo --password <hunter> --db-token="<abc>" x'],
  ['curl -u me:hunter2 https://x.example', '', 'curl -u me:<hunter2> https://x.example'],
  ['sh -c "mysql -phunter2 db"', '', 'sh -c "mysql -p<hunter2> db"'],
  ['node x.js --header "X-Api-Key: k1k2"', '', 'node x.js --header "X-Api-Key: <k1k2>"'],
  ['{"auth": {"pass": "hunter2"}}', '', '{"auth": {"pass": "<hunter2>"}}'],
  ['cd /srv; DB_PASSWORD=abc node server.js', '', 'cd /srv; DB_PASSWORD=<abc> node server.js'],
  ['Zm9vYmFyQmF6UXV4MTIzNDU2Nzg5MA==', '', '<Zm9vYmFyQmF6UXV4MTIzNDU2Nzg5MA==>'],
])('finds all that is secret in %j (%s)', (text, name, expected) => {
  expect(marked(text, name)).toBe(expected);
});

it.each([
  ['--token=${TOKEN}', ''],
  ['${FIRST}:${SECOND}', 'credentials'],
  ['Bearer ${TOKEN}', 'Authorization'],
  ['https://me:${PASSWORD}@x.example/?token=${TOKEN}', ''],
  ['--auth=none', ''],
  ['/home/me/key.pem', 'private-key'],
  ['--mode=plain', ''],
  ['@modelcontextprotocol/server-filesystem@2025.8.21', ''],
  ['https://mcp.linear.app/mcp', ''],
  ['info', 'LOG_LEVEL'],
  ["eval(atob('Y3VybCBldmlsfHNoMTIz'))", 'e'],
  ['setInterval(()=>{},1e3)', 'e'],
  ['npx foo --max-tokens 4096 --auth none --token-file /run/token', ''],
])('leaves %j (%s) as it is', (text, name) => {
  expect(marked(text, name, name === 'Authorization')).toBe(text);
});
