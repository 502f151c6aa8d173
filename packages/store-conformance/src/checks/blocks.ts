import { randomUUID } from 'node:crypto';
import { block } from '@rollgate/core';
import { MS } from '../algorithms/oracle.js';
import { limitOf, minuteLimit, withQuotas } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { toPlainDecision } from '../expected-decision.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

const MINUTE_MS = 60_000;

const limitsWith = (context: CheckContext) => {
  const [first] = withQuotas(context.algorithms);
  return { ...(first && { attempts: limitOf(minuteLimit(first, 5)) }), blocked: block(), banned: block() };
};

/** A block closes its own limit, and leaves all others as they are. A reset opens it. */
async function expectOwnLimit(context: CheckContext): Promise<void> {
  const { clock } = context;
  const limiter = createLimiter(context, limitsWith(context));
  clock.micros = 1e9 * MS;
  await limiter.check('ann');
  const before = toPlainDecision(await limiter.peek('ann'));
  const blocked = await limiter.block({ blocked: 'ann' }, '1m');
  assertSame(Object.keys(blocked.limits), ['blocked'], () => 'The limits in the decision of a block');
  assertSame([blocked.reason, blocked.retryAfterMs], ['blocked', MINUTE_MS], () => 'The decision of a block');
  const rejection = await limiter.check('ann');
  assertSame(rejection.violated, ['blocked'], () => 'The limits that reject a blocked key');
  const { blocked: _, ...others } = rejection.limits;
  const { blocked: open, ...othersBefore } = before.limits;
  assertSame({ ...others }, { ...othersBefore }, () => 'The other limits after a block');
  assertSame((await limiter.check('bob')).allowed, true, () => 'A check of another key');
  await limiter.reset({ blocked: 'ann' });
  assertSame(toPlainDecision(await limiter.peek('ann')), before, () => 'What is left after a reset of the block');
  const both = await limiter.block('ann', Infinity);
  assertSame(both.violated, ['blocked', 'banned'], () => 'The limits that a key for all blocks closes');
  assertSame((await limiter.check('ann')).retryAfterMs, Infinity, () => 'The wait of a block without an end');
  assertSame((await limiter.check('ann', { cost: { blocked: 0, banned: 0 } })).allowed, true, () => 'A cost of 0');
  await limiter.reset('ann');
  assertSame({ ...(await limiter.peek('ann')).limits.blocked }, { ...open }, () => 'A block after a reset of all');
}

/** Blocks that arrive together, in any order: the longest one decides. */
async function expectLongestBlock(context: CheckContext): Promise<void> {
  const prefix = `run-${randomUUID()}`;
  const stores = [context.store, context.store];
  const limiters = stores.map((store) => createLimiter({ store }, { blocked: block() }, prefix));
  const minutes = [3, 60, 7, 1, 59];
  await Promise.all(minutes.map((count, index) => limiters[index % 2]!.block('ann', count * MINUTE_MS)));
  assertSame((await limiters[0]!.peek('ann')).retryAfterMs, 60 * MINUTE_MS, () => 'The wait after five blocks');
}

async function expectSharedBlock(context: CheckContext): Promise<void> {
  const prefix = `run-${randomUUID()}`;
  const one = createLimiter(context, { blocked: block() }, prefix);
  const other = createLimiter({ store: await context.openStore() }, { blocked: block() }, prefix);
  assertSame((await other.check('ann')).allowed, true, () => 'A check before a block');
  await one.block('ann', '1h');
  assertSame((await other.check('ann')).retryAfterMs, 60 * MINUTE_MS, () => 'A check at another store after a block');
  await other.reset('ann');
  assertSame((await one.peek('ann')).allowed, true, () => 'A peek after a reset at another store');
}

export const blocks: readonly Requirement[] = [
  { name: 'a block closes its own limit until a reset, and no other one', among: ['block'], verify: expectOwnLimit },
  { name: 'the longest of several parallel blocks decides', among: ['block'], verify: expectLongestBlock },
  {
    name: 'a block at one store closes the key at another one on the same data',
    needs: ['shared'],
    among: ['block'],
    verify: expectSharedBlock,
  },
];
