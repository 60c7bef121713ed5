// Starts eight replicas one after the other, with ten servers behind them: how long until each has answered a search, and
// how often the servers were asked for their lists.
import { startServer } from '../parts/gateway-process.mjs';
import { META, MODERN, message } from '../parts/http-clients.mjs';
import { startRedis, startReplicas } from '../parts/replica-set.mjs';

export const title = 'The start of further replicas';

const SERVERS = 10;
const REPLICAS = 8;

const search = async (address) => {
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...MODERN,
      'mcp-name': 'search_tools',
    },
    body: message(1, 'tools/call', { name: 'search_tools', arguments: { query: 'note an id' }, _meta: META }),
  });
  return response.text();
};

export const measure = async () => {
  const servers = await Promise.all(Array.from({ length: SERVERS }, () => startServer('journal-http')));
  const lists = async () => {
    const counts = await Promise.all(
      servers.map(async ({ address }) => Number(await (await fetch(new URL('/lists', address))).text())),
    );
    return counts.reduce((sum, one) => sum + one, 0);
  };
  const redis = await startRedis();
  const config = {
    servers: servers.map(({ address }, at) => ({ name: `journal-${at}`, connection: { type: 'http', url: address } })),
  };
  const rows = [];
  const started = [];
  try {
    for (let number = 1; number <= REPLICAS; number += 1) {
      const began = performance.now();
      const one = await startReplicas({ count: 1, config, redis });
      started.push(one);
      const ready = performance.now();
      const text = await search(one.address);
      const found = (text.match(/\\"server\\"/g) ?? []).length;
      const answered = performance.now();
      rows.push([
        String(number),
        (ready - began).toFixed(0),
        (answered - ready).toFixed(0),
        String(found),
        String(await lists()),
      ]);
    }
    const extra = (await lists()) - SERVERS;
    return {
      lines: [{ what: 'lists asked for beyond one per server', value: extra, unit: '', budget: 0 }],
      tables: [
        {
          title: `${SERVERS} servers over HTTP`,
          head: ['replica', 'start ms', 'first search ms', 'hits', 'lists asked for so far'],
          rows,
        },
      ],
    };
  } finally {
    for (const one of started) await one.close();
    await redis.close();
    for (const server of servers) await server.close();
  }
};
