import { MemoryStore } from '@rollgate/core';
import { Expansion, type Finding } from './expansion.js';
import { HashSet } from './hash-set.js';
import { HistoryRows } from './history-rows.js';
import { createLeasingStore } from './leasing-store.js';
import { StateObserver } from './observed-limit.js';
import { prepare, type Scenario } from './scenario.js';
import { type MakeStore, StoreUnderTest } from './store-under-test.js';

/** What {@link explore} takes. */
export interface ExploreOptions {
  /** Steps of the longest histories. */
  readonly depth: number;
  /** The explorer starts no new depth after this many states; default `Infinity`. */
  readonly states?: number | undefined;
  /** Whether the explorer extends only one of several histories that end in the same state; default `true`. */
  readonly merge?: boolean | undefined;
  /** Default: a `MemoryStore`, or a store of `createStore` if leases end. */
  readonly makeStore?: MakeStore | undefined;
}

/** How far a scenario was explored. */
export interface Exploration {
  readonly scenario: string;
  /** The explorer took every history of at most this many steps. */
  readonly depth: number;
  /** The number of different states, by the depth at which the explorer first found them. */
  readonly levels: readonly number[];
  readonly states: number;
  /** Steps that the explorer took and compared. */
  readonly transitions: number;
  readonly seconds: number;
  /** The shortest history that fails. */
  readonly finding: Finding | undefined;
}

/** The number of histories after which the promises of refunds settle. Otherwise they would fill the memory. */
const SETTLE_INTERVAL = 1000;

/**
 * Runs every history of a scenario up to a given length, shortest first, and compares each decision with the oracles. Ends at
 * the first difference.
 */
export async function explore(scenario: Scenario, options: ExploreOptions): Promise<Exploration> {
  const { depth, states = Infinity, merge = true, makeStore = makeStoreFor(scenario) } = options;
  const startUsage = process.cpuUsage();
  const observer = new StateObserver();
  const prepared = prepare(scenario, observer);
  const expansion = new Expansion(prepared, new StoreUnderTest(prepared, observer, makeStore));
  const seenHashes = new HashSet();
  let frontier = new HistoryRows(0);
  frontier.count = 1; // The history without a step.
  const levels = [1];
  for (let length = 1; length <= depth && levels.reduce(add) < states && expansion.finding === undefined; length++) {
    const next = new HistoryRows(length);
    let newStates = 0;
    for (let index = 0; index < frontier.count && expansion.finding === undefined; index++) {
      const history = frontier.at(index);
      expansion.expand(history, (code, hash) => {
        if (merge && !seenHashes.add(hash)) return;
        newStates += 1;
        if (length < depth) next.add(history, code);
      });
      if (index % SETTLE_INTERVAL === 0) await undefined;
    }
    levels.push(newStates);
    frontier = next;
  }
  const { user, system } = process.cpuUsage(startUsage);
  return {
    scenario: scenario.name,
    depth: levels.length - 1,
    levels,
    states: levels.reduce(add),
    transitions: expansion.transitions,
    seconds: (user + system) / 1e6,
    finding: expansion.finding,
  };
}

function makeStoreFor({ leasesEnd = false }: Scenario): MakeStore {
  return leasesEnd ? createLeasingStore : (clock) => new MemoryStore({ clock });
}

const add = (one: number, other: number) => one + other;
