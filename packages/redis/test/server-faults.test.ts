import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as lasting } from 'node:timers/promises';
import { calendarWindow } from '@rollgate/calendar';
import {
  concurrency,
  type Decision,
  fixedWindow,
  manualClock,
  RateLimiter,
  rollingWindow,
  StoreError,
} from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { RedisStore } from '@rollgate/redis';
import { RedisServer, until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { Redis } from 'ioredis';
import { expiryOf } from './support/expiry.js';
import { withMaxSteps } from './support/max-steps.js';
import { PrivateRedis } from './support/private-redis.js';
import { countEntries } from './support/read-hits.js';
import { createScriptEditingClient } from './support/script-editing-client.js';
import { ScriptProcess } from './support/script-process.js';
import { readSlotLog, summarizeUses } from './support/slot-log.js';
import { LOGS } from './support/some-redis.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();

describe('leases', () => {
  const PROCESSES = effort(3, 8);
  const LIMIT = effort(5, 20);
  const LEASE_MS = effort(1000, 2000);
  const FAULTS_MS = effort(0, 90_000);
  const KEY = 'rollgate:{all}:default/c';
  /** The server's count of the leases that have not expired. */
  const COUNT = `local time = redis.call('TIME')
  return redis.call('ZCOUNT', KEYS[1], string.format('(%d', time[1] * 1000000 + time[2]), '+inf')`;

  const folder = mkdtempSync(join(tmpdir(), 'rollgate-slots-'));
  const files: string[] = [];
  const slotProcesses = new Map<string, ScriptProcess>();
  const done = { kills: 0, longPauses: 0, shortPauses: 0, flushes: 0, lostConnections: 0, restarts: 0 };
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] }); // A restart loses nothing.
  });
  afterAll(async () => {
    for (const slotProcess of slotProcesses.values()) slotProcess.kill();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  function start(): void {
    const name = `holder-${files.length}`;
    const file = join(folder, name);
    files.push(file);
    writeFileSync(file, ''); // The process may be killed before it has started.
    const options = { url: server.url, name, file, limit: LIMIT, leaseMs: LEASE_MS, callers: LIMIT, useMs: 200 };
    slotProcesses.set(name, new ScriptProcess('slot-process.mjs', options));
  }

  const anyOf = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)]!;
  const takenBy = (file: string) => readSlotLog(file).uses.length;

  async function pause(ms: number): Promise<void> {
    const slotProcess = anyOf([...slotProcesses.values()]);
    slotProcess.pause();
    await lasting(ms);
    slotProcess.resume();
  }

  const FAULTS: readonly (() => Promise<unknown>)[] = [
    async () => {
      const name = anyOf([...slotProcesses.keys()]);
      slotProcesses.get(name)!.kill();
      slotProcesses.delete(name);
      start();
      done.kills += 1;
    },
    () => pause(LEASE_MS * 1.3).then(() => (done.longPauses += 1)),
    () => pause(LEASE_MS * 0.6).then(() => (done.shortPauses += 1)),
    () => server.run('SCRIPT', 'FLUSH').then(() => (done.flushes += 1)),
    () => server.run('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes').then(() => (done.lostConnections += 1)),
    () => server.restart().then(() => (done.restarts += 1)),
  ];

  /** Runs each fault once, then random ones until the time has passed. */
  async function runFaults(): Promise<void> {
    const end = performance.now() + FAULTS_MS;
    for (let count = 0; count < FAULTS.length || performance.now() < end; count++) {
      await (FAULTS[count] ?? anyOf(FAULTS))();
      await lasting(Math.random() * 300);
    }
  }

  /** Takes slots until one is not free. */
  async function takeAll(limiter: RateLimiter): Promise<Decision[]> {
    const taken: Decision[] = [];
    for (;;) {
      const decision = await limiter.check('all');
      if (!decision.allowed) return taken;
      taken.push(decision);
    }
  }

  test('no fault lets more slots be in use than the limit, and dead processes free theirs after one lease', async () => {
    for (let index = 0; index < PROCESSES; index++) start();
    await until('all processes take slots', async () => files.every((file) => takenBy(file) > 2));
    await runFaults();
    const live = [...slotProcesses.keys()].map((name) => join(folder, name));
    const before = live.map(takenBy);
    await until('all processes take slots again', async () =>
      live.every((file, index) => takenBy(file) > before[index]!),
    );
    for (const slotProcess of slotProcesses.values()) slotProcess.kill();
    await Promise.all([...slotProcesses.values()].map((slotProcess) => slotProcess.ended()));
    slotProcesses.clear();
    expect(Number(await server.run('PTTL', KEY))).toBeLessThanOrEqual(LEASE_MS + 1);
    await until('all slots are free', async () => (await server.run('EVAL', COUNT, 1, KEY)) === 0);

    const client = new Redis(server.url);
    const limits = concurrency({ limit: LIMIT, lease: '1h' });
    const limiter = new RateLimiter({ limits, store: new RedisStore({ client }), timeout: '30s' });
    expect(await takeAll(limiter)).toHaveLength(LIMIT);
    await limiter.close();
    client.disconnect();

    const logs = files.map(readSlotLog);
    const uses = logs.flatMap((log) => log.uses);
    const unreleased = logs.reduce((sum, log) => sum + log.unreleased, 0);
    const summary = summarizeUses(uses, LIMIT);
    if (effort(false, true)) console.info({ ...summary, taken: uses.length, unreleased, ...done });
    expect(summary.excessMicros).toBe(0);
    expect(summary.most).toBeLessThanOrEqual(LIMIT);
    expect(uses.length).toBeGreaterThan(effort(10, 3000));
  });
});

