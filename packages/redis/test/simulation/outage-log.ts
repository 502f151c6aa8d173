import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { StoreFailure, StoreRecovery } from '@rollgate/core';

/** The outages that are published: every one begins before it ends, and ends. */
export class OutageLog {
  readonly #failing = new Set<object>();
  readonly #verifyRecovery: (store: object, isOutagePublished: boolean) => void;

  /** Calls `verifyRecovery` for each recovery, with whether an outage was published before it. */
  constructor(verifyRecovery: (store: object, isOutagePublished: boolean) => void) {
    this.#verifyRecovery = verifyRecovery;
    subscribe('rollgate:store:failure', this.#onFailure);
    subscribe('rollgate:store:recovery', this.#onRecovery);
  }

  stop(): void {
    unsubscribe('rollgate:store:failure', this.#onFailure);
    unsubscribe('rollgate:store:recovery', this.#onRecovery);
  }

  verifyNoOutage(): void {
    assert.equal(this.#failing.size, 0, 'Expected every outage to be followed by a published recovery');
  }

  readonly #onFailure = (message: unknown): void => {
    this.#failing.add((message as StoreFailure).store);
  };

  readonly #onRecovery = (message: unknown): void => {
    const { store } = message as StoreRecovery;
    this.#verifyRecovery(store, this.#failing.delete(store));
  };
}
