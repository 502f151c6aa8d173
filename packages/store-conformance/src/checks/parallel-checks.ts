import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Decision, Store } from '@rollgate/core';
import { type AlgorithmName, hasQueue, limitOf, minuteLimit, quotaNames, withQuotas } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { toPlainDecision } from '../expected-decision.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

const CALLS = 1000;
const QUOTA = 100;

/** A queue allows one more than its capacity, and the order of the calls determines the starts. */
export const WITHOUT_QUEUE = quotaNames.filter((algorithm) => !hasQueue(algorithm));

/** Starts all calls in the same iteration of the event loop. */
const callAtOnce = (call: (index: number) => Promise<Decision>) =>
  Promise.all(Array.from({ length: CALLS }, (_, index) => call(index)));

async function expectExactQuota(stores: readonly Store[], algorithm: AlgorithmName): Promise<void> {
  const prefix = randomUUID();
  const limiters = stores.map((store) => createLimiter({ store }, limitOf(minuteLimit(algorithm, QUOTA)), prefix));
  const decisions = await callAtOnce((index) => limiters[index % limiters.length]!.check('ann'));
  const allowed = decisions.filter(({ allowed }) => allowed);
  const delays = allowed.map(({ delayMs }) => delayMs).sort((one, other) => one - other);
  // The action that starts at once does not wait in the queue.
  const starts = Array.from({ length: QUOTA + 1 }, (_, index) => index * 60_000);
  const expected = hasQueue(algorithm) ? starts : new Array<number>(QUOTA).fill(0);
  assertSame(delays, expected, () => `Delays of the actions that ${algorithm} allows`);
}

/** Ten callers may use 20 units each and 100 units together. */
async function expectAllOrNone(context: CheckContext): Promise<void> {
  const supported = WITHOUT_QUEUE.filter((algorithm) => context.algorithms.includes(algorithm));
  const [each, all] = [supported[0]!, supported.at(-1)!];
  const limits = {
    each: limitOf(minuteLimit(each, 20)),
    all: limitOf(minuteLimit(all, QUOTA)),
  };
  const limiter = createLimiter(context, limits);
  const callers = Array.from({ length: 10 }, (_, caller) => `caller ${caller}`);
  const keyOf = (each: string) => ({ each, all: 'all' });
  const decisions = await callAtOnce((index) => limiter.check(keyOf(callers[index % 7]!)));
  assert.equal(decisions.filter(({ allowed }) => allowed).length, QUOTA);
  for (const [index, caller] of callers.entries()) {
    const allowedCount = decisions.filter(({ allowed }, call) => allowed && call % 7 === index).length;
    const { each, all } = (await limiter.peek(keyOf(caller))).limits;
    assertSame(
      [each.remaining, all.remaining],
      [20 - allowedCount, 0],
      () => `What is left for ${caller}, and for all`,
    );
  }
}

/** One limit is full, so the other one, which allows the action, stays unchanged. */
async function expectNoTrace(context: CheckContext, full: AlgorithmName, open: AlgorithmName): Promise<void> {
  const limits = { full: limitOf(minuteLimit(full, 1)), open: limitOf(minuteLimit(open, 5)) };
  const limiter = createLimiter(context, limits);
  const key = { full: 'ann', open: 'ann' };
  for (let units = 0; (await limiter.check(key)).allowed; units++) assert.ok(units < 2, `${full} is never full`);
  const before = toPlainDecision(await limiter.peek(key));
  const rejection = await limiter.check(key);
  assertSame(rejection.violated, ['full'], () => `Violated limits when ${full} is full and ${open} is not`);
  assertSame(toPlainDecision(await limiter.peek(key)), before, () => `${open} after a rejection by ${full}`);
}

export const parallelChecks: readonly Requirement[] = [
  ...quotaNames.map((algorithm) => ({
    name: `${algorithm} allows exactly its quota of ${CALLS} concurrent checks`,
    among: [algorithm],
    verify: ({ store }: CheckContext) => expectExactQuota([store], algorithm),
  })),
  {
    name: `${CALLS} concurrent checks of two limits are recorded in both or in none`,
    among: WITHOUT_QUEUE,
    verify: expectAllOrNone,
  },
  {
    name: `two stores on the same data allow exactly the quota of ${CALLS} concurrent checks`,
    needs: ['shared'],
    async verify({ store, openStore, algorithms }) {
      const stores = [store, await openStore()];
      for (const algorithm of withQuotas(algorithms)) await expectExactQuota(stores, algorithm);
    },
  },
  {
    name: 'a check that one limit rejects leaves no trace in a limit that allowed it',
    async verify(context) {
      const algorithms = withQuotas(context.algorithms);
      for (const full of algorithms) for (const open of algorithms) await expectNoTrace(context, full, open);
    },
  },
];
