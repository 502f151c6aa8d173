import type { OnStoreError } from '@rollgate/core';
import fc from 'fast-check';
import type { LimitSpec } from '../../../store-conformance/src/algorithms.js';
import type { LimitSpecs } from '../../../store-conformance/src/reference-model.js';
import type { Log } from '../support/some-redis.js';

type ValueOf<Model> = Model extends fc.Arbitrary<infer Value> ? Value : never;

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

const limiter = record({
  /** The index of its plan in the schedule. */
  plan: fc.nat(1),
  timeoutMs: fc.constantFrom(50, 200, 500),
  onStoreError: fc.constantFrom<OnStoreError[]>('throw', 'fallback', 'allow', 'deny'),
});
export type LimiterSpec = ValueOf<typeof limiter>;

/** A process with one client, one store and some limiters. */
const process = record({
  limiters: fc.array(limiter, { minLength: 1, maxLength: 2 }),
  /** `null` without a denial cache. */
  denialMaxAgeMs: fc.constantFrom(1000, 20, null),
  /** Whether the client resends what had no reply when a connection broke. */
  resends: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  /** Whether the client keeps commands until it is connected. */
  queuesOffline: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)),
  /** How many attempts to connect may fail before the client rejects everything that waits. */
  retries: fc.constantFrom(20, 2),
});
export type ProcessSpec = ValueOf<typeof process>;

// Indices of processes and limiters are taken modulo their count.
const processNumber = fc.nat(2);
const limiterNumber = fc.nat(1);
/** A name for each limit of a plan, in their order. */
const names = fc.tuple(fc.constantFrom('ann', 'ann', 'bob'), fc.constantFrom('all', 'all', 'ann'));
export type Names = ValueOf<typeof names>;
const ownCost = fc.integer({ min: 0, max: 3 });
/** The cost for all limits of a plan, or one for each in their order. */
const cost = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 1, arbitrary: fc.tuple(ownCost, ownCost) },
);
export type Cost = ValueOf<typeof cost>;
const settledCost = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.tuple(ownCost, ownCost));
const times = fc.oneof(
  { weight: 60, arbitrary: fc.constant(1) },
  { weight: 40, arbitrary: fc.integer({ min: 2, max: 6 }) },
  { weight: 1, arbitrary: fc.constant(120) }, // More than one message contains.
);
const back = fc.oneof({ weight: 3, arbitrary: fc.nat(2) }, fc.nat(20));

/** What a process does. */
const check = record({
  kind: fc.constant<'check'>('check'),
  process: processNumber,
  limiter: limiterNumber,
  names,
  cost,
  times,
});
const call = fc.oneof(
  { weight: 10, arbitrary: check },
  { weight: 2, arbitrary: check.map((step) => ({ ...step, kind: 'peek' as const })) },
  { weight: 1, arbitrary: check.map((step) => ({ ...step, kind: 'charge' as const, times: 1 })) },
  {
    weight: 4,
    arbitrary: record({ kind: fc.constant<'settle'>('settle'), process: processNumber, back, settled: settledCost }),
  },
  {
    weight: 7,
    arbitrary: record({
      kind: fc.constant<'refund'>('refund'),
      process: processNumber,
      back,
      times: fc.constantFrom(1, 1, 2),
    }),
  },
  {
    weight: 3,
    arbitrary: record({ kind: fc.constant<'reset'>('reset'), process: processNumber, limiter: limiterNumber, names }),
  },
);
export type CallStep = ValueOf<typeof call>;

