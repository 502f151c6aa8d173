import { RateLimiter, rollingWindow } from '@rollgate/core';
import { type GlideClient, RedisStore } from '@rollgate/redis';
import { withoutOutageWarnings } from '@rollgate/test-support/silence-outages';
import hashSlotOf from 'cluster-key-slot';
import { freshPrefix, SomeRedis } from './support/some-redis.js';

const redis = SomeRedis.forThisFile();

/** GLIDE's error for a command that it could not deliver while its hash slot moves. */
const movedError = (hashSlot: number) =>
  new Error(`An error was signalled by the server: - Moved: ${hashSlot} 127.0.0.1:7001`);

/** GLIDE's error for a server without the script. */
function throwAsGlide(error: Error): never {
  throw new Error(`An error was signalled by the server: - ${error.message.replace('NOSCRIPT', 'NoScriptError:')}`);
}

/** Runs a script, or replaces its reply. Gets the key of the script. */
type Reply = (key: string, run: () => Promise<unknown>) => Promise<unknown>;

/** The reply of the node that owns the hash slot of a key to `CLUSTER NODES`. */
type Nodes = (key: string) => string;

/** A client of a cluster with one node, as the store sees GLIDE's. Its replies are those of a real server, or replaced. */
const createGlide = (reply: Reply, nodes: Nodes, slots: readonly unknown[]): GlideClient => ({
  invokeScript: () => {},
  invokeScriptWithRoute: true,
  customCommand: async ([name, ...args], options) => {
    const run = () => redis.client.call(name!, ...args).catch(throwAsGlide);
    if (name === 'CLUSTER' && args[0] === 'SLOTS') return slots;
    if (name === 'CLUSTER') return nodes((options!.route as { readonly key: string }).key);
    return reply(args[2]!, run);
  },
});

const LIMIT = 5000;
const WINDOW_MICROS = 3_600_000_000;
/** The script's reply to the first check of a key: when the next unit is free and the remaining units, in one number. */
const FIRST_CHECK = `1 0\n${WINDOW_MICROS * (LIMIT + 1) + LIMIT - 1}`;

function createLimiter(reply: Reply, nodes: Nodes = () => '', slots: readonly unknown[] = []): RateLimiter {
  const store = new RedisStore({ client: createGlide(reply, nodes, slots), denialCache: false });
  return new RateLimiter({
    limits: rollingWindow({ limit: LIMIT, window: '1h' }),
    store,
    prefix: freshPrefix(),
    timeout: '30s',
  });
}

test('a hash slot whose node is silent does not delay the commands of another hash slot that moves', async () => {
  let resume!: () => void;
  const silence = new Promise<void>((resolve) => (resume = resolve));
  const sent = new Map<string, number>();
  const limiter = createLimiter(async (key, run) => {
    const times = (sent.get(key) ?? 0) + 1;
    sent.set(key, times);
    if (times === 1) throw movedError(hashSlotOf(key));
    if (key.includes('silent')) await silence;
    return run();
  });
  const first = limiter.check('silent');
  expect((await limiter.check('other')).allowed).toBe(true);
  resume();
  expect((await first).allowed).toBe(true);
});

test('commands of one hash slot are sent again one after the other', async () => {
  let sentCount = 0;
  let inFlight = 0;
  let mostInFlight = 0;
  const limiter = createLimiter(async (_, run) => {
    if (++sentCount <= 5) throw movedError(1);
    mostInFlight = Math.max(mostInFlight, ++inFlight);
    const reply = await run();
    inFlight -= 1;
    return reply;
  });
  const decisions = await Promise.all(Array.from({ length: 5 }, (_, index) => limiter.check(`${index}`)));
  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true]);
  expect(mostInFlight).toBe(1);
});

/** Rejects the first command of each key with a redirection of the same slot. */
const redirectOnce = (reply: Reply): Reply => {
  const redirected = new Set<string>();
  return async (key, run) => {
    if (redirected.has(key)) return reply(key, run);
    redirected.add(key);
    throw movedError(1);
  };
};

const checkAll = (limiter: RateLimiter, count: number) =>
  Promise.allSettled(Array.from({ length: count }, (_, index) => limiter.check(`${index}`)));

