import { reports } from '../../../store-conformance/src/model-states.js';
import { Hasher } from '../hasher.js';
import { APPROXIMATE_START_MICROS, type OracleState, type Part } from './oracle-state.js';
import type { PreparedScenario } from './scenario.js';
import type { KeptState, Refundable } from './store-under-test.js';

const stateHasher = new Hasher();
const receiptHasher = new Hasher();

/**
 * A hash of the state at the end of a history. The explorer extends only the first of the histories that end in the
 * same state. The others add nothing, because states with the same hash would all continue in the same way:
 *
 * - The hash covers everything that decides a future. For each key, it covers both states, the limit that recorded last
 *   according to the oracle, and the admitted actions. For each refundable check, it covers what both keep of it, and
 *   whether that life of the key has ended. In addition, it covers the time within the period of all windows, and how
 *   far the clock is behind its highest time.
 * - Moments are relative to now. Limits only compare and subtract them, or align windows to the clock, which repeat with
 *   each period. A moment before the horizon matters to no limit, and the clock never steps back that far.
 * - The hashes of receipts are summed, because any of them can be refunded next. For a life that has ended, only the
 *   receipt's cost matters, because a settlement may exceed it. A refund changes nothing, which the explorer verifies. If a
 *   response reports numbers, the time of its check matters, too.
 * - The hash reads the store's states through `describe`, which hides the layout of the rings in logs and the room for
 *   more numbers. It does not cover the table's expiry queue, which decides only which key a full store evicts. Explore
 *   with `merge: false` to visit every such layout.
 */
export function stateHash(
  { periodMicros, horizonMicros, stateIds }: PreparedScenario,
  oracles: OracleState,
  refundable: readonly Refundable[],
  keptStates: readonly (KeptState | undefined)[],
  includesEnded = true,
): number {
  const now = oracles.nowMicros;
  const from = APPROXIMATE_START_MICROS / 2;
  stateHasher.start(now, horizonMicros, from);
  stateHasher.number(now % periodMicros);
  stateHasher.number(oracles.highestMicros - now);
  for (let stateIndex = 0; stateIndex < keptStates.length; stateIndex++) {
    const own = keptStates[stateIndex];
    const life = oracles.lifeOf(stateIds[stateIndex]!);
    stateHasher.number(life === undefined ? 0 : life.recorder.scenarioLimit.index + 1);
    if (life !== undefined) {
      stateHasher.value(life.state);
      stateHasher.value(oracles.newestIn(life));
    }
    stateHasher.value(oracles.admitted[stateIndex]!);
    stateHasher.number(own === undefined ? 0 : 1);
    if (own !== undefined) stateHasher.value(own.state);
  }
  let [one, two, ended] = [0, 0, 0];
  for (let index = 0; index < oracles.receipts.length; index++) {
    const parts = oracles.receipts[index]!;
    receiptHasher.start(now, horizonMicros, from);
    if (haveLivesEnded(oracles, refundable, keptStates, index)) {
      ended = 1;
      if (!includesEnded) continue;
      for (const part of parts) {
        const { scenarioLimit, stateIndex, cost, at } = part;
        for (const number of [scenarioLimit.index, stateIndex, cost]) receiptHasher.number(number);
        if (reports(part)) receiptHasher.number(at);
      }
    } else {
      for (let number = 0; number < parts.length; number++)
        addPart(parts[number]!, oracles, refundable[index]!, number, keptStates);
    }
    const pair = receiptHasher.pair;
    one = (one + pair.one) | 0;
    two = (two + pair.two) | 0;
  }
  stateHasher.number(includesEnded ? ended : 0);
  stateHasher.sum({ one, two });
  return stateHasher.hash;
}

/** Whether all lives in which the check of this receipt recorded have ended, by the store and by the oracles. */
export function haveLivesEnded(
  oracles: OracleState,
  refundable: readonly Refundable[],
  keptStates: readonly (KeptState | undefined)[],
  index: number,
): boolean {
  const { hits } = refundable[index]!;
  return oracles.receipts[index]!.every(
    ({ stateId, stateIndex, life }, number) =>
      oracles.lifeOf(stateId)?.id !== life && keptStates[stateIndex]?.life !== hits[number]!.life,
  );
}

/** Adds one part of a receipt. Nothing that the store or an oracle keeps of an ended life matters. */
function addPart(
  part: Part,
  oracles: OracleState,
  { hits }: Refundable,
  index: number,
  keptStates: readonly (KeptState | undefined)[],
): void {
  const { scenarioLimit, stateId, stateIndex, life } = part;
  const hit = hits[index]!;
  receiptHasher.number(stateIndex);
  receiptHasher.number(part.cost);
  const isLive = oracles.lifeOf(stateId)?.id === life;
  receiptHasher.number(isLive ? scenarioLimit.index + 1 : 0);
  if (isLive) receiptHasher.number(stateHasher.indexOf(part.receipt));
  if (isLive) receiptHasher.value(part.receipt);
  const isKept = keptStates[stateIndex]?.life === hit.life;
  receiptHasher.number(isKept ? hit.limitIndex + 1 : 0);
  if (!isKept) return;
  receiptHasher.number(hit.atMicros);
  receiptHasher.number(hit.recordedMicros);
  receiptHasher.number(hit.cost);
}
