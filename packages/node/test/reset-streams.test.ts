import { once } from 'node:events';
import { connect, constants, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { concurrency, rateLimit, rollingWindow } from '@rollgate/node';
import { until } from '@rollgate/test-support';

test.each(['NGHTTP2_NO_ERROR', 'NGHTTP2_CANCEL'] as const)(
  'a client that resets a stream with %s while an ended response is unread frees its slot, and counts as aborted',
  async (code) => {
    const limit = rateLimit({
      limits: { slots: concurrency({ limit: 1, lease: '1h' }), units: rollingWindow({ limit: 10, window: '1h' }) },
      key: () => ({ slots: 'all', units: 'all' }),
      skipAbortedRequests: true,
    });
    const handler = limit((_request, response) => void response.end('x'.repeat(1_000_000)));
    const server = createServer(handler as never).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const stream = session.request();
    await once(stream, 'response'); // The client reads no body, so Node keeps most of it.
    stream.close(constants[code]);
    await until('the slot and the unit are free', async () => {
      const { limits } = await limit.limiter.peek({ slots: 'all', units: 'all' });
      return limits.slots.remaining === 1 && limits.units.remaining === 10;
    });
    session.destroy();
    server.close();
  },
);
