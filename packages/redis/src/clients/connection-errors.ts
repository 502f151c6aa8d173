import { getOrInsert } from '@rollgate/core/store';
import { errorMonitor, performance } from '../util/platform.js';

/** Clients try to connect every few seconds, so an older error does not explain why a call fails now. */
const MAX_AGE_MS = 30_000;

/** A client that emits its errors. */
interface EventSource {
  on?(event: string | symbol, listener: (...values: never[]) => void): unknown;
  listenerCount?(event: string): number;
}

/** All copies of this package in the process share this map, so they add their listeners to a client once. */
const KNOWN = Symbol.for('@rollgate/redis connectionErrors');

const shared = globalThis as { [KNOWN]?: WeakMap<object, ConnectionErrors> };

/** The last errors of a client's connections. All stores on a client share one instance. */
export class ConnectionErrors {
  /** By the address of a node. The empty address is for errors of the client itself. */
  readonly #errors = new Map<string, { error: Error; atMs: number }>();

  static of(client: object, isIoredis: boolean): ConnectionErrors {
    shared[KNOWN] ??= new WeakMap();
    return getOrInsert(shared[KNOWN], client, () => new ConnectionErrors(client, isIoredis));
  }

  private constructor(client: EventSource, isIoredis: boolean) {
    const record = (node: string, error: Error) => this.#errors.set(node, { error, atMs: performance.now() });
    client.on?.('ready', () => this.#errors.clear());
    // An error of node-redis without a listener still ends the process, because a monitor is not one.
    if (!isIoredis) client.on?.(errorMonitor, (error: Error) => record('', error));
    else {
      // ioredis prints an error that has no listener. This one would silence it, so it prints the error itself when it is the only one.
      client.on?.('error', (error: Error) => {
        record('', error);
        if (client.listenerCount?.('error') === 1) console.error('[ioredis] Unhandled error event:', error.stack);
      });
      client.on?.('node error', (error: Error, node: string) => record(node, error)); // Published by a Cluster.
    }
  }

  /**
   * The last error of the connection to a node, or else of the client, if it is less than 30 seconds old.
   *
   * The client's `ready` event clears all errors. A Cluster publishes no event when one node reconnects, so the error of a
   * node may precede that.
   */
  last(node: string): Error | undefined {
    const last = this.#errors.get(node) ?? this.#errors.get('');
    return last !== undefined && performance.now() - last.atMs < MAX_AGE_MS ? last.error : undefined;
  }
}
