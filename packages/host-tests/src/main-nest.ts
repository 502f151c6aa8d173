import { once } from 'node:events';
import { createNestGateway } from './hosts/nest-gateway.js';
import { createNestGraphql } from './hosts/nest-graphql.js';

const ports: Record<string, number> = {};
for (const [name, starting] of Object.entries({ gateway: createNestGateway(), graphql: createNestGraphql() })) {
  const server = (await starting).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ports[name] = (server.address() as { port: number }).port;
}
console.log(JSON.stringify(ports));