const reconnectMs = fc.constantFrom(1, 50, 400);
const forMs = fc.constantFrom(10, 150, 700, 3000);
const clockMs = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(1, 150, 3000, 1e9) },
  { weight: 1, arbitrary: fc.constantFrom(-1, -30, -150, -3000, -1e9) },
);
/** What goes wrong. */
const fault = fc.oneof(
  // The connection closes. The first `arriving` messages in flight still reach the server.
  {
    weight: 4,
    arbitrary: record({ kind: fc.constant<'cut'>('cut'), process: processNumber, arriving: fc.nat(3), reconnectMs }),
  },
  // The connection closes when the server has executed the next message and before the reply arrives.
  {
    weight: 4,
    arbitrary: record({ kind: fc.constant<'loseReply'>('loseReply'), process: processNumber, reconnectMs }),
  },
  // Nothing passes the connection any more, and the client does not notice for this time.
  {
    weight: 2,
    arbitrary: record({ kind: fc.constant<'silence'>('silence'), process: processNumber, forMs, reconnectMs }),
  },
  // From then on, each message takes this much longer.
  {
    weight: 2,
    arbitrary: record({
      kind: fc.constant<'slow'>('slow'),
      process: processNumber,
      byMs: fc.constantFrom(0, 0, 20, 60, 250),
    }),
  },
  // The process is blocked, as during a garbage collection.
  {
    weight: 1,
    arbitrary: record({
      kind: fc.constant<'pause'>('pause'),
      process: processNumber,
      forMs: fc.constantFrom(5, 40, 300),
    }),
  },
  // The server stops work.
  { weight: 1, arbitrary: record({ kind: fc.constant<'stall'>('stall'), forMs }) },
  // The server replies with an error.
  { weight: 1, arbitrary: record({ kind: fc.constant<'fail'>('fail'), forMs }) },
  // The server's clock is set forward or back.
  { weight: 1, arbitrary: record({ kind: fc.constant<'clock'>('clock'), byMs: clockMs }) },
  // The server loses its scripts.
  { weight: 1, arbitrary: record({ kind: fc.constant<'flush'>('flush') }) },
  // The server, or another one with another clock, starts without the last operations and without scripts.
  {
    weight: 1,
    arbitrary: record({
      kind: fc.constant<'restart'>('restart'),
      lost: fc.oneof(fc.constant(0), fc.nat(8)),
      downMs: forMs,
      clockMs,
    }),
  },
);
export type FaultStep = ValueOf<typeof fault>;

const afterMicros = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 3000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 1000, max: 60_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 50_000, max: 600_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 500_000, max: 6_000_000 }) },
);
const step = fc
  .tuple(fc.oneof({ weight: 5, arbitrary: call as fc.Arbitrary<CallStep | FaultStep> }, fault), afterMicros)
  .map(([what, afterMicros]) => ({ ...what, afterMicros }));
type Step = ValueOf<typeof step>;

/** A settlement whose reply is lost, so that a client resends it. */
const resentSettlement: fc.Arbitrary<Step[]> = fc
  .tuple(processNumber, back, settledCost, reconnectMs, afterMicros)
  .map(([process, back, settled, reconnectMs, afterMicros]) => [
    { kind: 'loseReply', process, reconnectMs, afterMicros },
    { kind: 'settle', process, back, settled, afterMicros: 0 },
  ]);

const steps = fc.oneof({ weight: 14, arbitrary: step.map((one) => [one]) }, { weight: 1, arbitrary: resentSettlement });

/** Everything that happens, as data. These schedules find defects: they have small limits, few keys and many faults. */
export const schedules = record({
  log: fc.constantFrom<Log[]>('packed', 'sorted-set'),
  /** Whether a script runs only a few operations, and leaves the others to the next one. */
  isSliced: fc.boolean(),
  plans: fc.array(plan, { minLength: 1, maxLength: 2 }),
  processes: fc.array(process, { minLength: 1, maxLength: 3 }),
  steps: fc.array(steps, { maxLength: 40, size: 'max' }).map((all) => all.flat()),
  /** The network's random numbers, in order. After them, every number is 0. */
  draws: fc.array(fc.nat(999), { maxLength: 60, size: 'max' }),
});

/** What happens in a simulation. Each run of a schedule has the same outcome. */
export type Schedule = ValueOf<typeof schedules>;
