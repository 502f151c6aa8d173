import type { RecordedHit } from '../engine/recorded-hit.js';
import type { States } from '../engine/states.js';
import type { LeasingLimit } from '../limits/limit.js';

/** Extends a lease, or takes its slots again. Returns where the lease is then, or nothing if it is lost. */
export function renewLease(
  states: States,
  hit: RecordedHit,
  limit: LeasingLimit,
): Pick<RecordedHit, 'life' | 'atMicros'> | undefined {
  const { life, atMicros, wantedCost: cost } = hit;
  if (cost === 0) return { life, atMicros }; // It was released since the renewal began.
  const state = states.find(hit.rule, hit.key) ?? states.create(hit.rule, hit.key);
  // Ids are unique within a life, so in a later one the lease needs another id.
  const id = state.life === life ? atMicros : limit.unusedId(state, atMicros);
  const isHeld = limit.renew(state, states.nowMicros, { ...hit, atMicros: id, cost });
  states.save(state, limit);
  hit.moved = isHeld ? { life: state.life, atMicros: id } : undefined;
  return hit.moved;
}
