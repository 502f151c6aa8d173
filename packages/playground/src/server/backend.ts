import { type Clock, MemoryStore, monotonicClock, type Store } from '@rollgate/core';
import type { News } from './records.js';

/** Where the limiters' state is kept, and how servers on it hear of each other. */
export interface Backend {
  /** As the server's greeting says it. */
  readonly name: string;
  readonly store: Store;
  /** The time that `store` decides by. */
  readonly clock: Clock;
  /** Hears what is known already, then all that anybody publishes, this server included, in one order for all. */
  open(hear: (news: News) => void): Promise<void>;
  /** Publishes to all servers. Resolves when this one has heard it, so that what it does next starts from there. */
  publish(news: News): Promise<void>;
  close(): Promise<void>;
}

/** This process alone. */
export class MemoryBackend implements Backend {
  readonly name = 'in memory';
  readonly store: MemoryStore;
  readonly clock: Clock;
  #hear: (news: News) => void = () => {};

  constructor(clock = monotonicClock) {
    this.store = new MemoryStore({ clock });
    this.clock = clock;
  }

  async open(hear: (news: News) => void): Promise<void> {
    this.#hear = hear;
  }

  async publish(news: News): Promise<void> {
    this.#hear(news);
  }

  async close(): Promise<void> {}
}
