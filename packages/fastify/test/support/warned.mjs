// Serves an app as the first argument says, and tells the codes of the warnings that came of it. In a process of its own,
// because each warning is given once in a process.
import { MemoryStore } from '@rollgate/core';
import rateLimit from '@rollgate/fastify';

const scenario = JSON.parse(process.argv[2]);
const { module, proxies, byKey, isShared, isLate, isTwice, isPerRequest, routes = 1, options } = scenario;
const { default: fastify } = await import(module);
const codes = [];
process.on('warning', ({ name, code }) => {
  if (name === 'RollgateWarning') codes.push(code);
});

const trustProxy = proxies === undefined ? scenario.trustProxy : (address) => proxies.includes(address);
const app = fastify({ ...(trustProxy === undefined ? {} : { trustProxy }), forceCloseConnections: true });
const key = byKey ? () => 'all' : undefined;
const store = isShared ? new MemoryStore() : undefined;
const given = { limit: 1000, window: '1m', key, store, ...options };
const registered = app.register(rateLimit, given);
if (!isLate) await registered;
if (isTwice) await app.register(rateLimit, given);
for (let route = 0; route < routes; route++) app.get(`/${route}`, { config: { rateLimit: {} } }, async () => 'hello');
app.get('/made', async (request, reply) => {
  await new Promise((resolve) => app.rateLimit()(request, reply, resolve));
  return 'hello';
});
const address = await app.listen({ port: 0, host: '127.0.0.1' });
const statuses = new Set();
for (let turn = 0; turn < (isPerRequest ? 120 : routes); turn++) {
  const path = isPerRequest ? '/made' : `/${turn}`;
  statuses.add((await fetch(address + path, { headers: { 'x-forwarded-for': '198.51.100.7' } })).status);
}
await app.close();
console.log(JSON.stringify({ codes, statuses: [...statuses] }));
