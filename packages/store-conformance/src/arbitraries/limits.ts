import fc from 'fast-check';
import type { TokenFractions } from '../algorithms/algorithm.js';
import { type AlgorithmName, algorithmOf, closingNames, type LimitSpec, mayReport, toSpec } from '../algorithms.js';
import type { LimitSpecs } from '../reference-model.js';

/** A limit of this algorithm, so small that it is full soon. */
export function smallLimit(algorithm: AlgorithmName, fractions: TokenFractions): fc.Arbitrary<LimitSpec> {
  return algorithmOf(algorithm)
    .small(fractions)
    .map((options) => toSpec(algorithm, options));
}

/** A limit of this algorithm that is far larger than the small ones. */
export function largeLimit(algorithm: AlgorithmName, fractions: TokenFractions): fc.Arbitrary<LimitSpec> {
  return fc.constantFrom(...algorithmOf(algorithm).large(fractions)).map((options) => toSpec(algorithm, options));
}

/** A small or sometimes a large limit of this algorithm. */
export function limit(algorithm: AlgorithmName, fractions: TokenFractions): fc.Arbitrary<LimitSpec> {
  return fc.oneof({ weight: 12, arbitrary: smallLimit(algorithm, fractions) }, largeLimit(algorithm, fractions));
}

/** A small limit, sometimes with `blockFor` if it counts units. */
export function blockingLimit(algorithm: AlgorithmName, fractions: TokenFractions): fc.Arbitrary<LimitSpec> {
  const some = limit(algorithm, fractions);
  if (!closingNames.includes(algorithm)) return some;
  const blockFor = fc.option(fc.integer({ min: 1, max: 15 }), { nil: undefined, freq: 2 });
  return fc.tuple(some, blockFor).map(([{ options }, length]) => {
    return toSpec(algorithm, length === undefined ? options : { ...options, blockFor: length });
  });
}

export function oneLimit(algorithm: AlgorithmName): (fractions: TokenFractions) => fc.Arbitrary<LimitSpecs> {
  return (fractions) => limit(algorithm, fractions).map((one) => ({ one }));
}

/** Up to three limits of any of these algorithms. */
export function limits(algorithms: readonly AlgorithmName[]): (fractions: TokenFractions) => fc.Arbitrary<LimitSpecs> {
  return (fractions) => {
    const any = fc.oneof(...algorithms.map((algorithm) => blockingLimit(algorithm, fractions)));
    return fc.oneof(
      any.map((one) => ({ one })),
      fc.record({ one: any, two: any }),
      fc.record({ one: any, two: any, three: any }),
    );
  };
}

/** One limit of this algorithm that may have the option `enforce`. */
export function oneThatMayReport(algorithm: AlgorithmName): (fractions: TokenFractions) => fc.Arbitrary<LimitSpecs> {
  return (fractions) => oneLimit(algorithm)(fractions).filter(({ one }) => mayReport(one!));
}

/** Such limits, some of which do not enforce their quota. */
export function someUnenforced(
  limitsWith: (fractions: TokenFractions) => fc.Arbitrary<LimitSpecs>,
): (fractions: TokenFractions) => fc.Arbitrary<LimitSpecs> {
  return (fractions) =>
    fc.tuple(limitsWith(fractions), fc.array(fc.boolean(), { minLength: 3, maxLength: 3 })).map(([specs, enforced]) => {
      const entries = Object.entries(specs).map(([name, spec], index): [string, LimitSpec] => {
        return [name, enforced[index] || !mayReport(spec) ? spec : { ...spec, enforce: false }];
      });
      return Object.fromEntries(entries);
    });
}

const plainWindow: fc.Arbitrary<LimitSpec> = fc
  .record({ limit: fc.constantFrom(1, 2, 5, 20), window: fc.constantFrom(8, 20) })
  .map((options) => ({ algorithm: 'rollingWindow', options }));

/** One or two rolling windows without options. */
export const plainWindows: fc.Arbitrary<LimitSpecs> = fc.oneof(
  plainWindow.map((one) => ({ one })),
  fc.record({ one: plainWindow, two: plainWindow }),
);
