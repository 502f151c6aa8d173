import { RESERVATIONS_START } from '../limits/calendar-window.js';
import type { State } from '../limits/limit.js';
import * as leases from './lease-list.js';

/** The part of a state that is a list of leases. */
class ReservationList implements State {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  get numbers(): Float64Array {
    return this.#state.numbers;
  }

  get start(): number {
    return this.#state.start + RESERVATIONS_START;
  }

  get size(): number {
    return this.#state.size - RESERVATIONS_START;
  }

  get diesWithProcess(): boolean {
    return this.#state.diesWithProcess === true;
  }

  resize(size: number): void {
    this.#state.resize(size + RESERVATIONS_START);
  }
}

/** Returns the reservations of a state, if it has ever had one. */
export function reservationsOf(state: State): ReservationList | undefined {
  const list = new ReservationList(state);
  return list.numbers[list.start + leases.NEWEST_ID] === 0 ? undefined : list;
}

/** Adds an empty list to a state. */
export function createReservations(state: State): ReservationList {
  const list = new ReservationList(state);
  if (list.size < leases.SIZE_FOR_ONE) list.resize(leases.SIZE_FOR_ONE);
  leases.clear(list);
  return list;
}
