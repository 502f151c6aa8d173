import { rateLimit } from '@rollgate/web';
import type { Handle, RequestEvent } from '@sveltejs/kit';

const limit = rateLimit({
  limit: 2,
  window: '1m',
  // The address by the settings of the adapter, such as ADDRESS_HEADER and XFF_DEPTH of adapter-node.
  address: (_request, event: RequestEvent) => event.getClientAddress(),
});

export const handle: Handle = async ({ event, resolve }) => {
  const result = await limit.check(event.request, event);
  if (!result.allowed) return result.response();
  return result.withHeaders(await resolve(event));
};
