import { type Limit, type LimitDecision, type RateLimiter, rollingWindow } from '@rollgate/core';
import fc from 'fast-check';
import { MS } from '../algorithms/oracle.js';
import { type AlgorithmName, limitOf, minuteLimit, takesLeases, withQuotas } from '../algorithms.js';
import { assertSame } from '../assert-same.js';
import { toPlainDecision } from '../expected-decision.js';
import { type CheckContext, createLimiter, type Requirement } from './check.js';

const quotaOf = (algorithm: AlgorithmName, quota: number): Limit => limitOf(minuteLimit(algorithm, quota));

const REJECTED = { allowed: false, limit: 0, remaining: 0, retryAfterMs: Infinity, resetMs: Infinity, delayMs: 0 };
const ALLOWED = { allowed: true, limit: Infinity, remaining: Infinity, retryAfterMs: 0, resetMs: 0, delayMs: 0 };

const figuresOf = ({ allowed, limit, remaining, retryAfterMs, resetMs, delayMs }: typeof ALLOWED) => ({
  ...{ allowed, limit, remaining, retryAfterMs, resetMs, delayMs },
});

/** The figures of a limit that is not asked. */
const unused = ({ limit, nextUnitMs }: LimitDecision): LimitDecision => ({
  ...{ allowed: true, limit, remaining: limit, retryAfterMs: 0, resetMs: 0, delayMs: 0, remainingIsEstimate: true },
  nextUnitMs: nextUnitMs === undefined ? undefined : 0,
});

/** Alone, a limit of 0 rejects every action, and one of `Infinity` allows every action. */
async function expectConstants(context: CheckContext): Promise<void> {
  for (const algorithm of withQuotas(context.algorithms)) {
    for (const [quota, expected] of [
      [0, REJECTED],
      [Infinity, ALLOWED],
    ] as const) {
      const limiter = createLimiter(context, quotaOf(algorithm, quota));
      const about = (call: string) => () => `${call} with a quota of ${quota} of ${algorithm}`;
      for (const call of ['check', 'peek', 'charge', 'check'] as const) {
        const decision = await (limiter[call] as RateLimiter['check']).call(limiter, 'ann', { cost: 1000 });
        assertSame(figuresOf(decision), expected, about(call));
        assertSame(figuresOf(decision.limits['default'] as never), expected, about(`\`limits\` of ${call}`));
        if (call === 'check') await end(limiter, algorithm, decision as never);
      }
      await limiter.reset('ann');
      const free = await limiter.check('ann', { cost: { default: 0 } });
      assertSame([free.allowed, free.limit], [true, quota], about('A check with cost 0'));
      const waited = await limiter.wait('ann').then(figuresOf, ({ code }) => code);
      assertSame(waited, quota === 0 ? 'ERR_ROLLGATE_NEVER_ALLOWED' : ALLOWED, about('`wait`'));
    }
  }
}

async function end(limiter: RateLimiter, algorithm: AlgorithmName, decision: never): Promise<void> {
  if (takesLeases(algorithm)) await limiter.release(decision);
  await limiter.settle(decision, { cost: 7 });
  await limiter.refund(decision);
}

interface Step {
  readonly call: 'check' | 'peek' | 'charge' | 'wait' | 'reset' | 'refund' | 'settle' | 'release';
  readonly costs: { readonly some: number; readonly off: number; readonly on: number };
  readonly afterMs: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  call: fc.constantFrom('check', 'check', 'check', 'peek', 'charge', 'wait', 'reset', 'refund', 'settle', 'release'),
  costs: fc.record({ some: fc.nat(3), off: fc.constantFrom(0, 0, 1, 5), on: fc.nat(9) }),
  afterMs: fc.constantFrom(0, 1, 999, 20_000, 61_000),
});

