import type { Limit } from '@rollgate/core';
import { CHECK, type State, TEST } from '@rollgate/core/store';

/** An action that a limit recorded. */
export interface StoreHit {
  readonly life: number;
  readonly limitIndex: number;
  readonly atMicros: number;
  readonly recordedMicros: number;
  readonly cost: number;
}

/** Collects what the limits of a store see of its state, which is private to the store. */
export class StateObserver {
  /** The actions recorded since a test emptied the list. */
  recorded: StoreHit[] = [];
  /** The new places of the leases renewed since a test emptied the map, by the index of their limit. */
  renewed = new Map<number, Pick<StoreHit, 'life' | 'atMicros'>>();
  /**
   * While this is set, limits call it with copies of the states that a peek finds, and with the lives of their keys. The
   * store takes these states for expired, so it does not change them.
   */
  onPeekedState: ((limitIndex: number, life: number, state: unknown) => void) | undefined;
}

/**
 * A limit that does what a shipped one does, and reports to a `StateObserver`.
 *
 * @param index The index of the limit in the scenario. That of its block is the next one.
 */
export function observe(inner: Limit, observer: StateObserver, index: number): Limit {
  const observed: Partial<Limit> = {
    /** A store calls this first for each entry that it finds, and ignores an expired one. */
    expiresMicros(state) {
      if (observer.onPeekedState === undefined) return inner.expiresMicros(state);
      observer.onPeekedState(index, lifeOf(state), inner.describe(state));
      return -Infinity;
    },
    apply(state, nowMicros, cost, verdict, mode) {
      if (observer.onPeekedState !== undefined) return;
      inner.apply(state, nowMicros, cost, verdict, mode);
      // What closes a key is no action that a refund could return.
      if (mode === TEST || inner.testsOnly) return;
      if (mode === CHECK && verdict.waitMicros > 0 && !inner.countRejected) return;
      const { atMicros } = verdict;
      observer.recorded.push({ life: lifeOf(state), limitIndex: index, atMicros, recordedMicros: nowMicros, cost });
    },
    ...(inner.blockFor && { blockFor: observe(inner.blockFor, observer, index + 1) }),
    ...(inner.renew && {
      renew(state, nowMicros, hit) {
        const isRenewed = inner.renew!(state, nowMicros, hit);
        if (isRenewed) observer.renewed.set(index, { life: lifeOf(state), atMicros: hit.atMicros });
        return isRenewed;
      },
    }),
  };
  return { ...allMembersOf(inner), ...observed };
}

/** The members of a limit and of its classes. Methods are bound, because private fields are in the limit alone. */
function allMembersOf(limit: Limit): Limit {
  const members: Record<string, unknown> = {};
  for (let from: object = limit; from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    for (const name of Object.getOwnPropertyNames(from).filter((one) => !Object.hasOwn(members, one))) {
      const value = limit[name as keyof Limit] as unknown;
      members[name] = typeof value === 'function' ? value.bind(limit) : value;
    }
  }
  return members as unknown as Limit;
}

/** A `MemoryStore` passes a view of its entry, which knows the life of its key. */
function lifeOf(state: State): number {
  return (state as State & { readonly life: number }).life;
}
