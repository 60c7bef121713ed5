// Does the least that a gateway can do: starts the given command and forwards lines both ways. Each line is parsed and
// written again, with its own request id on the server's side. No checks, timeouts, cancellation or log.
import { spawn } from 'node:child_process';

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const ids = new Map();
let next = 1;

const forward = (from, to, rewrite) => {
  let rest = '';
  from.setEncoding('utf8');
  from.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) to.write(`${JSON.stringify(rewrite(JSON.parse(line)))}\n`);
  });
  from.on('end', () => to.end());
};

forward(process.stdin, child.stdin, (message) => {
  if (message.id === undefined || message.method === undefined) return message;
  const id = next++;
  ids.set(id, message.id);
  return { ...message, id };
});
forward(child.stdout, process.stdout, (message) => {
  if (message.method !== undefined || !ids.has(message.id)) return message;
  const id = ids.get(message.id);
  ids.delete(message.id);
  return { ...message, id };
});
