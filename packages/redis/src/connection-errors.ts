import { errorMonitor } from 'node:events';
import { performance } from 'node:perf_hooks';

/** An error that is older says nothing about why a call fails now. Clients try to connect every few seconds. */
const MAX_AGE_MS = 30_000;

type On = (event: string | symbol, listener: (...values: never[]) => void) => unknown;

/** A client that publishes its errors. */
interface Publisher {
  on?: On;
  listenerCount?(event: string): number;
}

/** Shared by all copies of this package in the process, so that they listen to a client once. */
const KNOWN = Symbol.for('@rollgate/redis connectionErrors');

const shared = globalThis as { [KNOWN]?: WeakMap<object, ConnectionErrors> };

/** The last errors of a client's connections: one for each client in this process, whatever number of stores is on it. */
export class ConnectionErrors {
  /** By the address of a node; under the empty text that of the client as a whole. */
  readonly #errors = new Map<string, { error: Error; atMs: number }>();

  /**
   * Of an ioredis client. ioredis prints errors that nobody listens to, and would be silent with this listener: so the
   * listener prints them when it is the only one.
   */
  static ofIoredis(client: object): ConnectionErrors {
    return ConnectionErrors.#of(client, (errors, on, publisher) => {
      on('error', (error: Error) => {
        errors.#note('', error);
        if (publisher.listenerCount?.('error') === 1) console.error('[ioredis] Unhandled error event:', error.stack);
      });
      on('node error', (error: Error, node: string) => errors.#note(node, error)); // Of a Cluster.
    });
  }

  /** Of a node-redis client. An error that nobody listens to still ends the process: this only looks on. */
  static ofNodeRedis(client: object): ConnectionErrors {
    return ConnectionErrors.#of(client, (errors, on) => on(errorMonitor, (error: Error) => errors.#note('', error)));
  }

  /**
   * The last error of the connection to a node, else of the client, if it is less than 30 seconds old. The client's `ready` event
   * clears all errors. A Cluster publishes no event when one node reconnects, so the error of a node may be from before that.
   */
  last(node: string): Error | undefined {
    const last = this.#errors.get(node) ?? this.#errors.get('');
    return last !== undefined && performance.now() - last.atMs < MAX_AGE_MS ? last.error : undefined;
  }

  static #of(
    client: object,
    listen: (errors: ConnectionErrors, on: On, publisher: Publisher) => void,
  ): ConnectionErrors {
    shared[KNOWN] ??= new WeakMap();
    let errors = shared[KNOWN].get(client);
    if (errors === undefined) {
      const created = new ConnectionErrors();
      errors = created;
      shared[KNOWN].set(client, created);
      const publisher = client as Publisher;
      const on: On = (event, listener) => publisher.on?.(event, listener);
      listen(created, on, publisher);
      on('ready', () => created.#errors.clear());
    }
    return errors;
  }

  #note(node: string, error: Error): void {
    this.#errors.set(node, { error, atMs: performance.now() });
  }
}
