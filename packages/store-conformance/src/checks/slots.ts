import assert from 'node:assert/strict';
import { concurrency, type Decision } from '@rollgate/core';
import { isMemoryStore } from '@rollgate/core/store';
import fc from 'fast-check';
import { MS } from '../oracles/oracle.js';
import { type CheckContext, makeLimiter, type Requirement } from './check.js';

const LIMIT = 4;
/** So long that no real timer renews a lease during the test. */
const LEASE_MS = 3600 * 1000;

/** A check that was allowed, as a naive list keeps it. */
interface Lease {
  readonly decision: Decision;
  units: number;
  readonly until: number;
}

const operation = fc.record({
  kind: fc.constantFrom('check', 'check', 'check', 'peek', 'release', 'refund', 'settle', 'reset'),
  cost: fc.integer({ min: 1, max: LIMIT + 1 }),
  back: fc.nat(),
  ms: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 0, max: 3 }) }, fc.constantFrom(LEASE_MS / 2, LEASE_MS)),
});

type Operation = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

/** Compares a limiter with a list of leases. */
async function runHistory(context: CheckContext, operations: readonly Operation[]): Promise<void> {
  const { clock, store } = context;
  clock.micros = 1e9 * MS;
  const limiter = makeLimiter(context, concurrency({ limit: LIMIT, lease: LEASE_MS }));
  const leaseMicros = isMemoryStore(store) ? Infinity : LEASE_MS * MS;
  let leases: Lease[] = [];
  const made: Lease[] = [];
  const expectAsListed = (decision: Decision, cost: number, taken: number) => {
    const used = leases.filter(({ until }) => until > clock.micros).reduce((sum, { units }) => sum + units, 0);
    const allowed = used - taken + cost <= LIMIT;
    const retryAfterMs = allowed ? 0 : cost > LIMIT ? Infinity : 1000;
    const { retryIsEstimate = false } = decision;
    assert.deepEqual(
      { ...decision, retryIsEstimate, limits: undefined },
      {
        ...{ allowed, limit: LIMIT, remaining: LIMIT - used, retryAfterMs, resetMs: used > 0 ? 1000 : 0, delayMs: 0 },
        ...{ violated: allowed ? [] : ['default'], degraded: false, retryIsEstimate: retryAfterMs === 1000 },
        ...(allowed ? {} : { reason: 'limit' }),
        limits: undefined,
      },
    );
  };
  for (const { kind, cost, back, ms } of operations) {
    clock.micros += ms * MS;
    const past = made.at(-1 - (back % made.length));
    if (kind === 'reset') {
      await limiter.reset('ann');
      leases = [];
    } else if (kind === 'peek') {
      expectAsListed(await limiter.peek('ann', { cost }), cost, 0);
    } else if (kind === 'check') {
      const decision = await limiter.check('ann', { cost });
      const lease = { decision, units: cost, until: clock.micros + leaseMicros };
      if (decision.allowed) leases.push(lease);
      if (decision.allowed) made.push(lease);
      expectAsListed(decision, cost, decision.allowed ? cost : 0);
    } else if (past !== undefined) {
      if (kind === 'settle') await limiter.settle(past.decision, { cost: 0 });
      else await limiter[kind](past.decision);
      leases = leases.filter((lease) => lease !== past);
    }
  }
  await limiter.reset('ann');
  for (const { decision } of made) await limiter.release(decision);
}

/** A store without `release` has no slots. */
export const slots: readonly Requirement[] = [
  {
    name: '`concurrency` decides like a list of leases, and frees the slots of each once',
    async verify(context) {
      if (context.store.release === undefined) return;
      const operations = fc.array(operation, { maxLength: 40, size: 'max' });
      await fc.assert(
        fc.asyncProperty(operations, (history) => runHistory(context, history)),
        context.random,
      );
    },
  },
];
