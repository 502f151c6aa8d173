import fc from 'fast-check';
import type { LimitSpec } from '../../../store-conformance/src/algorithms.js';
import type { LimitSpecs } from '../../../store-conformance/src/reference-model.js';
import type { CallStep, FaultStep, LimiterSpec, ProcessSpec, Schedule, Step } from './schedule.js';

/** A record whose values print as source code. */
const record = <Model extends object>(model: { [Key in keyof Model]: fc.Arbitrary<Model[Key]> }): fc.Arbitrary<Model> =>
  fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<Model>;

const quota = fc.integer({ min: 1, max: 5 });
const windowMs = fc.constantFrom(40, 200, 1000, 5000);
const minDifference = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom(10, 300) },
);

const windowOptions = record({ limit: quota, window: windowMs, minDifference });
const countRejected = fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true));
const rollingOptions = record({ limit: quota, window: windowMs, minDifference, countRejected });
// A token takes whole microseconds, because each store decides how a bucket reads the fractions of another one.
const tokenOptions = record({ capacity: quota, refill: fc.constantFrom(1, 2, 5), every: windowMs, minDifference });
// The length 0 is that of a limit of `block()`. `block` of a limiter charges another one.
const blockOptions = record({ length: fc.constantFrom(0, 40, 1000, null) });
const leakyOptions = record({ capacity: quota, interval: fc.constantFrom(10, 100, 700) });

const limit: fc.Arbitrary<LimitSpec> = fc.oneof(
  { weight: 5, arbitrary: rollingOptions.map((options) => ({ algorithm: 'rollingWindow' as const, options })) },
  windowOptions.map((options) => ({ algorithm: 'fixedWindow' as const, options })),
  windowOptions.map((options) => ({ algorithm: 'slidingWindowCounter' as const, options })),
  windowOptions.map((options) => ({ algorithm: 'bucketedWindow' as const, options })),
  tokenOptions.map((options) => ({ algorithm: 'tokenBucket' as const, options })),
  leakyOptions.map((options) => ({ algorithm: 'leakyBucket' as const, options })),
  blockOptions.map((options) => ({ algorithm: 'block' as const, options })),
);

const plan: fc.Arbitrary<LimitSpecs> = fc.oneof(
  { weight: 2, arbitrary: limit.map((one) => ({ one })) },
  { weight: 1, arbitrary: record({ one: limit, two: limit }) },
);

const limiter: fc.Arbitrary<LimiterSpec> = record({
  plan: fc.nat(1),
  timeoutMs: fc.constantFrom(50, 200, 500),
  onStoreError: fc.constantFrom('throw', 'fallback', 'allow', 'deny'),
});

const process: fc.Arbitrary<ProcessSpec> = record({
  limiters: fc.array(limiter, { minLength: 1, maxLength: 2 }),
  denialMaxAgeMs: fc.constantFrom(1000, 20, null),
  resends: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  queuesOffline: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  retries: fc.constantFrom(20, 2),
});

const processNumber = fc.nat(2);
const limiterNumber = fc.nat(1);
const names = fc.tuple(fc.constantFrom('ann', 'ann', 'bob'), fc.constantFrom('all', 'all', 'ann'));
const ownCost = fc.integer({ min: 0, max: 3 });
const cost = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 1, arbitrary: fc.tuple(ownCost, ownCost) },
);
const settledCost = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.tuple(ownCost, ownCost));
const times = fc.oneof(
  { weight: 60, arbitrary: fc.constant(1) },
  { weight: 40, arbitrary: fc.integer({ min: 2, max: 6 }) },
  { weight: 1, arbitrary: fc.constant(120) }, // More than one message contains.
);
const back = fc.oneof({ weight: 3, arbitrary: fc.nat(2) }, fc.nat(20));

