import { type Decision, MemoryStore, monotonicClock, type Store } from '@rollgate/core';
import type { Costs, Keys, Plan } from '@rollgate/core/store';
import type { StoreKind } from '../shared/protocol.js';
import type { SharedEvent } from './attempt-log.js';
import { DecisionClock } from './decision-clock.js';

/** Keeps the limiters' state, and passes events between the engines that share it. */
export interface Backend {
  /** The name in the server's greeting. */
  readonly name: string;
  readonly kind: StoreKind;
  readonly store: Store;
  /** The time that `store` decides by. */
  readonly clock: DecisionClock;
  /** Moves the clock forward. Absent if others share the clock. */
  skip?(ms: number): void;
  /** Passes the events so far to `onEvent`, then those of all engines, in the same order for all. */
  open(onEvent: (event: SharedEvent) => void): Promise<void>;
  /** Publishes an event to all engines. Resolves when this one has received it. */
  publish(event: SharedEvent): Promise<void>;
  close(): Promise<void>;
}

class TimedMemoryStore extends MemoryStore {
  readonly #clock: DecisionClock;

  constructor(clock: DecisionClock) {
    super({ clock });
    this.#clock = clock;
  }

  override check(plan: Plan, keys: Keys, costs: Costs): Decision {
    return this.#clock.check(() => super.check(plan, keys, costs)) as Decision;
  }
}

/** A backend for a single process or page. */
export class MemoryBackend implements Backend {
  readonly name = 'in memory';
  readonly kind = 'memory';
  readonly store: MemoryStore;
  readonly clock: DecisionClock;
  #aheadMs = 0;
  #onEvent: (event: SharedEvent) => void = () => {};

  constructor(clock = monotonicClock) {
    this.clock = new DecisionClock({ now: () => clock.now() + this.#aheadMs });
    this.store = new TimedMemoryStore(this.clock);
  }

  skip(ms: number): void {
    this.#aheadMs += ms;
  }

  async open(onEvent: (event: SharedEvent) => void): Promise<void> {
    this.#onEvent = onEvent;
  }

  async publish(event: SharedEvent): Promise<void> {
    this.#onEvent(event);
  }

  async close(): Promise<void> {}
}
