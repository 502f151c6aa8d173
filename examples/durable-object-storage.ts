// The same as durable-object.ts for long windows: the object keeps its counts in its storage, so they survive restarts.
import { createStore } from '@rollgate/core/store';
import { cloudflareAddress, createClientKey, rateLimit } from '@rollgate/web';

/** The parts of Cloudflare's types that this program uses. `wrangler types` writes all of them. */
interface Env {
  readonly LIMITERS: { getByName(name: string): { fetch(url: string): Promise<Response> } };
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

/** A store in the storage of one object. It is synchronous, so each transaction is atomic. */
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
  readonly #decide: (request: Request, info: undefined) => Promise<Response>;

  constructor({ storage }: State) {
    const limit = rateLimit({
      limit: 3,
      window: '1d',
      key: () => 'client', // An object decides for one client.
      store: createStorageStore(storage),
      silence: ['ROLLGATE_LIMITER_PER_REQUEST'], // Each object has its own limiter.
    });
    this.#decide = limit(() => new Response(null, { status: 204 }));
  }

  fetch(request: Request): Promise<Response> {
    return this.#decide(request, undefined);
  }
}

const toKey = createClientKey(56); // One client has many IPv6 addresses.

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const client = toKey(cloudflareAddress(request) ?? '');
    const decision = await env.LIMITERS.getByName(client).fetch(request.url);
    if (decision.status === 429) return decision;
    const response = new Response('hello');
    for (const [name, value] of decision.headers) response.headers.set(name, value);
    return response;
  },
};
