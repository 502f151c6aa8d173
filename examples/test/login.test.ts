import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RedisServer } from '@rollgate/test-support';
import { FOLDER, type Program, startTogether } from './support/example-server.js';

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const APPS = {
  'login-express.ts': { path: '/login', types: [JSON_TYPE] },
  'login-fastify.ts': { path: '/login', types: [JSON_TYPE] },
  'login-better-auth.ts': { path: '/api/auth/sign-in/email', types: [FORM_TYPE, JSON_TYPE] },
};

const FAILING = failingApps();

/** All apps in one process: first the examples, then those that fail for some emails. */
let servers: Awaited<ReturnType<typeof startTogether>>;
let redis: RedisServer;
beforeAll(async () => {
  redis = await RedisServer.start();
  const programs = [...Object.keys(APPS), ...Object.values(FAILING)];
  servers = await startTogether(programs, { ADDRESS_LIMIT: '10', REDIS_URL: redis.url });
});
afterAll(async () => {
  await servers?.stop();
  await redis?.stop();
});

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

/** Replaces a part of a source, which must have it. */
function replace(source: string, part: string, by: string): string {
  if (!source.includes(part)) throw new Error(`Expected ${part} in\n${source}`);
  return source.replace(part, by);
}

function read(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8');
}

/** An example whose limit by address is the default, whatever the variables say. */
function withDefaultLimit(file: string): string {
  return replace(read(file), `, ADDRESS_LIMIT = '50' } = process.env`, ` } = process.env, ADDRESS_LIMIT = '50'`);
}

/** Statements that respond to some emails as an app does whose database is down, or that finds the request wrong. */
function failWith(respond: (status: number) => string): string {
  return `if (email === 'down@example.com') ${respond(503)}; if (email === 'odd@example.com') ${respond(400)};`;
}

/** The program of the page in the first fence of this language after a heading, which prints its address. */
function ofPage(heading: string, language: string): string {
  const fence = new RegExp(`^#+ ${heading}\\n.*?^\`\`\`${language}\\n(.*?)\\n\`\`\`$`, 'ms');
  const listening = `const server = app.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`;
  return replace(fence.exec(read('../docs/login.md'))?.[1] ?? '', 'app.listen(3000);', listening);
}

/** The login apps, which fail for some emails. */
function failingApps(): Record<string, Program> {
  const inExpress = failWith((status) => `return response.status(${status}).end()`);
  const inFastify = failWith((status) => `return reply.code(${status}).send({})`);
  const ofRequest = 'const { email, password } = request.body';
  const sources = {
    'login-express.ts': replace(
      withDefaultLimit('login-express.ts'),
      `${ofRequest} ?? {};`,
      `${ofRequest} ?? {}; ${inExpress}`,
    ),
    'login-fastify.ts': replace(withDefaultLimit('login-fastify.ts'), `${ofRequest};`, `${ofRequest}; ${inFastify}`),
    'login-better-auth.ts': replace(
      withDefaultLimit('login-better-auth.ts'),
      '(request) => auth.handler(request)',
      `async (request) => {
        const email = await emailOf(request.clone());
        ${failWith((status) => `return new Response('', { status: ${status} })`)}
        return auth.handler(request);
      }`,
    ),
    'docs-login.ts': replace(
      ofPage('The complete app', 'ts'),
      `${ofRequest} ?? {};`,
      `${ofRequest} ?? {}; ${inExpress}`,
    ),
    'docs-short-login.ts': replace(
      ofPage('Protect a login', 'js'),
      'async (request, response) => {',
      `async (request, response) => { const { email } = request.body; ${inExpress}`,
    ),
  };
  return Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [name, { name: `failing-${name}`, source }]),
  );
}

describe('failures of the app itself, and requests that it finds wrong', () => {
  const failing = () => servers.urls.slice(Object.keys(APPS).length);

  test.each(Object.keys(FAILING).map((name, index) => [name, index] as const))(
    'lock neither the account nor the address in %s',
    async (name, index) => {
      const path = name === 'login-better-auth.ts' ? '/api/auth/sign-in/email' : '/login';
      const send = async (email: string) => {
        const body = JSON.stringify({ email, password: 'guess' });
        const headers = { 'Content-Type': JSON_TYPE };
        return (await fetch(failing()[index]! + path, { method: 'POST', headers, body })).status;
      };
      // More than the account allows, and together more than the address does.
      for (const [email, status] of [
        ['down@example.com', 503],
        ['odd@example.com', 400],
      ] as const) {
        for (let count = 0; count < 30; count++) expect(await send(email)).toBe(status);
      }
      const guesses: number[] = [];
      for (let count = 0; count < 6; count++) guesses.push(await send('bob@example.com'));
      expect(guesses).toEqual([401, 401, 401, 401, 401, 429]);
    },
  );

  test('the short form of the page compares five of 100 parallel guesses, then closes the account, which a success opens', async () => {
    const send = async (password: string) => {
      const body = JSON.stringify({ email: 'Cleo@example.com', password });
      const headers = { 'Content-Type': JSON_TYPE };
      return fetch(`${failing().at(-1)}/login`, { method: 'POST', headers, body });
    };
    const guess = async () => (await send('guess')).status;
    for (let count = 0; count < 4; count++) expect(await guess()).toBe(401);
    expect((await send('correct horse')).status).toBe(200);
    const statuses = await Promise.all(Array.from({ length: 100 }, guess));
    expect([count(statuses, 401), count(statuses, 429)]).toEqual([5, 95]);
    const closed = await send('correct horse');
    expect(closed.status).toBe(429);
    const seconds = Number(closed.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(800);
    expect(seconds).toBeLessThanOrEqual(900);
  });

  test('an account without a password is no account', async () => {
    const body = JSON.stringify({ email: 'nobody@example.com' });
    const headers = { 'Content-Type': JSON_TYPE };
    expect((await fetch(`${failing()[0]}/login`, { method: 'POST', headers, body })).status).toBe(401);
  });
});
