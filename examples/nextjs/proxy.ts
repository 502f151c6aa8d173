// One limit for all routes of the API, before Next.js renders or routes
// anything.
import { rateLimit, vercelAddress } from '@rollgate/web';
import {
  type NextFetchEvent,
  type NextRequest,
  NextResponse,
} from 'next/server';

// In `next dev`, nothing sets Vercel's header.
const address =
  process.env.NODE_ENV === 'development'
    ? () => '127.0.0.1'
    : vercelAddress;
const limit = rateLimit({ limit: 5, window: '1m', address });

export async function proxy(
  request: NextRequest,
  event: NextFetchEvent,
): Promise<Response> {
  const result = await limit.check(request, event);
  if (!result.allowed) return result.response();
  return result.withHeaders(NextResponse.next());
}

export const config = { matcher: '/api/:path*' };