test('any number of redirected commands of a hash slot is sent again', async () => {
  const settled = await checkAll(createLimiter(redirectOnce(async () => FIRST_CHECK)), 1500);
  expect(settled.filter(({ status }) => status === 'rejected')).toEqual([]);
});

test.each(['timed out', 'connection broken'])(
  'commands that follow one without a reply are not sent: %s',
  async (message) => {
    let sentCount = 0;
    let isSilent = true;
    const limiter = createLimiter(
      redirectOnce(async (_, run) => {
        sentCount += 1;
        if (isSilent) throw new Error(message);
        return run();
      }),
    );
    const settled = await withoutOutageWarnings(() => checkAll(limiter, 20));
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(20);
    expect(sentCount).toBe(1);
    isSilent = false;
    expect(await limiter.check('later')).toMatchObject({ remaining: 4999 });
  },
);

test('commands that follow one with an error as its reply are sent', async () => {
  let sentCount = 0;
  const limiter = createLimiter(
    redirectOnce(async () => {
      if (++sentCount === 1) throw new Error('An error was signalled by the server: - ResponseError: OOM');
      return FIRST_CHECK;
    }),
  );
  const settled = await withoutOutageWarnings(() => checkAll(limiter, 3));
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
});

test('commands that have waited for long are not sent', async () => {
  let sentCount = 0;
  const now = performance.now.bind(performance);
  const clock = jest.spyOn(performance, 'now');
  const limiter = createLimiter(
    redirectOnce(async () => {
      sentCount += 1;
      clock.mockImplementation(() => now() + 10_001);
      return FIRST_CHECK;
    }),
  );
  const settled = await withoutOutageWarnings(() => checkAll(limiter, 3));
  clock.mockRestore();
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(settled[1]).toMatchObject({ reason: { message: expect.stringContaining('slot 1 within 10 s') } });
  expect(sentCount).toBe(1);
});

/** The line of a node in the reply to `CLUSTER NODES`, with the hash slot that moves from there. */
const describeNode = (range: string, moving: number) =>
  `an-id 127.0.0.1:7001@17001 myself,master - 0 0 1 connected ${range} [${moving}->-id]\n`;

test.each([
  ['of another hash slot leaves checks together', 1],
  ['of this hash slot separates checks', 2],
])('a timeout of GLIDE during a move %s', async (_, scriptCount) => {
  const hashSlot = hashSlotOf('{ann}');
  let sentCount = 0;
  const reply: Reply = async (_key, run) => {
    if (sentCount++ === 0) throw new Error('timed out');
    return run();
  };
  const moving = scriptCount === 1 ? hashSlot + 1 : hashSlot;
  const limiter = createLimiter(reply, () => describeNode('0-16383', moving));
  const checkBoth = () => Promise.all([limiter.check('ann'), limiter.check('ann')]);
  await withoutOutageWarnings(() => expect(checkBoth()).rejects.toThrow('requestTimeout'));
  await checkBoth(); // Now the server has the script.
  const before = sentCount;
  await checkBoth();
  expect(sentCount - before).toBe(scriptCount);
});

test.each([
  ['is not known', []],
  ['is out of date', [[0, 16383, ['127.0.0.1', 7001]]]],
])('the store detects the move of a hash slot among timeouts of others if its owner %s', async (_, slots) => {
  const [staying, moving] = [hashSlotOf('{ann}'), hashSlotOf('{bob}')];
  const timedOut = new Set<string>();
  const sent: string[] = [];
  const limiter = createLimiter(
    async (key, run) => {
      sent.push(key);
      if (timedOut.has(key)) return run();
      timedOut.add(key);
      throw new Error('timed out');
    },
    (key) => (hashSlotOf(key) === moving ? describeNode(`${moving}`, moving) : describeNode(`${staying}`, 0)),
    slots,
  );
  const check = (key: string) => Promise.allSettled([limiter.check(key), limiter.check(key)]);
  await withoutOutageWarnings(() => Promise.all([check('ann'), check('bob')]));
  await check('bob'); // Now the server has the script.
  sent.length = 0;
  await check('bob');
  expect(sent).toHaveLength(2);
});
