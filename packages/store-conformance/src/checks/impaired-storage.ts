import assert from 'node:assert/strict';
import { type Decision, type RateLimiter, StoreError } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { type AlgorithmName, limitOf, mayCredit, minuteLimit, takesLeases, withQuotas } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { toPlainDecision } from '../expected-decision.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

const QUOTA = 100;

/** The decision, or `'failed'` if the store has failed. */
const resultOf = (decided: Promise<Decision>): Promise<Decision | 'failed'> =>
  decided.then(toPlainDecision, (error: unknown) => {
    assert.ok(error instanceof StoreError, `Expected a StoreError, got ${error}`);
    return 'failed';
  });

const expectFailure = (changed: Promise<unknown>) => assert.rejects(changed, StoreError);

/** A check reports what is spent only of limits with periods, unlike a peek. */
function asChecked(peeked: Decision): Decision {
  const limits = Object.entries(peeked.limits).map(([name, { spent, reserved, ...rest }]) => {
    return [name, rest.periodEndsAt === undefined ? rest : { ...rest, spent, reserved }];
  });
  return { ...peeked, limits: Object.fromEntries(limits) };
}

/** Checks that arrive together, of which only some must write, while the storage accepts no write. */
async function expectRejections(context: CheckContext, algorithm: AlgorithmName): Promise<void> {
  const limit = limitOf(minuteLimit(algorithm, QUOTA));
  const limiter = createLimiter(context, { each: limit, all: limit });
  const open = { each: 'open', all: 'all' };
  const full = { each: 'full', all: 'all' };
  const past = await limiter.check(open, { cost: { each: QUOTA / 2, all: 1 } });
  await limiter.check(full, { cost: { each: QUOTA, all: 1 } });
  const peek = async (key: typeof open) => toPlainDecision(await limiter.peek(key, { cost: QUOTA / 2 }));
  const [before, rejection] = [await peek(open), await peek(full)];
  await context.setReadOnly(true);
  try {
    const check = (key: typeof open) => resultOf(limiter.check(key, { cost: QUOTA / 2 }));
    const [allowed, rejected, peeked, other] = await Promise.all([check(open), check(full), peek(open), check(open)]);
    const about = () => `A check of ${algorithm} that is rejected, next to one that is not, on a read-only storage`;
    assertSame([allowed, rejected, peeked, other], ['failed', asChecked(rejection), before, 'failed'], about);
    if (!takesLeases(algorithm)) await expectFailure(limiter.charge(open));
    await expectFailure(limiter.refund(past));
    await expectFailure(limiter.reset(open));
  } finally {
    await context.setReadOnly(false);
  }
  assertSame(await peek(open), before, () => `What ${algorithm} has after calls on a read-only storage`);
}

/** Changes that leave a smaller state, by the decisions of five earlier checks. */
async function shrink(limiter: RateLimiter, decisions: readonly Decision[], algorithm: AlgorithmName): Promise<void> {
  await limiter.settle(decisions[0]!, { cost: 2 });
  await limiter.refund(decisions[2]!);
  await limiter.refund(decisions[2]!);
  await limiter.settle(decisions[4]!, { cost: 0 });
  if (takesLeases(algorithm)) await limiter.release(decisions[3]!);
  await limiter.reset('bob');
  if (mayCredit(minuteLimit(algorithm, QUOTA))) await credit(limiter, 'ann', 2);
}

/** Refunds, lower settlements, releases, credits and resets have the same effect on a full storage. */
async function expectFreedUnits(context: CheckContext, algorithm: AlgorithmName): Promise<void> {
  const states = [];
  for (const isFull of [false, true]) {
    const limiter = createLimiter(context, limitOf(minuteLimit(algorithm, QUOTA)));
    const decisions: Decision[] = [];
    for (const cost of [7, 1, 3, 1, 20]) decisions.push(await limiter.check('ann', { cost }));
    await limiter.check('bob', { cost: 5 });
    const only = await limiter.check('cleo');
    await context.setFull(isFull);
    try {
      // A check that removes expired slots first may get their memory.
      if (isFull && !takesLeases(algorithm)) await expectFailure(limiter.check('new'));
      assertSame((await limiter.check('ann', { cost: QUOTA })).allowed, false, () => `A rejection by ${algorithm}`);
      await shrink(limiter, decisions, algorithm);
      await limiter.refund(only);
    } finally {
      await context.setFull(false);
    }
    states.push(await Promise.all(['ann', 'bob', 'cleo'].map(async (key) => toPlainDecision(await limiter.peek(key)))));
  }
  assertSame(states[1], states[0], () => `What ${algorithm} has after refunds on a full storage`);
}

export const impairedStorage: readonly Requirement[] = [
  {
    name: 'a rejection needs no write, even next to a check that does',
    needs: ['setReadOnly'],
    async verify(context) {
      for (const algorithm of withQuotas(context.algorithms)) await expectRejections(context, algorithm);
    },
  },
  {
    name: 'refunds, lower settlements, releases, credits and resets need no memory',
    needs: ['setFull'],
    async verify(context) {
      for (const algorithm of withQuotas(context.algorithms)) await expectFreedUnits(context, algorithm);
    },
  },
];
