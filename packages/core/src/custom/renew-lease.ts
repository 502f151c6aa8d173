import type { RecordedHit } from '../engine/recorded-hit.js';
import type { States } from '../engine/states.js';
import { holdsSlots, type LeasedLimit } from '../limits/capabilities.js';

/** Extends a lease, or takes its slots again. Returns where the lease is then, or nothing if it is lost. */
export function renewLease(
  states: States,
  hit: RecordedHit,
  limit: LeasedLimit,
): Pick<RecordedHit, 'life' | 'atMicros'> | undefined {
  const { life, atMicros, wantedCost: cost } = hit;
  if (cost === 0) return { life, atMicros }; // It was released since the renewal began.
  const found = states.find(hit.rule, hit.key);
  // The period of a reservation is over, so there is nothing to lose.
  if (found?.life !== life && !holdsSlots(limit)) return { life, atMicros };
  const state = found ?? states.create(hit.rule, hit.key);
  // Ids are unique within a life, so in a later one the lease needs another id.
  const id = state.life === life || !holdsSlots(limit) ? atMicros : limit.unusedId(state, atMicros);
  const isHeld = limit.renew(state, states.nowMicros, { ...hit, atMicros: id, cost });
  states.save(state, limit);
  hit.moved = isHeld ? { life: state.life, atMicros: id } : undefined;
  return hit.moved;
}
