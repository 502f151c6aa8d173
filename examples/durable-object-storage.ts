// Limits clients for long windows: unlike that of durable-object.ts, the
// object keeps its counts in its storage, so they survive restarts.
import { createStore } from '@rollgate/core/store';
import {
  cloudflareAddress,
  createClientKey,
  rateLimit,
} from '@rollgate/web';

/**
 * The parts of Cloudflare's types that this program uses. `wrangler
 * types` writes all of them.
 */
interface Env {
  readonly LIMITERS: {
    getByName(name: string): { fetch(url: string): Promise<Response> };
  };
}
interface State {
  readonly storage: {
    readonly kv: {
      get(key: string): ArrayLike<number> | undefined;
      put(key: string, numbers: ArrayLike<number>): void;
      delete(key: string): boolean;
    };
    setAlarm(atMs: number): Promise<void>;
    deleteAll(): Promise<void>;
  };
}

/**
 * A store that keeps its counts in the object's storage. Its
 * transactions are synchronous, so they are atomic.
 */
const createStorageStore = (storage: State['storage']) =>
  createStore({
    transact(keys, update) {
      const { kv } = storage;
      const changes = update(keys.map((key) => kv.get(key)));
      keys.forEach((key, index) => {
        const change = changes[index];
        if (change === null) kv.delete(key);
        else if (change !== undefined) {
          kv.put(key, change.numbers);
          // The time at which the counts expire. An object has only one
          // alarm, which this replaces, so this suits a single limit.
          void storage.setAlarm(Math.ceil(change.dropAtMs));
        }
      });
    },
  });

export class ClientLimiter {
  readonly #storage: State['storage'];
  readonly #check: (
    request: Request,
    info: undefined,
  ) => Promise<Response>;

  constructor({ storage }: State) {
    this.#storage = storage;
    const limit = rateLimit({
      limit: 3,
      window: '1d',
      // Each object serves one client.
      key: () => 'client',
      store: createStorageStore(storage),
      // Silences the warning about many limiters. Here, each object has
      // one on purpose.
      silence: ['ROLLGATE_LIMITER_PER_REQUEST'],
    });
    this.#check = limit(() => new Response(null, { status: 204 }));
  }

  fetch(request: Request): Promise<Response> {
    return this.#check(request, undefined);
  }

  /** Cloudflare calls it at the alarm, when the counts have expired. */
  async alarm(): Promise<void> {
    await this.#storage.deleteAll();
  }
}

// An IPv6 client has many addresses, so this counts by its network.
const toKey = createClientKey(56);

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    // Requests without an address share one object.
    const client = toKey(cloudflareAddress(request) ?? '');
    const limited = await env.LIMITERS.getByName(client).fetch(
      request.url,
    );
    if (limited.status === 429) return limited;
    const response = new Response('hello');
    for (const [name, value] of limited.headers)
      response.headers.set(name, value);
    return response;
  },
};
