import { type Limits, leakyBucket, manualClock, rollingWindow, tokenBucket } from '@rollgate/core';
import type { StoreWait } from '@rollgate/core/store';
import { fairWaiting } from '@rollgate/redis/waiting';
import { FaultyProxy, until } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { AskLead } from '../src/waiting/ask-lead.js';
import type { Room } from '../src/waiting/room.js';
import { Ticket, type Turn } from '../src/waiting/ticket.js';
import type { TicketGroup } from '../src/waiting/ticket-group.js';
import { TicketLine } from '../src/waiting/ticket-line.js';
import { CommandThread } from './support/command-thread.js';
import { joinQueues } from './support/join-queues.js';
import { PrivateRedis } from './support/private-redis.js';
import { readHitTimes } from './support/read-hits.js';
import { freshPrefix } from './support/some-redis.js';

describe('turns', () => {
  const redis = PrivateRedis.forThisFile();

  let thread: CommandThread;
  beforeAll(async () => {
    thread = await CommandThread.start(redis);
  });

  let prefix: string;
  beforeEach(() => {
    prefix = freshPrefix();
  });

  const join = <Given extends Limits>(limits: Given) => joinQueues(redis, limits, { prefix });
  const one = rollingWindow({ limit: 1, window: '1h' });

  /** Two limiters, whose connections work. The server knows their scripts. */
  async function joinBoth() {
    const limiters = [join(one), join(one)] as const;
    for (const limiter of [...limiters, ...limiters]) await limiter.refund(await limiter.wait(freshPrefix()));
    return limiters;
  }

  const queue = () => `${prefix}:{api}:default/q`;
  const untilQueued = (count = 1) =>
    until(`${count} wait`, async () => Number(await redis.server.run('ZCOUNT', queue(), '0', '+inf')) === count);

  const untilBlocked = (what: string, count = 1) =>
    until(`${what} waits in the server`, async () => {
      const clients = String(await redis.server.run('CLIENT', 'LIST', 'TYPE', 'NORMAL'));
      return clients.split('flags=b').length > count;
    });

  /** Keeps the event loop busy while the paused server grants turns, and for some time after it. */
  const blockDuringTurns = () => thread.blockUntilReply('CLIENT UNPAUSE', 500);

  /** Like `blockDuringTurns`. Returns until when at least, by the server's time. */
  async function timeBlockDuringTurns(): Promise<number> {
    const [seconds, micros] = (await redis.server.run('TIME')) as [string, string];
    const startMs = performance.now();
    blockDuringTurns();
    return Number(seconds) * 1e6 + Number(micros) + (performance.now() - startMs - 10) * 1000;
  }

  /** The time of the only start in the limit of a key. */
  async function startOf(key: string): Promise<number> {
    const [stamp] = await readHitTimes(redis.connect(), 'packed', `${prefix}:{${key}}:default`);
    return stamp!;
  }

  test('a process that was busy when its turn came starts on a later turn', async () => {
    const [waiting, other] = await joinBoth();
    const held = await other.wait('api');
    const next = waiting.wait('api');
    await untilQueued();
    // The server frees the unit while this process does nothing.
    await redis.server.run('CLIENT', 'PAUSE', '10000', 'WRITE');
    const refunded = other.refund(held);
    await untilBlocked('the refund');
    const untilMicros = await timeBlockDuringTurns();
    await Promise.all([next, refunded]);
    expect(await startOf('api')).toBeGreaterThan(untilMicros);
  });

  test.each([
    ['in one command', () => undefined],
    ['in two commands', () => new Promise(setImmediate)],
  ])('a process that was busy when its first replies came starts on later turns: %s', async (_, afterFirst) => {
    const waiting = join(one);
    await joinBoth(); // The server knows the scripts.
    await waiting.peek('warm'); // From here on, the connection of this limiter works.
    await redis.server.run('CLIENT', 'PAUSE', '10000', 'WRITE');
    const first = waiting.wait('api');
    await afterFirst();
    const second = waiting.wait('other');
    await untilBlocked('the arrival');
    const untilMicros = await timeBlockDuringTurns();
    await Promise.all([first, second]);
    for (const key of ['api', 'other']) expect(await startOf(key)).toBeGreaterThan(untilMicros);
  });

  /** Arrives while the server is paused, and keeps this process busy when the turns come. */
  async function readLate<Result>(
    count: number,
    arrive: () => Promise<Result>[],
  ): Promise<PromiseSettledResult<Result>[]> {
    await redis.server.run('CLIENT', 'PAUSE', '10000', 'WRITE');
    const results = Promise.allSettled(arrive());
    await untilBlocked('each arrival', count);
    blockDuringTurns();
    return results;
  }

  test('a caller that was busy when its turn came gets its own units back', async () => {
    const rate = rollingWindow({ limit: 2, window: '1h' });
    const limits: Limits[] = [
      one,
      rate,
      rollingWindow({ limit: 2, window: '1h', minDifference: '30m' }),
      tokenBucket({ capacity: 1, refill: 1, every: '1h' }),
      tokenBucket({ capacity: 2, refill: 1, every: '1h' }),
      leakyBucket({ capacity: 1, interval: '1h' }),
      { rate, pace: leakyBucket({ capacity: 1, interval: '1h' }) },
    ];
    // What a caller gets that starts at once.
    const remaining = [0, 1, 1, 0, 1, 1, 1];
    const limiters = limits.map(join);
    for (const limiter of [...limiters, ...limiters]) await limiter.refund(await limiter.wait('before'));
    const calls = await redis.countScriptCallsOf(async () => {
      const arrive = () => limiters.map((limiter, index) => limiter.wait(`${index}`, { timeout: '10s' }));
      const results = await readLate(limits.length, arrive);
      expect(results).toMatchObject(remaining.map((units) => ({ status: 'fulfilled', value: { remaining: units } })));
    });
    expect(calls).toBeGreaterThanOrEqual(2 * limits.length); // Each has arrived a second time.
  });

  test('a caller that was busy at its start in a leaky bucket does not start before those behind it', async () => {
    const limiter = join(leakyBucket({ capacity: 9, interval: '1h' }));
    await limiter.refund(await limiter.wait('before'));
    const results = await readLate(1, () => [
      limiter.wait('api', { timeout: '10s' }).finally(() => limiter.close()),
      limiter.wait('api'), // This caller starts in an hour.
    ]);
    const codes = results.map((result) => result.status === 'rejected' && result.reason.code);
    expect(codes).toEqual(['ERR_ROLLGATE_WAIT_TIMEOUT', 'ERR_ROLLGATE_LIMITER_CLOSED']);
  });

  /**
   * Which of two callers starts first. The process of the first one reads the first reply to a command of a queue late, but before the
   * start, and then has as many further commands.
   */
  async function firstAfterLateReply(limits: Limits, commands: number): Promise<string> {
    const key = freshPrefix();
    // Without a subscriber, its arrival is its only command.
    const [other, waiting] = [
      join(limits),
      joinQueues(redis, limits, { prefix, waiting: fairWaiting({ lease: '1h' }) }),
    ];
    await other.wait(key);
    await waiting.peek(key); // From here on, the connection of this limiter works.
    const starts: Promise<string>[] = [];
    await readLate(1, () => {
      starts.push(waiting.wait(key).then(() => 'first'));
      return [];
    });
    for (let count = 0; count < commands; count++) await waiting.wait(freshPrefix());
    starts.push(other.wait(key).then(() => 'second'));
    starts[1]!.catch(() => {});
    const first = await Promise.race(starts);
    await other.close();
    return first;
  }

  test.each([
    ['has further commands', 5],
    ['has no other command', 0],
  ])('a caller whose reply came late starts on time if its process %s', async (_, commands) => {
    const limits = leakyBucket({ capacity: 9, interval: '1s' });
    let first: string | undefined;
    // A busy machine may be late for the start as well.
    for (let attempt = 0; attempt < 20 && first !== 'first'; attempt++)
      first = await firstAfterLateReply(limits, commands);
    expect(first).toBe('first');
  });

  test('a message that comes twice frees no unit of an action that runs', async () => {
    const [waiting, other] = await joinBoth();
    const listener = redis.connect();
    const messages: [string, string][] = [];
    listener.on('pmessage', (_, channel: string, text: string) => messages.push([channel, text]));
    await listener.psubscribe('rollgate:*');
    const held = await other.wait('api');
    const next = waiting.wait('api');
    await untilQueued();
    await other.refund(held);
    await next;
    await until('the message has come here, too', async () => messages.some(([, text]) => text.includes(',1 ')));
    for (const [channel, text] of messages) await redis.server.run('PUBLISH', channel, text);
    await waiting.peek('api'); // A refund would have been sent before.
    expect(await other.peek('api')).toMatchObject({ remaining: 0 });
  });

  test.each([
    ['', undefined],
    [' on an injected clock', manualClock(1e12)],
  ])('a caller that gives up between its turn and its start%s frees the start', async (_, clock) => {
    const limiter = joinQueues(redis, leakyBucket({ capacity: 1, interval: '1h' }), { prefix, clock });
    await limiter.check('api');
    const controller = new AbortController();
    const wait = limiter.wait('api', { signal: controller.signal });
    wait.catch(() => {});
    await until('it has its turn', async () => (await limiter.peek('api')).remaining === 0);
    controller.abort(new Error('enough'));
    await expect(wait).rejects.toThrow('enough');
    await until('its start is free', async () => (await limiter.peek('api')).remaining === 1);
  });

  test('a caller that has given up before it reads its turn gives the units back', async () => {
    const [waiting, other] = await joinBoth();
    const held = await other.wait('api');
    const controller = new AbortController();
    const wait = waiting.wait('api', { signal: controller.signal });
    wait.catch(() => {});
    await untilQueued();
    await redis.server.run('CLIENT', 'PAUSE', '10000', 'WRITE');
    const refunded = other.refund(held);
    await untilBlocked('the refund');
    blockDuringTurns();
    controller.abort(new Error('enough')); // The message with the turn has come, but nothing has read it.
    await expect(wait).rejects.toThrow('enough');
    await refunded;
    await until('its unit is free', async () => (await other.peek('api')).remaining === 1);
  });

  test('a caller that gives up while it reads its turn gives the units back', async () => {
    const subscriber = redis.connect();
    const [waiting, other] = [joinQueues(redis, one, { prefix, subscriber }), join(one)];
    for (const limiter of [waiting, other, waiting, other]) await limiter.wait(freshPrefix());
    const held = await other.wait('api');
    const controller = new AbortController();
    const wait = waiting.wait('api', { signal: controller.signal });
    wait.catch(() => {});
    await untilQueued();
    subscriber.on('message', (_, text: string) => text.includes(',1 ') && controller.abort(new Error('enough')));
    await other.refund(held);
    await expect(wait).rejects.toThrow('enough');
    await until('its unit is free', async () => (await other.peek('api')).remaining === 1);
  });

  test('no action starts before its time by the clock of the server, however long replies take', async () => {
    const proxy = await FaultyProxy.start(Number(new URL(redis.server.url).port));
    const client = new Redis(proxy.port, '127.0.0.1');
    redis.beforeStop(() => {
      client.disconnect();
      void proxy.stop();
    });
    const limits = leakyBucket({ capacity: 1, interval: '500ms' });
    const waiting = joinQueues(redis, limits, { prefix, client, waiting: fairWaiting({ lease: '1h' }) });
    const other = join(limits);
    proxy.delay(100); // So the process knows the time of the server to within 200 milliseconds.
    for (const limiter of [other, waiting, waiting]) await limiter.wait(freshPrefix());
    await other.check('api');
    await waiting.wait('api');
    // At the time of the last start, the next one is free.
    expect((await other.peek('api')).remaining).toBeGreaterThan(0);
  });

  test('a caller whose start is after its timeout does not wait for it, and frees the start', async () => {
    const limiter = join(leakyBucket({ capacity: 1, interval: '1h' }));
    await limiter.check('api');
    const wait = limiter.wait('api', { timeout: '30m' });
    await expect(wait).rejects.toMatchObject({ code: 'ERR_ROLLGATE_WAIT_TIMEOUT' });
    await until('its start is free', async () => (await limiter.peek('api')).remaining === 1);
  });

  test('no other caller gets the units of one that was too late for its start in a leaky bucket', async () => {
    const limits = { rate: one, pace: leakyBucket({ capacity: 1, interval: '1h' }) };
    const limiters = [join(limits), join(limits)] as const;
    for (const limiter of [...limiters, ...limiters]) await limiter.refund(await limiter.wait('before'));
    await redis.server.run('CLIENT', 'PAUSE', '10000', 'WRITE');
    const waits: Promise<number>[] = [];
    for (const [index, limiter] of limiters.entries()) {
      waits.push(limiter.wait('api').then(() => index));
      await untilBlocked('each arrival', index + 1);
    }
    blockDuringTurns();
    expect(await Promise.race(waits)).toBe(0);
    waits[1]!.catch(() => {});
    await limiters[1].close();
  });

  test('the units of callers that have left do not count', async () => {
    const [waiting, other] = await joinBoth();
    await other.check('api');
    const controller = new AbortController();
    for (let count = 0; count < 2; count++) waiting.wait('api', { signal: controller.signal }).catch(() => {});
    await untilQueued(2);
    expect(await redis.server.run('ZSCORE', queue(), '+')).toBe('-2');
    controller.abort();
    await untilQueued(0);
    expect(Number(await redis.server.run('ZSCORE', queue(), '+'))).toBeCloseTo(0);
  });
});

