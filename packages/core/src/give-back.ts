import { refundInBackground } from './background-refund.js';
import type { Decision } from './decision.js';

interface Leaving {
  readonly place: number;
  readonly refund: () => void;
}

let lastPlace = 0;
/** Who has given up since the last microtask. */
let leaving: Leaving[] = [];

/**
 * For each who is held until its turn, to be called when it takes its place.
 *
 * @returns What gives the place back, when nobody waits for it any more. Those who give up together (on one signal, on one
 * connection) are refunded newest first, in whatever order they do: for a queue takes back only its last place.
 */
export function toGiveBack(limiter: { refund(decision: Decision): Promise<void> }, decision: Decision): () => void {
  lastPlace += 1;
  const one = { place: lastPlace, refund: () => refundInBackground(limiter, decision) };
  return function giveBack() {
    if (leaving.push(one) === 1) queueMicrotask(refundAll);
  };
}

function refundAll(): void {
  const all = leaving.sort((one, other) => other.place - one.place);
  leaving = [];
  for (const { refund } of all) refund();
}
