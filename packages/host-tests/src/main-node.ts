// Serves all hosts of Node from one process, and prints their ports as JSON.
import { once } from 'node:events';
import type { Server } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { nodeAddress } from '@rollgate/hono';
import { createExpress4, createExpress5 } from './hosts/express.js';
import { createFastify } from './hosts/fastify.js';
import { createHono } from './hosts/hono-app.js';
import { createKoa } from './hosts/koa.js';
import { createNestExpress, createNestFastify } from './hosts/nest.js';
import { createHttp, createHttp2 } from './hosts/node.js';

const servers: Record<string, Server | Promise<Server>> = {
  'Express 5': createExpress5(),
  'Express 4': createExpress4(),
  'Fastify 5': createFastify(),
  'Koa 3': createKoa(),
  'node:http': createHttp(),
  'node:http2': createHttp2(),
  'Hono on Node': createAdaptorServer({ fetch: createHono(nodeAddress).fetch }) as Server,
  'Nest on Express': createNestExpress(),
  'Nest on Fastify': createNestFastify(),
};

const ports: Record<string, number> = {};
for (const [name, starting] of Object.entries(servers)) {
  const server = (await starting).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ports[name] = (server.address() as { port: number }).port;
}
console.log(JSON.stringify(ports));
