import { setTimeout as delay } from 'node:timers/promises';
import { RedisServer, until } from '@rollgate/test-support';
import type { Attempt } from '../../src/shared/protocol.js';
import { MAX_ATTEMPTS } from '../../src/shared/retention.js';
import { leavePage, openPage } from '../support/browser.js';
import { expected } from '../support/playground-page.js';
import { Server } from '../support/server.js';

// One of its own: the playground's keys are always the same, and the server is broken on the way.
let redis: RedisServer;
let one: Server;
let other: Server;
const later: Server[] = [];
beforeAll(async () => {
  redis = await RedisServer.start();
  [one, other] = await Promise.all([start(), start()]);
});
afterEach(() => Promise.all(later.splice(0).map((server) => server.end())));
afterAll(async () => {
  await Promise.all([one, other].map((server) => server.end()));
  await redis.stop();
});

function start(): Promise<Server> {
  return Server.start({ REDIS_URL: redis.url });
}

/** How far from the clock of Redis a server's idea of it may be. */
const CLOCK_ERROR_MS = 50;

async function redisNowMs(): Promise<number> {
  const [seconds, micros] = (await redis.run('TIME')) as [string, string];
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

/** One more, until the test ends. */
async function startLater(): Promise<Server> {
  const server = await start();
  later.push(server);
  return server;
}

test('playgrounds on one Redis show one window and its settings, also one that starts later', async () => {
  expect(one.greeting).toContain(`on the Redis of ${new URL(redis.url).host}`);
  const there = await openPage(other.url, 'next');
  await one.begin({ limit: 8, windowMs: 60_000, algorithm: 'bucketed' });
  await there.becomes('the other page shows them', "document.querySelector('#algorithm').value === 'bucketed'");
  const here = await openPage(one.url);
  await here.shows('#store-note', /^Redis decides/);
  await here.shows('#snippet', /store: new RedisStore\(/);
  for (let hit = 0; hit < 6; hit++) {
    await one.hit();
    await other.hit();
  }
  await until('both have the same on record', async () => {
    const [records, others] = [await one.records(), await other.records()];
    return records.attempts.length === 12 && JSON.stringify(records) === JSON.stringify(others);
  });
  const all = expected(await one.attempts());
  expect(all).toMatchObject({ allowed: 8, rejected: 4 });
  for (const page of [here, there]) {
    await page.draws(all);
    await page.shows('[data-row="bucketed"] .count', '8 of 8');
  }

  const again = await startLater();
  expect((await again.records()).state.settings).toMatchObject({ limit: 8, windowMs: 60_000, algorithm: 'bucketed' });
  expect(await again.attempts()).toEqual(await one.attempts());
  const late = await openPage(again.url, 'next');
  await late.draws(all);
  await late.press('Start over');
  for (const page of [here, there, late]) await page.shows('#countdown', 'now');
  // No process still knows a rejection from before.
  expect([(await one.hit()).status, (await other.hit()).status]).toEqual([200, 200]);
});

test('settings that are followed by a reset at once stay', async () => {
  await one.begin({ limit: 9 });
  const { settings } = (await one.records()).state;
  for (const limit of [3, 4, 5]) {
    await one.put({ ...settings, limit });
    await fetch(`${one.url}/reset`, { method: 'POST' });
    expect((await one.records()).state.settings.limit).toBe(limit);
  }
});

test('the countdown of one page is true for requests to the other server', async () => {
  const windowMs = 60_000;
  await one.begin({ limit: 2, windowMs });
  await until('the other knows', async () => (await other.records()).state.settings.limit === 2);
  const page = await openPage(one.url);
  const earliestMs = (await redisNowMs()) + windowMs;
  expect((await other.hit()).status).toBe(200);
  const latestMs = (await redisNowMs()) + windowMs;
  await other.hit();
  expect((await other.hit()).status).toBe(429);
  // A server knows Redis's clock by half of a round trip, and corrects both with each round trip that is quicker.
  await until('it ends a window after the first request, by the clock of Redis', async () => {
    const zeroMs = Number(await page.page.locator('#countdown').getAttribute('data-allowed-at-ms'));
    return zeroMs > earliestMs - CLOCK_ERROR_MS && zeroMs < latestMs + CLOCK_ERROR_MS;
  });
  await page.shows('#countdown', /^in [1-6]?\d\.\d s$/);
});

test('during an outage of Redis a server decides alone and reports it, and then Redis decides again', async () => {
  const server = one;
  await server.begin({ limit: 5, windowMs: 60_000 });
  const page = await openPage(server.url);
  await redis.kill();
  await page.press('Send a request');
  await page.showsBanner(true);
  expect(await page.text('#banner')).toContain('Redis did not respond');
  await redis.restart();
  let requests = 1;
  await until('Redis decides again', async () => {
    await server.hit();
    requests += 1;
    return (await server.attempts()).at(-1)?.degraded === false;
  });
  await page.showsBanner(false);
  // A response precedes its record, so the last requests may not be on record yet.
  await until('all are on record', async () => (await server.attempts()).length === requests);
  await page.draws(expected(await server.attempts()));
});

test('a server that starts after a flood knows what still counts, and how many there were', async () => {
  await one.begin({ limit: 3, windowMs: 60_000 });
  for (let hit = 0; hit < 5; hit++) await one.hit();
  await until('all are on record', async () => (await one.attempts()).length === 5);
  const [news] = (await redis.run('XREVRANGE', 'rollgate-playground:news', '+', '-', 'COUNT', '1')) as [
    [string, string[]],
  ];
  const last = JSON.parse(news[1][1]!).attempt as Attempt;
  const delays = Object.fromEntries(Object.keys(last.delays).map((name) => [name, null]));
  const attempt = { ...last, allowed: false, delays };
  // As the flood's publishing would: one by one it would take half a minute.
  const script = `for index = 1, ARGV[1] do
    redis.call('XADD', 'rollgate-playground:news', 'MAXLEN', '~', ARGV[2], '*', 'news', (string.gsub(ARGV[3], 'ID', index)))
  end
  redis.call('HINCRBY', 'rollgate-playground:totals', 'rejected', ARGV[1])`;
  const flood = MAX_ATTEMPTS + 1500;
  const text = JSON.stringify({ kind: 'attempt', attempt: { ...attempt, id: 'flood-ID' } });
  await redis.run('EVAL', script, '0', String(flood), String(MAX_ATTEMPTS), text);
  const records = await (await startLater()).records();
  expect(records).toMatchObject({ allowed: 3, rejected: flood + 2 });
  expect(records.attempts.filter(({ allowed }) => allowed)).toHaveLength(3);
});

test('without an open page, Redis gets only the commands of the requests', async () => {
  const server = one;
  await server.begin({ limit: 50, windowMs: 60_000 });
  const decisions = async () => {
    const stats = String(await redis.run('INFO', 'commandstats'));
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  };
  const areRecorded = (count: number) =>
    until(`${count} are on record`, async () => (await server.attempts()).length === count);
  await leavePage();
  await server.hit(); // Redis knows the scripts from now on.
  await areRecorded(1); // The fixed window is checked after the response.
  for (let hit = 0; hit < 20; hit++) await server.hit();
  await areRecorded(21);
  // A batch may carry the fixed window's check of one request and the limiter's check of the next.
  const afterRequests = await decisions();
  await delay(2100); // A heartbeat or two would have come.
  expect(await decisions()).toBe(afterRequests);
});

test('the page reports a setting or a reset that the server rejects, and keeps showing the old state', async () => {
  const server = one;
  await server.begin({});
  const { page, ...tab } = await openPage(server.url);
  await redis.kill();
  const window = page.getByRole('slider', { name: 'Window' });
  await window.fill('20000');
  const problem = page.locator('#settings ~ [role="alert"]');
  await until('the page reports it', async () =>
    /^Not changed\. Redis did not confirm .+ \(503 /.test((await problem.textContent()) ?? ''),
  );
  await until('the old one is shown', async () => (await window.inputValue()) === '10000');
  await page.getByRole('button', { name: 'Start over' }).click();
  await until('the page reports it', async () => {
    return /^The reset failed\. Redis did not confirm .+ \(503 /.test(
      (await page.locator('#traffic').textContent()) ?? '',
    );
  });

  await redis.restart();
  await until('it can be set again', async () => {
    await window.fill('20000');
    return (await server.records()).state.settings.windowMs === 20_000;
  });
  await until('the page reports no problem', async () => (await problem.textContent()) === '');
  expect(tab.errors).toEqual([]);
  await leavePage();
});

test('a reset during an outage of Redis reports that it reset only the memory of this server, for both limiters', async () => {
  const server = one;
  await server.begin({ limit: 1, windowMs: 60_000 });
  await redis.kill();
  const statuses = async () => [(await server.hit()).status, (await server.hit()).status];
  const areRecorded = (count: number) =>
    until(`${count} are on record`, async () => (await server.attempts()).length === count);
  expect(await statuses()).toEqual([200, 429]);
  await areRecorded(2);
  const response = await fetch(`${server.url}/reset`, { method: 'POST' });
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    status: 503,
    detail: expect.stringMatching(/^Redis did not confirm the reset\. The memory of this server.+ is empty now\.$/),
  });
  expect(await statuses()).toEqual([200, 429]);
  await areRecorded(4);
  expect((await server.attempts())[2]).toMatchObject({ delays: { fixed: 0 } });
});
