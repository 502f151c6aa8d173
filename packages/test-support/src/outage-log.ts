import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Store, StoreFailure, StoreRecovery } from '@rollgate/core';

/** Records what the two channels publish about one store. */
export class OutageLog {
  readonly failures: StoreFailure[] = [];
  readonly recoveries: StoreRecovery[] = [];
  /** The events as one word each, in their order. */
  readonly summary: ('failure' | 'silence' | 'recovery')[] = [];
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
    subscribe('rollgate:store:failure', this.#recordFailure);
    subscribe('rollgate:store:recovery', this.#recordRecovery);
  }

  stop(): void {
    unsubscribe('rollgate:store:failure', this.#recordFailure);
    unsubscribe('rollgate:store:recovery', this.#recordRecovery);
  }

  // A subscriber that throws would end the process, so the test checks the events later.
  readonly #recordFailure = (message: unknown) => {
    const failure = message as StoreFailure;
    if (failure.store !== this.#store) return;
    this.failures.push(failure);
    this.summary.push(failure.error.message.includes('did not respond within') ? 'silence' : 'failure');
  };
  readonly #recordRecovery = (message: unknown) => {
    const recovery = message as StoreRecovery;
    if (recovery.store !== this.#store) return;
    this.recoveries.push(recovery);
    this.summary.push('recovery');
  };
}
