// Serves an app of each Fastify for each scenario of the first argument, one after the other, and prints the codes of the
// warnings. In its own process, because it reads the warnings of the process. A copy of Rollgate warns only once, so the
// scenario after a warning loads it again.
import { createRequire } from 'node:module';
import { setImmediate as flushPromises } from 'node:timers/promises';

const { modules, scenarios } = JSON.parse(process.argv[2]);
const require = createRequire(import.meta.url);
const OURS = /packages[/\\](core|http|fastify)[/\\]dist/;

let codes = [];
process.on('warning', ({ name, code }) => {
  if (name === 'RollgateWarning') codes.push(code);
});

/** Returns the packages, as a copy that has not warned yet. */
function load() {
  if (codes.length > 0) for (const path of Object.keys(require.cache)) if (OURS.test(path)) delete require.cache[path];
  codes = [];
  return { MemoryStore: require('@rollgate/core').MemoryStore, rateLimit: require('@rollgate/fastify').default };
}

async function serve(
  fastify,
  { proxies, hasOwnAddress, hasKey, isShared, isLate, isTwice, isPerRequest, routes = 1, options, ...scenario },
) {
  const { headers = { 'x-forwarded-for': '198.51.100.7' } } = scenario;
  const { MemoryStore, rateLimit } = load();
  const trustProxy = proxies === undefined ? scenario.trustProxy : (address) => proxies.includes(address);
  const app = fastify({ ...(trustProxy === undefined ? {} : { trustProxy }), forceCloseConnections: true });
  if (hasOwnAddress) {
    app.addHook('onRequest', async (request) => {
      Object.defineProperty(request, 'ip', { value: request.headers['x-forwarded-for'] });
    });
  }
  const key = hasKey ? () => 'all' : undefined;
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
    statuses.add((await fetch(address + path, { headers })).status);
  }
  await app.close();
  return [...statuses];
}

const results = {};
for (const module of modules) {
  const { default: fastify } = await import(module);
  results[module] = [];
  for (const scenario of scenarios) {
    const statuses = await serve(fastify, scenario);
    await flushPromises(); // The process emits a warning a tick later.
    results[module].push({ codes, statuses });
  }
}
console.log(JSON.stringify(results));
