// A Cloudflare Worker with one limit for each client in the whole
// world. A Durable Object counts the client's requests.
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
  readonly id: { toString(): string };
}

const limit = rateLimit({
  limit: 3,
  window: '10s',
  key: (_request, { id }: State) => id.toString(),
});
const check = limit(() => new Response(null, { status: 204 }));

/**
 * Checks the requests of one client. Cloudflare runs at most one object
 * per name at a time.
 */
export class ClientLimiter {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  fetch(request: Request): Promise<Response> {
    return check(request, this.#state);
  }
}

// A household usually has a whole /56 network of IPv6 addresses.
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
