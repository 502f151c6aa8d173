// The same as durable-object.ts for long windows: the object keeps its
// counts in its storage, so they survive restarts.
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
  };
}

/**
 * A store that keeps its state in the object's storage. Its
 * transactions are synchronous, so they are atomic.
 */
const createStorageStore = ({ kv }: State['storage']) =>
  createStore({
    transact(keys, update) {
      const changes = update(keys.map((key) => kv.get(key)));
      keys.forEach((key, index) => {
        const change = changes[index];
        if (change === null) kv.delete(key);
        else if (change !== undefined) kv.put(key, change.numbers);
      });
    },
  });

export class ClientLimiter {
  readonly #check: (
    request: Request,
    info: undefined,
  ) => Promise<Response>;

  constructor({ storage }: State) {
    const limit = rateLimit({
      limit: 3,
      window: '1d',
      key: () => 'client', // Each object serves one client.
      store: createStorageStore(storage),
      // Each object has its own limiter.
      silence: ['ROLLGATE_LIMITER_PER_REQUEST'],
    });
    this.#check = limit(() => new Response(null, { status: 204 }));
  }

  fetch(request: Request): Promise<Response> {
    return this.#check(request, undefined);
  }
}

// An IPv6 client has many addresses, so this counts by its network.
const toKey = createClientKey(56);

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
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
