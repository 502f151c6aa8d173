// A Cloudflare Worker with one limit for each client in the whole world. A Durable Object counts the client's requests.
import { cloudflareAddress, createClientKey, rateLimit } from '@rollgate/web';

/** The parts of Cloudflare's types that this program uses. `wrangler types` writes all of them. */
interface Env {
  readonly LIMITERS: { getByName(name: string): { fetch(url: string): Promise<Response> } };
}
interface State {
  readonly id: { toString(): string };
}

const limit = rateLimit({ limit: 3, window: '1m', key: (_request, { id }: State) => id.toString() });
const decide = limit(() => new Response(null, { status: 204 }));

/** Decides the requests of one client. Cloudflare runs at most one object of a name at a time. */
export class ClientLimiter {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  fetch(request: Request): Promise<Response> {
    return decide(request, this.#state);
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