describe('a full server', () => {
  let client: Redis;
  beforeAll(() => {
    client = redis.connect();
  });
  afterEach(async () => {
    await client.config('SET', 'maxmemory', 0);
    await client.flushall();
  });

  /** Every key with its value, byte by byte, and when it expires. */
  async function everything(): Promise<unknown> {
    const keys = (await client.keys('*')).sort();
    return Promise.all(keys.map(async (key) => [key, await client.dumpBuffer(key), await expiryOf(client, key)]));
  }

  const nothingFits = () => client.config('SET', 'maxmemory', 1);

  test.each(LOGS)(
    'near the memory limit, every check records in all its limits or in none, with the log ‘%s’',
    async (log) => {
      const limits = {
        user: rollingWindow({ limit: 3, window: '1h' }),
        all: rollingWindow({ limit: 100_000, window: '1h' }),
      };
      const store = new RedisStore({ client, log, denialCache: false });
      const limiter = new RateLimiter({ limits, store, timeout: '30s' });
      const keyOf = (user: string) => ({ user, all: 'all' });
      await limiter.check(keyOf('first'));
      const memory = await client.info('memory');
      await client.config('SET', 'maxmemory', Number(/used_memory:(\d+)/.exec(memory)![1]) + 100_000);
      let allowed = 1;
      let failed = 0;
      for (let round = 0; round < 100; round++) {
        const checks = Array.from({ length: 20 }, (_, user) => limiter.check(keyOf(`${round}:${user % 13}`)));
        for (const settled of await Promise.allSettled(checks)) {
          if (settled.status === 'rejected') failed += 1;
          else if (settled.value.allowed) allowed += 1;
        }
      }
      expect(failed).toBeGreaterThan(0);
      expect(allowed).toBeGreaterThan(100);
      await client.config('SET', 'maxmemory', 0);
      expect((await limiter.peek(keyOf('new'))).limits.all.remaining).toBe(100_000 - allowed);
      const users = await client.keys('*:user');
      const sizes = await Promise.all(users.map((key) => countEntries(client, log, key)));
      expect(sizes.reduce((sum, hits) => sum + hits, 0)).toBe(allowed);
      expect(await Promise.all((await client.keys('*')).map((key) => client.pttl(key)))).not.toContain(-1);
    },
  );

  test('leases are renewed on a full server', async () => {
    const clock = manualClock(1e12);
    const store = new RedisStore({ client, clock, denialCache: false });
    const onLeaseLost = jest.fn();
    const holder = { limits: concurrency({ limit: 5, lease: '30s' }), store, timeout: '30s', onLeaseLost } as const;
    const limiter = new RateLimiter(holder);
    await limiter.check('ann', { cost: 3 });
    await nothingFits();
    for (let elapsed = 0; elapsed < 4; elapsed++) {
      clock.advance('10s');
      expect((await limiter.peek('ann')).remaining).toBe(2); // The reply to this peek follows that of the renewal.
    }
    expect(onLeaseLost).not.toHaveBeenCalled();
    await limiter.close();
  });

  test.each([
    ['without', undefined],
    ['with', '1m'],
  ])('a credit beyond the used units of a calendar window %s leases needs memory', async (_, lease) => {
    const limits = calendarWindow({ limit: 10, period: 'month', lease });
    const store = new RedisStore({ client, clock: manualClock(1e12) });
    const limiter = new RateLimiter({ limits, store, timeout: '30s' });
    const decision = await limiter.check('ann', { cost: 4 });
    await limiter.settle(decision, { cost: 4 });
    const before = await everything();
    await nothingFits();
    for (const units of [3, 9]) {
      const credited = credit(limiter, 'ann', units, { beyond: true });
      await expect(credited).rejects.toThrow(/^The store failed: (@user_script: \d+: -)?OOM /);
    }
    expect(await everything()).toEqual(before);
    // Without it, a credit only gives back.
    expect((await credit(limiter, 'ann', 3)).remaining).toBe(9);
    await client.config('SET', 'maxmemory', 0);
    expect(await credit(limiter, 'ann', 9, { beyond: true })).toMatchObject({ limit: 18, remaining: 18 });
    await limiter.close();
  });

  test('a check behind a refund gets no memory of a full server', async () => {
    const limits = fixedWindow({ limit: 50, window: '1000d' });
    const limiter = new RateLimiter({ limits, store: new RedisStore({ client }), timeout: '30s' });
    const decision = await limiter.check('ann', { cost: 7 });
    await nothingFits();
    const [refunded, checked] = await Promise.allSettled([limiter.refund(decision), limiter.check('bob')]);
    expect([refunded.status, checked.status]).toEqual(['fulfilled', 'rejected']);
    expect((await limiter.peek('ann')).remaining).toBe(50);
  });
});

