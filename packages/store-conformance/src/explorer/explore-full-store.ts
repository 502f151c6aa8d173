import { type Decision, MemoryStore } from '@rollgate/core';
import { MS } from '../oracles/oracle.js';
import type { Finding } from './expansion.js';
import { StateObserver } from './observed-limit.js';
import { prepare, type Ready, type Scenario } from './scenario.js';
import { checkOf, stepOf } from './steps.js';
import { type Kept, type MakeStore, StoreUnderTest } from './store-under-test.js';

/** How far {@link exploreFull} got. */
export interface FullExploration {
  readonly transitions: number;
  /** The shortest history that went wrong. */
  readonly finding: Finding | undefined;
}

/**
 * Takes every history of checks and ticks of a millisecond up to a depth, in a store that holds at most `maxKeys` keys.
 * A full store may drop keys, so the oracles do not apply. Two guarantees still hold:
 *
 * - a check never evicts what it records itself;
 * - new keys of other limits never free a key that a limit rejects, while that limit has at most its share.
 *
 * It merges no histories, because a store does not show which key it evicts next.
 */
export function exploreFull(
  scenario: Scenario,
  maxKeys: number,
  depth: number,
  makeStore: MakeStore = (clock) => new MemoryStore({ clock, maxKeys }),
): FullExploration {
  const watch = new StateObserver();
  const ready = prepare(scenario, watch);
  const subject = new StoreUnderTest(ready, watch, makeStore);
  const codes = [MS, ...ready.calls.map((_, call) => checkOf(call, 1))];
  let transitions = 0;
  let rows: (readonly number[])[] = [[]];
  for (let length = 1; length <= depth; length++) {
    const next: (readonly number[])[] = [];
    for (const row of rows) {
      for (const code of codes) {
        transitions += 1;
        subject.replay(row);
        const finding = takeAndLook(ready, subject, row, code, maxKeys);
        if (finding !== undefined) return { transitions, finding };
        next.push([...row, code]);
      }
    }
    rows = next;
  }
  return { transitions, finding: undefined };
}

function takeAndLook(
  ready: Ready,
  subject: StoreUnderTest,
  row: readonly number[],
  code: number,
  maxKeys: number,
): Finding | undefined {
  const step = stepOf(code);
  if (step.kind !== 'check') return undefined;
  const kept = subject.look();
  const before = ready.calls.map((_, call) => subject.peek(call, 1));
  const actual = subject.take(step)!;
  const after = ready.calls.map((_, call) => subject.peek(call, 1));
  const fail = (what: string, actual: unknown, expected: unknown) => ({
    steps: [...row, code],
    what,
    actual,
    expected,
  });

  const { rulings, places } = ready.calls[step.call]!;
  for (const { name } of rulings) {
    const [now, recorded] = [after[step.call]!.limits[name]!.remaining, actual.limits[name]!.remaining];
    if (now !== recorded)
      return fail(`limit \`${name}\` does not remember the check that was just recorded`, now, recorded);
  }
  const grown = rulings.filter((_, index) => kept[places[index]!] === undefined).map(({ name }) => name);
  const safe = safeLimits(ready, kept, maxKeys).filter((name) => !grown.includes(name));
  for (const [call, decision] of before.entries()) {
    const freed = freedLimit(decision, after[call]!, safe);
    if (freed !== undefined) {
      const what = `new keys of ${grown.join(' and ')} free '${ready.calls[call]!.keys[freed]}' of limit \`${freed}\``;
      return fail(what, after[call]!.limits[freed], decision.limits[freed]);
    }
  }
  return undefined;
}

/** One of these limits that rejected and now allows. */
function freedLimit(before: Decision, after: Decision, names: readonly string[]): string | undefined {
  return before.violated.find((name) => names.includes(name) && after.limits[name]!.allowed);
}

/** The limits that have no more than their share of the keys. */
function safeLimits({ calls }: Ready, kept: readonly (Kept | undefined)[], maxKeys: number): string[] {
  const keptOf = new Map<string, Set<number>>();
  for (const { rulings, places } of calls) {
    for (const [index, { name }] of rulings.entries()) {
      const own = keptOf.get(name) ?? new Set();
      keptOf.set(name, own);
      if (kept[places[index]!] !== undefined) own.add(places[index]!);
    }
  }
  return [...keptOf].filter(([, own]) => own.size <= maxKeys / keptOf.size).map(([name]) => name);
}
