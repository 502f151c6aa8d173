// A login behind Express: wrong passwords lock the account for longer each time, and count per address.   npm run example login-express.ts
import type { AddressInfo } from 'node:net';
import { lockout, rateLimit, rollingWindow, sameKey } from '@rollgate/express';
import express from 'express';

const { PORT = '3000', ADDRESS_LIMIT = '50' } = process.env;
const PASSWORDS = new Map([['ann@example.com', 'correct horse']]);

const account = lockout(); // 5 attempts lock for 15 minutes, then 45 minutes, 3 and 20 hours.
const accountKeys = (email: unknown) => sameKey(account, `account:${String(email ?? '').toLowerCase()}`);

const loginLimit = rateLimit({
  limits: { ...account, address: rollingWindow({ limit: Number(ADDRESS_LIMIT), window: '1h' }) },
  key: (request, clientKey) => ({ ...accountKeys(request.body?.email), address: clientKey() }),
  skipSuccessfulRequests: true, // Only wrong passwords count, and no failure of the app itself.
  requestWasSuccessful: (_request, response) => response.statusCode !== 401,
  // In production, add a store that your processes share: `store: new RedisStore({ client })`.
});

const app = express();
app.set('trust proxy', 'loopback'); // Trusts the X-Forwarded-For header of a proxy on this machine.
app.use(express.json()); // Before the limit, because its key reads the body.
app.post('/login', loginLimit, async (request, response) => {
  const { email, password } = request.body ?? {};
  const isCorrect = typeof password === 'string' && PASSWORDS.get(email) === password;
  if (!isCorrect) return response.status(401).json({ error: 'Wrong email or password' });
  // The address's failures still count. If a store fails, a correct password still works.
  await loginLimit.limiter.reset(accountKeys(email)).catch(() => {});
  return response.json({ welcome: email });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/login`;
  console.log(`
A login behind Express, on ${url}: 5 wrong passwords lock the account.

  for i in $(seq 6); do curl -s -w ' %{http_code}\\n' --json '{"email":"ann@example.com","password":"guess"}' ${url}; done
                                                     prints 401 five times, then 429
  curl -i --json '{"email":"bob@example.com","password":"guess"}' ${url}
                                                     guesses for another account, which is open

Ctrl-C stops the server.`);
});
