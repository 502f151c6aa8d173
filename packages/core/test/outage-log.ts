import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Store, StoreFailure, StoreRecovery } from '@rollgate/core';

/** What the two channels tell of one store while it listens. */
export class OutageLog {
  readonly failures: StoreFailure[] = [];
  readonly recoveries: StoreRecovery[] = [];
  /** In one word each, in their order. */
  readonly story: ('failure' | 'silence' | 'recovery')[] = [];
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
    subscribe('rollgate:store:failure', this.#noteFailure);
    subscribe('rollgate:store:recovery', this.#noteRecovery);
  }

  stop(): void {
    unsubscribe('rollgate:store:failure', this.#noteFailure);
    unsubscribe('rollgate:store:recovery', this.#noteRecovery);
  }

  // A subscriber that throws would end the process: what was told is judged by the test, later.
  readonly #noteFailure = (message: unknown) => {
    const failure = message as StoreFailure;
    if (failure.store !== this.#store) return;
    this.failures.push(failure);
    this.story.push(failure.error.message.includes('did not respond within') ? 'silence' : 'failure');
  };
  readonly #noteRecovery = (message: unknown) => {
    const recovery = message as StoreRecovery;
    if (recovery.store !== this.#store) return;
    this.recoveries.push(recovery);
    this.story.push('recovery');
  };
}
