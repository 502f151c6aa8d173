import fc from 'fast-check';
import { MS, type NaiveLimit } from './naive-log.js';

export const limit: fc.Arbitrary<NaiveLimit> = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  window: fc.integer({ min: 1, max: 12 }).map((ms) => ms * MS),
  minDifference: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    fc.integer({ min: 1, max: 15 }).map((ms) => ms * MS),
  ),
  countRejected: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
});

export const oneLimit: fc.Arbitrary<Record<string, NaiveLimit>> = limit.map((one) => ({ one }));

export const limits: fc.Arbitrary<Record<string, NaiveLimit>> = fc.oneof(
  oneLimit,
  fc.record({ one: limit, two: limit }),
  fc.record({ one: limit, two: limit, three: limit }),
);

/** Steps that meet the boundaries of windows of whole milliseconds often, and one microsecond beside them. */
export const forwards = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 4 }).map((ms) => ms * MS) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 12 * MS + 1 }) },
  { weight: 2, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constantFrom(1e12, 40 * 24 * 3600 * 1000 * MS) },
);

/** As {@link forwards}, and back. */
export const anywhere = fc.oneof(
  { weight: 8, arbitrary: forwards },
  { weight: 2, arbitrary: fc.integer({ min: -15 * MS, max: 0 }) },
  { weight: 2, arbitrary: fc.integer({ min: -30, max: 0 }).map((ms) => ms * MS) },
  { weight: 1, arbitrary: fc.constant(-1e12) },
);

const cost = fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 7 }));

/** What is done one after the other, each a step of time after the one before. */
export const commands = (
  limits: fc.Arbitrary<Record<string, NaiveLimit>>,
  names: string[],
  step: fc.Arbitrary<number>,
) => {
  const key = fc.constantFrom(...names);
  const keys = fc.tuple(key, key, key);
  const command = fc.oneof(
    { weight: 10, arbitrary: fc.record({ kind: fc.constant('check' as const), keys, cost, step }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('peek' as const), keys, cost, step }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('refund' as const), which: fc.nat(), step }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const), keys, step }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('change' as const), limits, step }) },
  );
  return fc.array(command, { maxLength: 60 });
};

/** One of {@link commands}. */
export type Command = ReturnType<typeof commands> extends fc.Arbitrary<(infer One)[]> ? One : never;
