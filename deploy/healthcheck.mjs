// Exits with 0 while the gateway of this container is alive: over HTTP, it is asked; on stdio, its process is there.
//
//   node healthcheck.mjs /proc
import { readdirSync, readFileSync } from 'node:fs';
import { request as http } from 'node:http';
import { request as https } from 'node:https';

const [folder = '/proc'] = process.argv.slice(2);
const wordsOf = (pid) => {
  try {
    return readFileSync(`${folder}/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
};
const isGateway = (words) => words.includes('serve') && words.some((word) => /(?:^|\/)(?:anygpt|discovery)/.test(word));
const words = readdirSync(folder)
  .filter((name) => /^\d+$/.test(name))
  .map(wordsOf)
  .find(isGateway);
const valueFor = (option) => {
  const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`));
  return at === -1 ? undefined : (words[at].split('=')[1] ?? words[at + 1]);
};

if (!words) process.exitCode = 1;
else if (valueFor('--http') !== undefined) {
  const port = [valueFor('--port'), valueFor('--http'), '8080'].find((one) => /^\d+$/.test(one ?? ''));
  const isSecure = valueFor('--tls-cert') !== undefined;
  // Whom the certificate is for does not matter on loopback.
  const options = { host: '127.0.0.1', port, path: '/healthz', timeout: 2_000, rejectUnauthorized: false };
  (isSecure ? https : http)(options, (answer) => {
    process.exitCode = answer.statusCode === 200 ? 0 : 1;
    answer.resume();
  })
    .on('timeout', () => process.exit(1))
    .on('error', () => process.exit(1))
    .end();
}