const check = record({
  kind: fc.constant('check' as const),
  process: processNumber,
  limiter: limiterNumber,
  names,
  cost,
  times,
});
const call: fc.Arbitrary<CallStep> = fc.oneof(
  { weight: 10, arbitrary: check },
  { weight: 2, arbitrary: check.map((step) => ({ ...step, kind: 'peek' as const })) },
  { weight: 1, arbitrary: check.map((step) => ({ ...step, kind: 'charge' as const, times: 1 })) },
  { weight: 4, arbitrary: record({ kind: fc.constant('settle'), process: processNumber, back, settled: settledCost }) },
  {
    weight: 7,
    arbitrary: record({
      kind: fc.constant('refund'),
      process: processNumber,
      back,
      times: fc.constantFrom(1, 1, 2),
    }),
  },
  {
    weight: 3,
    arbitrary: record({ kind: fc.constant('reset'), process: processNumber, limiter: limiterNumber, names }),
  },
);

const reconnectMs = fc.constantFrom(1, 50, 400);
const forMs = fc.constantFrom(10, 150, 700, 3000);
const clockMs = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(1, 150, 3000, 1e9) },
  { weight: 1, arbitrary: fc.constantFrom(-1, -30, -150, -3000, -1e9) },
);
const fault: fc.Arbitrary<FaultStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: record({ kind: fc.constant('cut'), process: processNumber, arriving: fc.nat(3), reconnectMs }),
  },
  { weight: 4, arbitrary: record({ kind: fc.constant('loseReply'), process: processNumber, reconnectMs }) },
  {
    weight: 2,
    arbitrary: record({ kind: fc.constant('silence'), process: processNumber, forMs, reconnectMs }),
  },
  {
    weight: 2,
    arbitrary: record({
      kind: fc.constant('slow'),
      process: processNumber,
      byMs: fc.constantFrom(0, 0, 20, 60, 250),
    }),
  },
  {
    weight: 1,
    arbitrary: record({
      kind: fc.constant('pause'),
      process: processNumber,
      forMs: fc.constantFrom(5, 40, 300),
    }),
  },
  { weight: 1, arbitrary: record({ kind: fc.constant('stall'), forMs }) },
  { weight: 1, arbitrary: record({ kind: fc.constant('fail'), forMs }) },
  { weight: 1, arbitrary: record({ kind: fc.constant('clock'), byMs: clockMs }) },
  { weight: 1, arbitrary: record({ kind: fc.constant('flush') }) },
  {
    weight: 1,
    arbitrary: record({
      kind: fc.constant('restart'),
      lost: fc.oneof(fc.constant(0), fc.nat(8)),
      downMs: forMs,
      clockMs,
    }),
  },
);

const afterMicros = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 3000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1000, max: 60_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 50_000, max: 600_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 500_000, max: 6_000_000 }) },
);
const step: fc.Arbitrary<Step> = fc
  .tuple(fc.oneof({ weight: 5, arbitrary: call as fc.Arbitrary<CallStep | FaultStep> }, fault), afterMicros)
  .map(([what, afterMicros]) => ({ ...what, afterMicros }));

/** A settlement whose reply is lost, so that a client resends it. */
const resentSettlement: fc.Arbitrary<Step[]> = fc
  .tuple(processNumber, back, settledCost, reconnectMs, afterMicros)
  .map(([process, back, settled, reconnectMs, afterMicros]) => [
    { kind: 'loseReply', process, reconnectMs, afterMicros },
    { kind: 'settle', process, back, settled, afterMicros: 0 },
  ]);

const steps = fc.oneof({ weight: 14, arbitrary: step.map((one) => [one]) }, { weight: 1, arbitrary: resentSettlement });

/** Schedules that find defects: small limits, few keys and many faults. */
export const schedules: fc.Arbitrary<Schedule> = record({
  log: fc.constantFrom('packed', 'sorted-set'),
  isSliced: fc.boolean(),
  plans: fc.array(plan, { minLength: 1, maxLength: 2 }),
  processes: fc.array(process, { minLength: 1, maxLength: 3 }),
  steps: fc.array(steps, { maxLength: 40, size: 'max' }).map((all) => all.flat()),
  draws: fc.array(fc.nat(999), { maxLength: 60, size: 'max' }),
});
