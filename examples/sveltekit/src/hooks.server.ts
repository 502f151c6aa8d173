import { rateLimit } from '@rollgate/web';
import type { Handle, RequestEvent } from '@sveltejs/kit';
import { building } from '$app/environment';

const limit = rateLimit({
  limit: 100,
  window: '1m',
  // Behind a proxy, adapter-node reads the address from the header that
  // ADDRESS_HEADER names.
  address: (_request, event: RequestEvent) => event.getClientAddress(),
});

export const handle: Handle = async ({ event, resolve }) => {
  if (building || event.isSubRequest) return resolve(event);
  const result = await limit.check(event.request, event);
  if (!result.allowed) return result.response();
  return result.withHeaders(await resolve(event));
};
