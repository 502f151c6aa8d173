import { MemoryStore } from '@rollgate/core';
import { type Exploration, type ExploreOptions, explore } from '../explore.js';
import { Expansion, type Finding } from './expansion.js';
import { StateObserver } from './observed-limit.js';
import { prepare, type Scenario } from './scenario.js';
import { type MakeStore, StoreUnderTest } from './store-under-test.js';
import { createStoreWithLeases } from './store-with-leases.js';

/** What {@link exploreLimits} takes. */
export interface LimitsOptions extends Omit<ExploreOptions, 'order'> {
  /** Default: a `MemoryStore`, or a store of `createStore` if leases end. */
  readonly makeStore?: MakeStore | undefined;
}

/** How far a scenario was explored. */
export interface LimitsExploration extends Exploration<Finding> {
  /** Steps that the explorer took and compared. */
  readonly transitions: number;
}

/** Runs every history of a scenario up to a given length, shortest first, and compares each decision with the oracles. */
export async function exploreLimits(scenario: Scenario, options: LimitsOptions): Promise<LimitsExploration> {
  const { makeStore = makeStoreFor(scenario), ...limits } = options;
  const observer = new StateObserver();
  const prepared = prepare(scenario, observer);
  const expansion = new Expansion(prepared, new StoreUnderTest(prepared, observer, makeStore));
  const exploration = await explore(expansion, limits);
  return { ...exploration, transitions: expansion.transitions };
}

function makeStoreFor({ leasesEnd = false }: Scenario): MakeStore {
  return leasesEnd ? createStoreWithLeases : (clock) => new MemoryStore({ clock });
}
