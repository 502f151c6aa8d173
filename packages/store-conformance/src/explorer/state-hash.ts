import { Hasher } from './hasher.js';
import { type OracleState, type Part, START_NEAR_MICROS } from './oracle-state.js';
import type { Ready } from './scenario.js';
import type { Kept, Refundable } from './store-under-test.js';

const whole = new Hasher();
const receipt = new Hasher();

/**
 * A hash of the state at the end of a history. The explorer extends only the first of the histories that end in the
 * same state. That hides nothing, because states with the same hash have the same futures:
 *
 * - The hash covers everything that decides a future. For each key, it covers both states, the limit that recorded last
 *   according to the oracle, and the admitted actions. For each refundable check, it
 *   covers what both keep of it, and whether that life of the key still lasts. In addition, it covers the time within
 *   the period of all windows, and how far the clock is below its highest time.
 * - Moments are relative to now. Limits only compare and subtract them, or cut the clock into windows that repeat with
 *   each period. A moment before the horizon matters to no limit, and the clock never steps back that far.
 * - The hashes of receipts are summed, because any of them can be refunded next. Of receipts of lives that are over, only
 *   the cost matters, for a settlement above it. A refund of them changes nothing. The explorer fails when it does.
 * - The hash reads the store's states through `describe`, which hides the layout of the rings in logs and the room for
 *   more numbers. The table's expiry queue is hidden too. It decides only which key a full store evicts. Explore with `merge: false` to
 *   visit every such layout.
 */
export function stateHash(
  { periodMicros, horizonMicros }: Ready,
  truth: OracleState,
  refundable: readonly Refundable[],
  kept: readonly (Kept | undefined)[],
  countsOver = true,
): number {
  const now = truth.nowMicros;
  const from = START_NEAR_MICROS / 2;
  whole.start(now, horizonMicros, from);
  whole.number(now % periodMicros);
  whole.number(truth.highestMicros - now);
  for (let place = 0; place < kept.length; place++) {
    const own = kept[place];
    const life = truth.lives[place];
    whole.number(life === undefined ? 0 : life.by.index + 1);
    if (life !== undefined) {
      whole.value(life.state);
      whole.value(life.newest);
    }
    whole.value(truth.admitted[place]!);
    whole.number(own === undefined ? 0 : 1);
    if (own !== undefined) whole.value(own.state);
  }
  let [one, two, over] = [0, 0, 0];
  for (let index = 0; index < truth.receipts.length; index++) {
    const parts = truth.receipts[index]!;
    receipt.start(now, horizonMicros, from);
    if (isOver(truth, refundable, kept, index)) {
      over = 1;
      if (!countsOver) continue;
      for (const { ruling, place, cost } of parts)
        for (const number of [ruling.index, place, cost]) receipt.number(number);
    } else {
      for (let number = 0; number < parts.length; number++)
        addPart(parts[number]!, truth, refundable[index]!, number, kept);
    }
    const pair = receipt.pair;
    one = (one + pair.one) | 0;
    two = (two + pair.two) | 0;
  }
  whole.number(countsOver ? over : 0);
  whole.sum({ one, two });
  return whole.hash;
}

/** Whether all lives that the check of this receipt recorded in are over, according to the store and to the oracles. */
export function isOver(
  truth: OracleState,
  refundable: readonly Refundable[],
  kept: readonly (Kept | undefined)[],
  index: number,
): boolean {
  const { hits } = refundable[index]!;
  return truth.receipts[index]!.every(
    ({ place, life }, number) => truth.lives[place]?.id !== life && kept[place]?.life !== hits[number]!.life,
  );
}

/** What either side remembers of a life that is over cannot matter. */
function addPart(
  part: Part,
  truth: OracleState,
  { hits }: Refundable,
  index: number,
  kept: readonly (Kept | undefined)[],
): void {
  const { ruling, place, life } = part;
  const hit = hits[index]!;
  receipt.number(place);
  receipt.number(part.cost);
  const lasts = truth.lives[place]?.id === life;
  receipt.number(lasts ? ruling.index + 1 : 0);
  if (lasts) receipt.number(whole.numberOf(part.receipt));
  if (lasts) receipt.value(part.receipt);
  const isKept = kept[place]?.life === hit.life;
  receipt.number(isKept ? hit.ruling + 1 : 0);
  if (!isKept) return;
  receipt.number(hit.atMicros);
  receipt.number(hit.recordedMicros);
  receipt.number(hit.cost);
}
