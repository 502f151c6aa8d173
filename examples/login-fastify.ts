// A login behind Fastify: wrong passwords lock the account for longer each time, and count per address.   npm run example login-fastify.ts
import rateLimit, { lockout, rollingWindow, sameKey } from '@rollgate/fastify';
import Fastify from 'fastify';

const { PORT = '3000', ADDRESS_LIMIT = '50' } = process.env;
const PASSWORDS = new Map([['ann@example.com', 'correct horse']]);

interface Login {
  Body: { email: string; password: string };
}

const account = lockout(); // 5 attempts lock for 15 minutes, then 45 minutes, 3 and 20 hours.
const accountKeys = (email: string) => sameKey(account, `account:${email.toLowerCase()}`);

const app = Fastify({ trustProxy: '127.0.0.1' });
await app.register(rateLimit, { global: false });

const loginLimit = app.rateLimit({
  limits: { ...account, address: rollingWindow({ limit: Number(ADDRESS_LIMIT), window: '1h' }) },
  key: (request, clientKey) => ({ ...accountKeys((request.body as Login['Body']).email), address: clientKey() }),
  skipSuccessfulRequests: true, // Only wrong passwords count, and no failure of the app itself.
  requestWasSuccessful: (_request, reply) => reply.statusCode !== 401,
  // In production, add a store that your processes share: `store: new RedisStore({ client })`.
});

const text = { type: 'string' } as const;
const body = { type: 'object', required: ['email', 'password'], properties: { email: text, password: text } } as const;

// In `preHandler`, the body has been parsed and validated.
app.post<Login>('/login', { schema: { body }, preHandler: loginLimit }, async (request, reply) => {
  const { email, password } = request.body;
  if (PASSWORDS.get(email) !== password) return reply.code(401).send({ error: 'Wrong email or password' });
  // The address's failures still count. If a store fails, a correct password still works.
  await loginLimit.limiter.reset(accountKeys(email)).catch(() => {});
  return { welcome: email };
});

const url = `${await app.listen({ port: Number(PORT), host: '127.0.0.1' })}/login`;
console.log(`
A login behind Fastify, on ${url}: 5 wrong passwords lock the account.

  for i in $(seq 6); do curl -s -w ' %{http_code}\\n' --json '{"email":"ann@example.com","password":"guess"}' ${url}; done
                                                     prints 401 five times, then 429
  curl -i --json '{"email":"bob@example.com","password":"guess"}' ${url}
                                                     guesses for another account, which is open

Ctrl-C stops the server.`);
