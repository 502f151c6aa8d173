// Better Auth with its own limits, which Rollgate decides: exact windows, also of parallel requests.   npm run example better-auth.ts
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rollingWindowStorage } from '@rollgate/web/better-auth';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { toNodeHandler } from 'better-auth/node';

const { PORT = '3000' } = process.env;

const auth = betterAuth({
  baseURL: 'http://localhost:3000',
  secret: 'a secret of at least 32 characters',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }), // Replace with your database.
  emailAndPassword: { enabled: true },
  logger: { level: 'error' },
  rateLimit: { enabled: true, customStorage: rollingWindowStorage() },
  advanced: { ipAddress: { ipAddressHeaders: ['x-client-ip'] } },
});

const handle = toNodeHandler(auth);
const server = createServer((request, response) => {
  request.headers['x-client-ip'] = request.socket.remoteAddress; // Replaces what the client has sent.
  handle(request, response).catch((error) => response.destroy(error));
});
server.listen(Number(PORT), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/auth/sign-in/email`;
  console.log(`
Better Auth on ${url}: 3 sign-ins in any 10 seconds.

  for i in $(seq 4); do curl -s -w ' %{http_code}\\n' --json '{"email":"ann@example.com","password":"guess"}' ${url}; done
                                                     prints 401 three times, then 429

Ctrl-C stops the server.`);
});
