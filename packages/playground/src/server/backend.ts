import { type Clock, MemoryStore, monotonicClock, type Store } from '@rollgate/core';
import type { SharedEvent } from './records.js';

/** Keeps the limiters' state, and passes events between the servers that share it. */
export interface Backend {
  /** The name in the server's greeting. */
  readonly name: string;
  readonly store: Store;
  /** The time that `store` decides by. */
  readonly clock: Clock;
  /** Passes the events so far to `onEvent`, then those of all servers, in the same order for all. */
  open(onEvent: (event: SharedEvent) => void): Promise<void>;
  /** Publishes an event to all servers. Resolves when this one has received it. */
  publish(event: SharedEvent): Promise<void>;
  close(): Promise<void>;
}

/** A backend for a single process. */
export class MemoryBackend implements Backend {
  readonly name = 'in memory';
  readonly store: MemoryStore;
  readonly clock: Clock;
  #onEvent: (event: SharedEvent) => void = () => {};

  constructor(clock = monotonicClock) {
    this.store = new MemoryStore({ clock });
    this.clock = clock;
  }

  async open(onEvent: (event: SharedEvent) => void): Promise<void> {
    this.#onEvent = onEvent;
  }

  async publish(event: SharedEvent): Promise<void> {
    this.#onEvent(event);
  }

  async close(): Promise<void> {}
}
