import { RESERVATIONS_START } from '../limits/calendar-window.js';
import type { State } from '../limits/limit.js';
import * as leases from './lease-list.js';
import { StatePart } from './state-part.js';

/** Returns the reservations of a state, if it has ever had one. */
export function reservationsOf(state: State): StatePart | undefined {
  const list = new StatePart(state, RESERVATIONS_START);
  return list.numbers[list.start + leases.NEWEST_ID] === 0 ? undefined : list;
}

/** Adds an empty list to a state. */
export function createReservations(state: State): StatePart {
  const list = new StatePart(state, RESERVATIONS_START);
  if (list.size < leases.SIZE_FOR_ONE) list.resize(leases.SIZE_FOR_ONE);
  leases.clear(list);
  return list;
}
