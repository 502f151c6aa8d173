import { MS, type Oracle } from './oracle.js';

/**
 * What an algorithm knows, the newest action since a limit with a minimal difference has recorded, and the longest such
 * difference.
 */
interface Spaced<State> {
  readonly inner: State;
  readonly newest: number;
  readonly longest: number;
}

/** Adds a minimal time between two actions to an algorithm whose actions matter for `keep` microseconds at most. */
export function withMinDifference<State, Receipt>(
  inner: Omit<Oracle<State, Receipt>, 'renew' | 'boundaries'>,
  keep: number,
  minDifference: number | undefined,
): Oracle<Spaced<State>, Receipt> {
  const difference = (minDifference ?? 0) * MS;
  return {
    ...inner,
    empty: { inner: inner.empty, newest: -Infinity, longest: 0 },
    isImplausible: (state, now) =>
      inner.isImplausible(state.inner, now) || state.newest - now > Math.max(keep, difference),
    expires: (state) => Math.max(inner.expires(state.inner), state.newest + state.longest),
    allows: (state, at, cost) =>
      (difference === 0 || at >= state.newest + difference) && inner.allows(state.inner, at, cost),
    allowsUnits: (state, at, cost) => inner.allows(state.inner, at, cost),
    free: (state, at) => inner.free(state.inner, at),
    delay: (state, at) => inner.delay(state.inner, at),
    record(state, now, cost) {
      const [recorded, receipt] = inner.record(state.inner, now, cost);
      const longest = Math.max(difference, state.longest);
      return [{ inner: recorded, newest: longest === 0 ? -Infinity : Math.max(now, state.newest), longest }, receipt];
    },
    refund: (state, receipt, now, kept) => ({ ...state, inner: inner.refund(state.inner, receipt, now, kept) }),
  };
}
