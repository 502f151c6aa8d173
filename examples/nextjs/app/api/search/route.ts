// A stricter limit for one route handler.
import { rateLimit, vercelAddress } from '@rollgate/web';

const limit = rateLimit({ limit: 2, window: '1m', address: vercelAddress, headers: 'draft-11' });

export const GET = limit(async (request) => {
  const query = new URL(request.url).searchParams.get('q');
  return Response.json({ found: query });
});
