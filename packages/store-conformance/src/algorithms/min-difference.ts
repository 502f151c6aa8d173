import { MS, type Oracle } from './oracle.js';

/**
 * The state of an algorithm, the newest action since a limit with a minimal difference has recorded, and the longest
 * such difference.
 */
interface SpacedState<State> {
  readonly inner: State;
  readonly newest: number;
  readonly longestDifference: number;
}

/** Adds a minimal time between two actions to an algorithm whose actions matter for at most `keepMicros`. */
export function withMinDifference<State, Receipt>(
  inner: Omit<Oracle<State, Receipt>, 'extend' | 'extra' | 'renew' | 'boundaries' | 'usage' | 'period' | 'reserving'>,
  keepMicros: number,
  minDifference: number | undefined,
): Oracle<SpacedState<State>, Receipt> {
  const difference = (minDifference ?? 0) * MS;
  return {
    ...inner,
    empty: { inner: inner.empty, newest: -Infinity, longestDifference: 0 },
    isImplausible: (state, now) =>
      inner.isImplausible(state.inner, now) || state.newest - now > Math.max(keepMicros, difference),
    expires: (state) => Math.max(inner.expires(state.inner), state.newest + state.longestDifference),
    allows: (state, at, cost) =>
      (difference === 0 || at >= state.newest + difference) && inner.allows(state.inner, at, cost),
    allowsUnits: (state, at, cost) => inner.allows(state.inner, at, cost),
    free: (state, at) => inner.free(state.inner, at),
    delay: (state, at) => inner.delay(state.inner, at),
    record(state, now, cost) {
      const [recorded, receipt] = inner.record(state.inner, now, cost);
      const longestDifference = Math.max(difference, state.longestDifference);
      return [
        {
          inner: recorded,
          newest: longestDifference === 0 ? -Infinity : Math.max(now, state.newest),
          longestDifference,
        },
        receipt,
      ];
    },
    refund: (state, receipt, now, kept) => ({ ...state, inner: inner.refund(state.inner, receipt, now, kept) }),
    credit: (state, now, units) => ({ ...state, inner: inner.credit!(state.inner, now, units) }),
  };
}
