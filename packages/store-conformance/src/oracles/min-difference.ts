import { MS, type Oracle } from './oracle.js';

/** What an algorithm knows, and the newest action as far as it was recorded with a minimal difference. */
interface Spaced<State> {
  readonly inner: State;
  readonly newest: number;
}

/** Adds a minimal time between two actions to an algorithm whose actions matter for `keep` microseconds at most. */
export function withMinDifference<State, Receipt>(
  inner: Oracle<State, Receipt>,
  keep: number,
  minDifference: number | undefined,
): Oracle<Spaced<State>, Receipt> {
  const difference = (minDifference ?? 0) * MS;
  return {
    ...inner,
    empty: { inner: inner.empty, newest: -Infinity },
    isImplausible: (state, now) =>
      inner.isImplausible(state.inner, now) || state.newest - now > Math.max(keep, difference),
    expires: (state) => Math.max(inner.expires(state.inner), state.newest + difference),
    allows: (state, at, cost) =>
      (difference === 0 || at >= state.newest + difference) && inner.allows(state.inner, at, cost),
    allowsUnits: (state, at, cost) => inner.allows(state.inner, at, cost),
    free: (state, at) => inner.free(state.inner, at),
    delay: (state, at) => inner.delay(state.inner, at),
    record(state, now, cost) {
      const [recorded, receipt] = inner.record(state.inner, now, cost);
      return [{ inner: recorded, newest: difference === 0 ? -Infinity : Math.max(now, state.newest) }, receipt];
    },
    refund: (state, receipt, now) => ({ ...state, inner: inner.refund(state.inner, receipt, now) }),
  };
}