/**
 * Next to limits of 0 and `Infinity`, another limit decides and records as if it were alone. If the limit of 0 rejects, a limit with
 * `countRejected` or `blockFor` does what it does next to any limit that rejects, and others are not asked: they record nothing, and their keys count
 * as unused.
 */
async function expectOthersAlone(context: CheckContext): Promise<void> {
  const { clock } = context;
  const others = withQuotas(context.algorithms).map((algorithm) => ({
    algorithm,
    limit: limitOf(minuteLimit(algorithm, 5)),
  }));
  if (context.algorithms.includes('rollingWindow')) {
    for (const option of [{ countRejected: true }, { blockFor: '30s' }] as const)
      others.push({ algorithm: 'rollingWindow', limit: rollingWindow({ limit: 5, window: '1m', ...option }) });
  }
  const run = async ({ algorithm, limit }: (typeof others)[number], steps: readonly Step[]) => {
    const none = quotaOf(algorithm, 0);
    const any = quotaOf(algorithm, Infinity);
    const limiter = createLimiter(context, { off: none, some: limit, on: any });
    const recordsRejected = limit.countRejected || limit.blockFor !== undefined;
    const alone = createLimiter(context, { some: limit });
    // A cost above its quota can never succeed.
    const rejecting = createLimiter(context, { some: limit, off: limit }, alone.prefix);
    let last: { readonly made: never; readonly plain: never } | undefined;
    for (const { call, costs, afterMs } of steps) {
      clock.micros += afterMs * MS;
      const about = () => `${call} of ${algorithm} with the costs ${JSON.stringify(costs)}`;
      const isRejected = costs.off > 0;
      if (call === 'check' || call === 'peek' || call === 'charge') {
        const made = await (limiter[call] as RateLimiter['check']).call(limiter, 'ann', { cost: costs });
        const plain = await (isRejected && call === 'check'
          ? rejecting.check('ann', { cost: { some: costs.some, off: 1000 } })
          : (alone[call] as RateLimiter['check']).call(alone, 'ann', { cost: { some: costs.some } }));
        const isAsked = !isRejected || call !== 'check' || (recordsRejected && costs.some > 0);
        assertSame(
          { ...made.limits['some'] },
          isAsked ? { ...plain.limits['some'] } : unused(plain.limits['some']!),
          about,
        );
        const rejects = isRejected || call === 'charge';
        assertSame(made.violated.includes('off'), rejects, about);
        assertSame(made.allowed, plain.allowed && !rejects, about);
        if (call === 'check') last = { made: made as never, plain: plain as never };
      } else if (call === 'reset') {
        await limiter.reset('ann');
        await alone.reset('ann');
      } else if (call !== 'wait' && last !== undefined) {
        if (call === 'release' && !takesLeases(algorithm)) continue;
        const options = call === 'settle' ? { cost: { some: costs.some } } : undefined;
        await limiter[call](last.made, options as never);
        await alone[call](last.plain, options as never);
      } else if (isRejected) {
        const code = await limiter.wait('ann', { cost: costs }).then(
          () => 'none',
          (error) => error.code,
        );
        assertSame(code, 'ERR_ROLLGATE_NEVER_ALLOWED', about);
      }
      const left = (await limiter.peek('ann')).limits;
      assertSame({ ...left.some }, { ...toPlainDecision(await alone.peek('ann')).limits['some'] }, about);
    }
  };
  const property = fc.asyncProperty(
    fc.constantFrom(...others),
    fc.array(step, { minLength: 1, maxLength: 12 }),
    async (other, steps) => {
      clock.micros = 1e9 * MS;
      await run(other, steps);
    },
  );
  await fc.assert(property, { ...context.random, numRuns: Math.min(context.random.numRuns, 200) });
}

export const constantLimits: readonly Requirement[] = [
  { name: 'a limit of 0 rejects everything, and one of `Infinity` nothing', verify: expectConstants },
  { name: 'limits next to one of 0 or `Infinity` decide as if they were alone', verify: expectOthersAlone },
];