describe('a read-only server', () => {
  const setReadOnly = (isReadOnly: boolean) =>
    redis.server.run('REPLICAOF', ...(isReadOnly ? [redis.server.host, 1] : ['NO', 'ONE']));
  beforeEach(() => redis.server.run('FLUSHALL'));
  afterEach(() => setReadOnly(false));

  /** A limiter whose scripts stop after so many steps, and the errors with which its client's calls fail. */
  function createLimiter(maxSteps: number) {
    const errors: string[] = [];
    const client = createScriptEditingClient(redis.connect(), (script) => withMaxSteps(script, maxSteps));
    const watched = {
      ...client,
      evalsha: (...args: Parameters<typeof client.evalsha>) => {
        const reply = client.evalsha(...args);
        reply.catch((error: Error) => errors.push(error.message.split(' ')[0]!));
        return reply;
      },
    };
    const store = new RedisStore({ client: watched, denialCache: false });
    const limits = rollingWindow({ limit: 1, window: '1h' });
    return { limiter: new RateLimiter({ limits, store, timeout: '30s' }), errors };
  }

  const outcomeOf = (check: Promise<Decision>) =>
    check.then(
      ({ allowed }) => (allowed ? 'allowed' : 'rejected'),
      (error: unknown) => (error instanceof StoreError && error.message.includes('READONLY') ? 'READONLY' : error),
    );

  test.each([
    ['one script', 4000],
    ['many scripts', 25],
  ])('a read-only server rejects what is full, and fails the rest, in %s', async (_, maxSteps) => {
    const { limiter, errors } = createLimiter(maxSteps);
    await limiter.check('full');
    await setReadOnly(true);
    const keys = Array.from({ length: 60 }, (_, index) => (index % 20 < 15 ? `new-${index}` : 'full'));
    const outcomes = await Promise.all(keys.map((key) => outcomeOf(limiter.check(key))));
    expect(outcomes).toEqual(keys.map((key) => (key === 'full' ? 'rejected' : 'READONLY')));
    expect(errors).toContain('READONLY'); // By which a client detects a failover.
    await setReadOnly(false);
    expect((await limiter.check('new-0')).allowed).toBe(true);
  });

  test('a batch that no operation can write is sent once', async () => {
    const { limiter, errors } = createLimiter(4000);
    await limiter.check('full');
    await setReadOnly(true);
    errors.length = 0;
    await Promise.all(Array.from({ length: 20 }, (_, index) => outcomeOf(limiter.check(`new-${index}`))));
    expect(errors).toEqual(['READONLY']);
  });
});
