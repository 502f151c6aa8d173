import { startTogether } from './support/example-server.js';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const APPS = {
  'login-express.ts': { path: '/login', types: [JSON_TYPE] },
  'login-fastify.ts': { path: '/login', types: [JSON_TYPE] },
  'login-better-auth.ts': { path: '/api/auth/sign-in/email', types: [FORM_TYPE, JSON_TYPE] },
};

let servers: Awaited<ReturnType<typeof startTogether>>;
beforeAll(async () => {
  servers = await startTogether(Object.keys(APPS), { ADDRESS_LIMIT: '10' });
});
afterAll(() => servers?.stop());

const count = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length;

test.each(Object.entries(APPS).map(([file, app], index) => [file, app, index] as const))(
  '%s compares five of 100 parallel guesses, and a success keeps the attempts of the address',
  async (_, { path, types }, index) => {
    let sent = 0;
    const send = (email: string, password: string) => {
      const type = types[sent++ % types.length]!; // Attempts of every type count for the same account.
      const body = { email, password };
      return fetch(servers.urls[index]! + path, {
        method: 'POST',
        headers: { 'Content-Type': type },
        body: type === FORM_TYPE ? new URLSearchParams(body) : JSON.stringify(body),
      });
    };
    const guess = async () => (await send('Ann@example.com', 'guess')).status;
    expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 401]);
    expect((await send('ann@example.com', 'correct horse')).status).toBe(200); // Opens the account.
    const statuses = await Promise.all(Array.from({ length: 100 }, guess));
    expect([count(statuses, 401), count(statuses, 429)]).toEqual([5, 95]);
    const locked = await send('ann@example.com', 'correct horse');
    expect([locked.status, locked.headers.get('x-ratelimit-limit')]).toEqual([429, '5']);
    expect(Number(locked.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(Number(locked.headers.get('retry-after'))).toBeLessThanOrEqual(900);
    // Two of the ten attempts of the address are left: it has made three, then five.
    const others = [];
    for (const name of ['bob', 'cleo', 'dan']) others.push(await send(`${name}@example.com`, 'guess'));
    expect(others.map(({ status }) => status)).toEqual([401, 401, 429]);
    expect(others[2]!.headers.get('x-ratelimit-limit')).toBe('10');
  },
);
