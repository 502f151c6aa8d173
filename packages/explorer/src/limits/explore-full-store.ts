import { type Decision, MemoryStore } from '@rollgate/core';
import { MS } from '../../../store-conformance/src/algorithms/oracle.js';
import { type Explorable, type Exploration, explore } from '../explore.js';
import type { Finding } from './expansion.js';
import { StateObserver } from './observed-limit.js';
import { type PreparedScenario, prepare, type Scenario } from './scenario.js';
import { decodeStep, encode } from './steps.js';
import { type KeptState, type MakeStore, StoreUnderTest } from './store-under-test.js';

/**
 * Runs every history of checks and ticks of a millisecond up to a given length, in a store that holds at most `maxKeys` keys.
 * A full store may drop keys, so the oracles do not apply. Two guarantees still hold:
 *
 * - A check never evicts what it records.
 * - A key that a limit rejects stays rejected when other limits get new keys, as long as the limit has at most its share.
 *
 * It merges no histories, because a store does not show which key it evicts next.
 */
export function exploreFull(
  scenario: Scenario,
  maxKeys: number,
  depth: number,
  makeStore: MakeStore = (clock) => new MemoryStore({ clock, maxKeys }),
): Promise<Exploration<Finding>> {
  const observer = new StateObserver();
  const prepared = prepare(scenario, observer);
  const store = new StoreUnderTest(prepared, observer, makeStore);
  const codes = [MS, ...prepared.calls.map((_, call) => encode('check', call, 1))];
  const model: Explorable<undefined, Finding> = {
    start: undefined,
    expand([place], reach) {
      for (const code of codes) {
        store.replay(place!.actions);
        const finding = checkStep(prepared, store, place!.actions, code, maxKeys);
        if (finding !== undefined) return finding;
        reach(place!, code, 0, undefined);
      }
      return undefined;
    },
  };
  return explore(model, { depth, merge: false });
}

function checkStep(
  prepared: PreparedScenario,
  store: StoreUnderTest,
  history: readonly number[],
  code: number,
  maxKeys: number,
): Finding | undefined {
  const step = decodeStep(code);
  if (step.kind !== 'check') return undefined;
  const keptStates = store.readStates();
  const before = prepared.calls.map((_, call) => store.peek(call, 1));
  const actual = store.take(step)!;
  const after = prepared.calls.map((_, call) => store.peek(call, 1));
  const fail = (problem: string, actual: unknown, expected: unknown) => ({
    steps: [...history, code],
    problem,
    actual,
    expected,
  });

  const { scenarioLimits, stateIndexes } = prepared.calls[step.call]!;
  for (const { name } of scenarioLimits) {
    const [now, recorded] = [after[step.call]!.limits[name]!.remaining, actual.limits[name]!.remaining];
    if (now !== recorded)
      return fail(`limit \`${name}\` does not remember the check that was just recorded`, now, recorded);
  }
  const growingLimits = scenarioLimits
    .filter((_, index) => keptStates[stateIndexes[index]!] === undefined)
    .map(({ name }) => name);
  const protectedLimits = limitsWithinShare(prepared, keptStates, maxKeys).filter(
    (name) => !growingLimits.includes(name),
  );
  for (const [call, decision] of before.entries()) {
    const freed = freedLimit(decision, after[call]!, protectedLimits);
    if (freed !== undefined) {
      const problem = `new keys of ${growingLimits.join(' and ')} free '${prepared.calls[call]!.keys[freed]}' of limit \`${freed}\``;
      return fail(problem, after[call]!.limits[freed], decision.limits[freed]);
    }
  }
  return undefined;
}

/** Returns one of these limits that rejected before and allows after, if any. */
function freedLimit(before: Decision, after: Decision, names: readonly string[]): string | undefined {
  return before.violated.find((name) => names.includes(name) && after.limits[name]!.allowed);
}

/** The limits that have no more than their share of the keys. */
function limitsWithinShare(
  { calls }: PreparedScenario,
  keptStates: readonly (KeptState | undefined)[],
  maxKeys: number,
): string[] {
  const stateIndexesOf = new Map<string, Set<number>>();
  for (const { scenarioLimits, stateIndexes } of calls) {
    for (const [index, { name }] of scenarioLimits.entries()) {
      const own = stateIndexesOf.get(name) ?? new Set();
      stateIndexesOf.set(name, own);
      if (keptStates[stateIndexes[index]!] !== undefined) own.add(stateIndexes[index]!);
    }
  }
  return [...stateIndexesOf].filter(([, own]) => own.size <= maxKeys / stateIndexesOf.size).map(([name]) => name);
}
