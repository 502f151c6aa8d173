import { randomUUID } from 'node:crypto';
import { type Decision, type LimitDecision, type Limits, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { describedLimiters, describeLimiter, type KeysOfOptions, keysOf } from '@rollgate/core/observe';
import { hashKey, isMemoryStore, MAX_KEY_LENGTH } from '@rollgate/core/store';
import fc from 'fast-check';
import { limitOf, minuteLimit, withQuotas } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { type CheckContext, createLimiter, type Requirement, TIMEOUT } from './check.js';
import { KEYS } from './keys.js';

const SECOND = 1_000_000;
/** More than a store reads at once. */
const MANY = 1200;

/** Whether the store can list its keys, which is a capability. */
const canList = (store: Store): boolean => isMemoryStore(store) || store.inspection !== undefined;

const open = <Given extends Limits>({ store }: Pick<CheckContext, 'store'>, limits: Given) =>
  new RateLimiter({ limits, store, prefix: `run-${randomUUID()}`, timeout: TIMEOUT });

/** Returns the names of what is listed, sorted. A name that comes twice stands there twice. */
async function list(limiter: RateLimiter, options?: KeysOfOptions): Promise<string[]> {
  const names: string[] = [];
  for await (const { limit, key } of keysOf(limiter, options)) names.push(`${limit} ${key}`);
  return names.sort();
}

type Step =
  | { readonly kind: 'check'; readonly key: string; readonly costs: readonly [number, number] }
  | { readonly kind: 'reset'; readonly key: string }
  | { readonly kind: 'refund' }
  | { readonly kind: 'pass'; readonly seconds: number };

const key = fc.constantFrom('a', 'b', 'ab', 'abc', '%', '{a}:b', 'ä');
const cost = fc.integer({ min: 0, max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('check'), key, costs: fc.tuple(cost, cost) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset'), key }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'refund' } as const) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass'), seconds: fc.integer({ min: 1, max: 70 }) }) },
);

/** The oracle keeps the time and the cost of each action of two rolling windows. */
async function expectNaiveList(context: CheckContext, steps: readonly Step[], start: string): Promise<void> {
  const { clock } = context;
  const windows = { short: 20, long: 60 };
  const limiter = open(context, {
    short: rollingWindow({ limit: 3, window: '20s' }),
    long: rollingWindow({ limit: 5, window: '1m' }),
  });
  let hits: {
    readonly name: 'short' | 'long';
    readonly key: string;
    readonly micros: number;
    readonly decision: Decision;
  }[] = [];
  let last: { readonly decision: Decision<'short' | 'long'> } | undefined;
  for (const step of steps) {
    clock.micros += step.kind === 'pass' ? step.seconds * SECOND : 1; // So each action has a time of its own.
    if (step.kind === 'check') {
      const [short, long] = step.costs;
      const decision = await limiter.check(step.key, { cost: { short, long } });
      last = { decision };
      const recorded = (['short', 'long'] as const).filter((_, index) => decision.allowed && step.costs[index]! > 0);
      for (const name of recorded) hits.push({ name, key: step.key, micros: clock.micros, decision });
    } else if (step.kind === 'reset') {
      await limiter.reset(step.key);
      hits = hits.filter(({ key }) => key !== step.key);
    } else if (step.kind === 'refund' && last !== undefined) {
      const { decision } = last;
      await limiter.refund(decision);
      hits = hits.filter((hit) => hit.decision !== decision);
    }
  }
  const isLive = ({ name, micros }: (typeof hits)[number]) => micros > clock.micros - windows[name] * SECOND;
  const live = hits.filter((hit) => isLive(hit) && hit.key.startsWith(start)).map(({ name, key }) => `${name} ${key}`);
  assertSame(await list(limiter, { prefix: start }), [...new Set(live)].sort(), () => 'The listed keys');
}

async function expectNaiveLists(context: CheckContext): Promise<void> {
  if (!canList(context.store)) return;
  const histories = fc.asyncProperty(
    fc.array(step, { maxLength: 30 }),
    fc.constantFrom('', 'a', 'ab', '%', '{'),
    (steps, start) => expectNaiveList(context, steps, start),
  );
  await fc.assert(histories, context.random);
}

/** Each algorithm has a state from its first record until a reset. */
async function expectEachAlgorithm(context: CheckContext): Promise<void> {
  if (!canList(context.store)) return;
  for (const algorithm of withQuotas(context.algorithms)) {
    const limiter = createLimiter(context, limitOf(minuteLimit(algorithm, 5)));
    const before = await limiter.check('ann', { cost: 2 });
    await limiter.check('bob');
    assertSame(await list(limiter), ['default ann', 'default bob'], () => `Keys of ${algorithm} after two checks`);
    for await (const { key, result } of keysOf(limiter, { prefix: 'ann' })) {
      assertSame({ ...(await limiter.peek(key)).limits.default }, { ...result }, () => `The result of ${algorithm}`);
    }
    await limiter.refund(before);
    await limiter.reset('bob');
    const used = (await limiter.peek('ann')).remaining < 5 ? ['default ann'] : [];
    assertSame(await list(limiter), used, () => `Keys of ${algorithm} after a refund and a reset`);
  }
}