describe('the line of a process', () => {
  /** A line whose room collects what it sends, and its timers, which the test runs. */
  function createLine() {
    const sent: string[] = [];
    const inputs: string[] = [];
    const delaysMs: number[] = [];
    const timers: (() => void)[] = [];
    const room: Partial<Room> = {
      ...{ leaseMs: 5000, hasClock: false, getsMessages: true, lead: new AskLead() },
      nowMs: () => 0,
      after(delayMs, callback) {
        delaysMs.push(delayMs);
        timers.push(callback);
        return () => {};
      },
      drop() {},
      caller: () => ({ nowMicros: undefined, owner: 'owner', contact: 1, leaseMs: 5000 }),
      send({ encoding }) {
        sent.push(encoding.kind);
        inputs.push(encoding.input);
      },
    };
    const group: Partial<TicketGroup> = {
      ...{ id: 'group', horizonMicros: 25_000, isEstimate: true, keys: [] },
      encode: (kind, _, rest) => ({ kind, parts: 0, plan: '', input: rest.join(' ') }),
      costsText: () => '1',
      waitOf: ({ wait }) => wait,
    };
    return { line: new TicketLine(group as TicketGroup, room as Room), sent, inputs, delaysMs, timers };
  }

  const createTicket = (id: number) => new Ticket(id, { maxWaiting: Infinity } as StoreWait, 1);

  test('a caller that was too late for its turn reads news from before it, because the clock of the server was set back', () => {
    const { line, sent } = createLine();
    const ticket = createTicket(1);
    line.enter(ticket);
    ticket.grantedMicros = 10e6;
    ticket.grant({} as Turn);
    line.remove(ticket);
    ticket.waitAgain();
    line.restore(ticket);
    line.accept(ticket, { kind: 'queued', id: 1, number: 7, wait: 2e6, least: 2e6 }, 7e6, 0);
    expect([ticket.number, ticket.dueMs]).toEqual([7, 2000]);
    expect(sent).toEqual(['enter', 'restore']);
  });

  test('a process does not ask for the turn of a caller before that of the one ahead', () => {
    const { line, delaysMs } = createLine();
    const [first, second] = [createTicket(1), createTicket(2)];
    for (const ticket of [first, second]) line.enter(ticket);
    // The second one has arrived when less was known about the first one.
    line.accept(second, { kind: 'queued', id: 2, number: 8, wait: 150_000, least: 150_000 }, 7e6, 0);
    line.accept(first, { kind: 'first', id: 1, wait: 250_000, settings: 0 }, 7e6, 0);
    expect(delaysMs.at(-1)).toBe(246);
  });

  test('a process asks for turns in the order of their numbers, whichever callers have returned or left', () => {
    const { line, sent, inputs, timers } = createLine();
    const enter = (id: number, number = id) => {
      const ticket = Object.assign(createTicket(id), { number });
      line.enter(ticket);
      return ticket;
    };
    line.leave(enter(7)); // Nobody is left.
    const [third, first, newest] = [enter(3), enter(1), enter(9, 0)];
    const fifth = enter(5);
    for (const id of [2, 4]) enter(id);
    line.accept(newest, { kind: 'queued', id: 9, number: 6, wait: 2e6, least: 2e6 }, 7e6, 0);
    const eighth = enter(8);
    for (const ticket of [third, first, eighth, fifth]) line.leave(ticket);
    line.remove(fifth); // It has left already.
    enter(10);
    line.ask(Infinity);
    timers.at(-1)!();
    expect(sent.at(-1)).toBe('sync');
    expect(inputs.at(-1)).toBe('2 2 1 4 4 1 9 6 1 10 10 1');
  });
});
