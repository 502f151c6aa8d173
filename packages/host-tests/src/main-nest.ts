import { once } from 'node:events';
import { createNestCountedMessages } from './hosts/nest-counted-messages.js';
import { createNestFastifyRequests } from './hosts/nest-fastify-requests.js';
import { createNestGateway } from './hosts/nest-gateway.js';
import { createNestGraphql } from './hosts/nest-graphql.js';
import { createNestRoutes } from './hosts/nest-routes.js';

const ports: Record<string, number> = {};
const servers = {
  fastify: createNestFastifyRequests(),
  gateway: createNestGateway(),
  'Nest over WebSockets': createNestCountedMessages(),
  graphql: createNestGraphql(),
  routes: createNestRoutes(),
};
for (const [name, starting] of Object.entries(servers)) {
  const server = (await starting).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ports[name] = (server.address() as { port: number }).port;
}
console.log(JSON.stringify(ports));