/** A key comes once for a limit, with the result of a peek, whether it has used units, is closed, or both. */
async function expectClosedKeysOnce(context: CheckContext): Promise<void> {
  if (!canList(context.store)) return;
  const { clock } = context;
  const limiter = open(context, {
    login: rollingWindow({ limit: 1, window: '1m', blockFor: '5m' }),
    other: rollingWindow({ limit: 5, window: '1h' }),
  });
  // Keys that are only closed, both, and only used, in turn, and more of each than a store reads at once.
  const keys = [...Array.from({ length: MANY / 2 }, (_, index) => `${index}`), 'a'.repeat(MAX_KEY_LENGTH + 1)];
  const closed = keys.filter((_, index) => index % 3 < 2);
  await Promise.all(closed.map((key) => limiter.check(key)));
  await Promise.all(closed.map((key) => limiter.check(key)));
  clock.micros += 61 * SECOND;
  await Promise.all(
    keys.filter((_, index) => index % 3 === 1).map((key) => limiter.charge({ login: key }, { cost: { login: 1 } })),
  );
  await Promise.all(keys.filter((_, index) => index % 3 === 2).map((key) => limiter.check(key)));
  const stored = (key: string) => (key.length > MAX_KEY_LENGTH ? hashKey(key) : key);
  const expected = ['login', 'other'].flatMap((limit) => keys.map((key) => `${limit} ${stored(key)}`));
  assertSame(await list(limiter), expected.sort(), () => 'The listed keys');
  const some = keys.filter((key) => key.startsWith('11'));
  for await (const { limit, key, result } of keysOf(limiter, { prefix: '11' })) {
    const peeked = (await limiter.peek(key)).limits as Record<string, LimitDecision>;
    assertSame({ ...result }, { ...peeked[limit] }, () => `The result of ${limit} ${key}`);
    if (limit === 'login') some.splice(some.indexOf(key), 1);
  }
  assertSame(some, [], () => 'The keys that are missing');
}

/** Keys come as the caller passed them; of a long one, its hash. */
async function expectAnyCharacters(context: CheckContext): Promise<void> {
  if (!canList(context.store)) return;
  const limiter = open(context, rollingWindow({ limit: 1, window: '1h' }));
  await Promise.all(KEYS.map((key) => limiter.check(key)));
  const listed = [];
  for await (const { key, isHashed } of keysOf(limiter)) listed.push(JSON.stringify([key, isHashed]));
  const expected = KEYS.map((key) => {
    const isHashed = key.length > MAX_KEY_LENGTH;
    return JSON.stringify([isHashed ? hashKey(key) : key, isHashed]);
  });
  assertSame(listed.sort(), expected.sort(), () => 'The listed keys');
  // Some of these have a meaning in patterns of databases.
  for (const start of ['ann', '%', '_', '*', '?', '[1', '\\', "'", '$', 'ä', '😀', '__']) {
    const begins = KEYS.filter((key) => key.length <= MAX_KEY_LENGTH && key.startsWith(start));
    const expected = begins.map((key) => `default ${key}`).sort();
    assertSame(await list(limiter, { prefix: start }), expected, () => `Keys that begin with ${start}`);
  }
}

/** Keys that stay come once, whatever else comes and goes between the steps. */
async function expectEachOnce(context: CheckContext): Promise<void> {
  if (!canList(context.store)) return;
  const limiter = open(context, rollingWindow({ limit: 1, window: '1h' }));
  const stays = Array.from({ length: MANY }, (_, index) => `stays:${index}`);
  const goes = Array.from({ length: MANY }, (_, index) => `goes:${index}`);
  await Promise.all([...stays, ...goes].map((key) => limiter.check(key)));
  const listed: string[] = [];
  for await (const { key } of keysOf(limiter)) {
    listed.push(key);
    if (listed.length % 100 > 0) continue;
    const gone = goes.splice(0, 150);
    await Promise.all(gone.map((key) => limiter.reset(key)));
    await Promise.all(gone.map((_, index) => limiter.check(`comes:${listed.length}:${index}`)));
  }
  const stayed = listed.filter((key) => key.startsWith('stays')).sort();
  assertSame(stayed, [...stays].sort(), () => 'The listed keys that were there all the time');
}

/** A description is kept until it expires, and a later one of the same name and prefix replaces it. */
async function expectDescriptions(context: CheckContext): Promise<void> {
  const { store } = context;
  if (!canList(store) || isMemoryStore(store)) return;
  const name = `run-${randomUUID()} ä\0`;
  const describe = async (limits: Limits) => {
    const limiter = new RateLimiter({ name, prefix: name, limits, store, timeout: TIMEOUT });
    const description = describeLimiter(limiter, { expiry: '1h' });
    await description.ready;
    description.close();
    return (await describedLimiters(store)).filter((one) => one.name === name);
  };
  const { options } = store.inspection!;
  const burst = { algorithm: 'rolling-window', options: { limit: 5, window: '1000ms' } };
  const expected = { name, prefix: name, limits: { burst }, store: options };
  assertSame(JSON.stringify(await describe({ burst: '5/1s' })), JSON.stringify([expected]), () => 'The description');
  const longer = { algorithm: 'rolling-window', options: { limit: 9, window: '2000ms', minDifference: '5ms' } };
  const replaced = { ...expected, limits: { default: longer } };
  const limits = rollingWindow({ limit: 9, window: '2s', minDifference: '5ms' });
  assertSame(
    JSON.stringify(await describe(limits)),
    JSON.stringify([replaced]),
    () => 'The description after a change',
  );
}

export const listedKeys: readonly Requirement[] = [
  { name: 'lists the keys with a state, if it lists keys, like a naive log', verify: expectNaiveLists },
  { name: 'lists keys of each algorithm from a record to a reset', verify: expectEachAlgorithm },
  { name: 'lists a key once for a limit that has closed it', verify: expectClosedKeysOnce },
  { name: 'lists keys of any characters, and the hashes of long ones', verify: expectAnyCharacters },
  { name: 'lists keys that stay exactly once while others come and go', verify: expectEachOnce },
  { name: 'keeps descriptions of limiters, if it lists keys', verify: expectDescriptions },
];
