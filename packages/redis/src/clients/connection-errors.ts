import { errorMonitor, performance } from '../util/platform.js';

/** Clients try to connect every few seconds, so an older error does not explain why a call fails now. */
const MAX_AGE_MS = 30_000;

type On = (event: string | symbol, listener: (...values: never[]) => void) => unknown;

/** A client that emits its errors. */
interface EventSource {
  on?: On;
  listenerCount?(event: string): number;
}

/** All copies of this package in the process share this map, so they add their listeners to a client once. */
const KNOWN = Symbol.for('@rollgate/redis connectionErrors');

const shared = globalThis as { [KNOWN]?: WeakMap<object, ConnectionErrors> };

/** The last errors of a client's connections. All stores on a client share one instance. */
export class ConnectionErrors {
  /** By the address of a node. The empty address is for errors of the client itself. */
  readonly #errors = new Map<string, { error: Error; atMs: number }>();

  /**
   * The errors of an ioredis client.
   *
   * ioredis prints an error that has no listener. This listener would silence it, so it prints the error itself when it is
   * the only listener.
   */
  static ofIoredis(client: object): ConnectionErrors {
    return ConnectionErrors.#of(client, (errors, on, source) => {
      on('error', (error: Error) => {
        errors.#record('', error);
        if (source.listenerCount?.('error') === 1) console.error('[ioredis] Unhandled error event:', error.stack);
      });
      on('node error', (error: Error, node: string) => errors.#record(node, error)); // Published by a Cluster.
    });
  }

  /** The errors of a node-redis client. An error without a listener still ends the process, because a monitor is not one. */
  static ofNodeRedis(client: object): ConnectionErrors {
    return ConnectionErrors.#of(client, (errors, on) => on(errorMonitor, (error: Error) => errors.#record('', error)));
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

  static #of(
    client: object,
    listen: (errors: ConnectionErrors, on: On, source: EventSource) => void,
  ): ConnectionErrors {
    shared[KNOWN] ??= new WeakMap();
    let errors = shared[KNOWN].get(client);
    if (errors === undefined) {
      const created = new ConnectionErrors();
      errors = created;
      shared[KNOWN].set(client, created);
      const source = client as EventSource;
      const on: On = (event, listener) => source.on?.(event, listener);
      listen(created, on, source);
      on('ready', () => created.#errors.clear());
    }
    return errors;
  }

  #record(node: string, error: Error): void {
    this.#errors.set(node, { error, atMs: performance.now() });
  }
}
