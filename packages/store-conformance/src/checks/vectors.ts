import type { Decision } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { MS } from '../algorithms/oracle.js';
import { algorithmNames, endsLeases, limitOf, toSpec, type Vector, vectors } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { LeaseControl } from '../lease-control.js';
import type { VectorDetails, VectorVerdict } from '../vector.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

const KEY = 'ann';

async function verifyVector(context: CheckContext, vector: Vector): Promise<void> {
  const { algorithm, options: own } = vector.limit;
  const limiter = createLimiter(context, limitOf(vector.limit));
  const title = `${algorithm} ${JSON.stringify(own)}: ${vector.title}`;
  const decisions: (Decision | undefined)[] = [];
  for (const [index, [at, operation, ...rest]] of vector.steps.entries()) {
    context.clock.micros = Math.round(at * MS);
    const decided = decisions[rest[0] as number]!;
    if (operation === 'reset') await limiter.reset(KEY);
    else if (operation === 'refund' || operation === 'release') await limiter[operation](decided);
    else if (operation === 'renew') {
      const lost = await LeaseControl.of(limiter)?.renew((own as { lease: number }).lease);
      if (lost !== undefined) assertSame(lost.length, rest[0], () => `${title}: the leases lost at ${at} ms`);
    } else if (operation === 'settle') await limiter.settle(decided, { cost: rest[1] as number });
    else {
      const [cost, allowed, remaining, retryAfterMs, resetMs, nextUnitMs, ...details] = rest as DecidingCells;
      const {
        options = own,
        enforce = vector.limit.enforce !== false,
        delayMs = 0,
        reason,
        retryIsEstimate,
        usage,
        limit,
      } = Object.assign({}, ...details) as VectorDetails;
      const spec = toSpec(algorithm, options);
      const given = { cost, limits: limitOf(enforce ? spec : { ...spec, enforce: false }) };
      const decision = await (operation === 'check'
        ? limiter.check(KEY, given)
        : operation === 'peek'
          ? limiter.peek(KEY, given)
          : operation === 'charge'
            ? limiter.charge(KEY, given)
            : credit(limiter, KEY, cost, { limits: given.limits, beyond: operation === 'extend' }));
      decisions[index] = decision;
      const result = Object.values(decision.limits)[0]!;
      // The figures of a decision are those of a limit that rejects.
      const figures = enforce ? decision : result;
      assertSame(
        [
          decision.allowed,
          decision.exceeded.length,
          figures.allowed,
          figures.remaining,
          figures.retryAfterMs,
          figures.resetMs,
          figures.nextUnitMs ?? null,
          figures.delayMs,
          figures.reason,
          figures.retryIsEstimate,
          usage && [result.spent, result.reserved],
          usage && figures.limit,
        ],
        [
          allowed || !enforce,
          allowed || enforce ? 0 : 1,
          allowed,
          remaining,
          retryAfterMs,
          resetMs,
          nextUnitMs,
          delayMs,
          allowed ? undefined : (reason ?? 'limit'),
          retryIsEstimate,
          usage,
          usage && (limit ?? given.limits.limit),
        ],
        () => `${algorithm} ${JSON.stringify(options)}: ${vector.title}: step ${index}, at ${at} ms`,
      );
    }
  }
}

type DecidingCells = readonly [cost: number, ...VectorVerdict];

/** Each vector starts with a new key. */
export const vectorRequirements: readonly Requirement[] = algorithmNames.map((algorithm) => ({
  name: `${algorithm} decides as its vectors specify`,
  among: [algorithm],
  async verify(context) {
    const all: readonly Vector[] = vectors[algorithm];
    for (const vector of all) {
      if (!vector.leasesEnd || endsLeases(context.store)) await verifyVector(context, vector);
    }
  },
}));
