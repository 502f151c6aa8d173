// Better Auth with Rollgate's limits on the sign-in: wrong passwords lock the account, and count per address.   npm run example login-better-auth.ts
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lockout, rateLimit, rollingWindow, sameKey } from '@rollgate/web';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { createAuthMiddleware, isAPIError } from 'better-auth/api';
import { toNodeHandler } from 'better-auth/node';

const { PORT = '3000', ADDRESS_LIMIT = '50' } = process.env;

const account = lockout(); // 5 attempts lock for 15 minutes, then 45 minutes, 3 and 20 hours.
const accountKeys = (email: unknown) => sameKey(account, `account:${String(email ?? '').toLowerCase()}`);

/** Reads the email from a copy of the request, which Better Auth accepts as JSON or as a form. */
async function emailOf(copy: Request): Promise<unknown> {
  const isForm = /^application\/x-www-form-urlencoded/i.test(copy.headers.get('content-type') ?? '');
  try {
    const body = (isForm ? Object.fromEntries(await copy.formData()) : await copy.json()) as { email?: unknown } | null;
    return body?.email;
  } catch {
    return undefined; // Better Auth responds to an invalid body with an error.
  }
}

const signInLimit = rateLimit({
  limits: { ...account, address: rollingWindow({ limit: Number(ADDRESS_LIMIT), window: '1h' }) },
  skip: ({ url }) => !new URL(url).pathname.endsWith('/sign-in/email'),
  address: (request) => request.headers.get('x-client-ip') ?? undefined,
  key: async (request, _info, clientKey) => ({
    ...accountKeys(await emailOf(request.clone())),
    address: clientKey(),
  }),
  skipSuccessfulRequests: true, // Only wrong passwords count, and no failure of the app itself.
  requestWasSuccessful: (_request, response) => response.status !== 401,
  // In production, add a store that your processes share: `store: new RedisStore({ client })`.
});

const auth = betterAuth({
  baseURL: 'http://localhost:3000',
  secret: 'a secret of at least 32 characters',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }), // Replace with your database.
  emailAndPassword: { enabled: true },
  logger: { level: 'error' },
  rateLimit: { customRules: { '/sign-in/email': false } }, // Rollgate limits this path.
  advanced: { ipAddress: { ipAddressHeaders: ['x-client-ip'] } }, // For the limits on other paths.
  hooks: {
    after: createAuthMiddleware(async ({ path, body, context }) => {
      if (path !== '/sign-in/email' || isAPIError(context.returned)) return;
      // The address's failures still count. If a store fails, the sign-in still succeeds.
      await signInLimit.limiter.reset(accountKeys(body.email)).catch(() => {});
    }),
  },
});
await auth.api.signUpEmail({ body: { name: 'Ann', email: 'ann@example.com', password: 'correct horse' } });

const handler = toNodeHandler(signInLimit((request) => auth.handler(request)));
const server = createServer((request, response) => {
  request.headers['x-client-ip'] = request.socket.remoteAddress; // Replaces what the client has sent.
  handler(request, response).catch((error) => response.destroy(error));
});
server.listen(Number(PORT), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/auth/sign-in/email`;
  console.log(`
Better Auth on ${url}: 5 wrong passwords lock the account.

  for i in $(seq 6); do curl -s -w ' %{http_code}\\n' --json '{"email":"ann@example.com","password":"guess"}' ${url}; done
                                                     prints 401 five times, then 429
  curl -i --json '{"email":"bob@example.com","password":"guess"}' ${url}
                                                     guesses for another account, which is open

Ctrl-C stops the server.`);
});
