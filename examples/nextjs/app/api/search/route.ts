// A stricter limit for one route handler.
import { rateLimit, vercelAddress } from '@rollgate/web';

// In `next dev`, nothing sets Vercel's header.
const address =
  process.env.NODE_ENV === 'development'
    ? () => '127.0.0.1'
    : vercelAddress;
const limit = rateLimit({
  limit: 2,
  window: '1m',
  address,
  headers: 'draft-11',
});

export const GET = limit(async (request) => {
  const query = new URL(request.url).searchParams.get('q');
  return Response.json({ found: query });
});
