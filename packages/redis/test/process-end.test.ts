import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { RedisServer } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';

/** How a process opens and closes each client. GLIDE keeps a process for some seconds while it connects. */
const CLIENTS = {
  ioredis: `
    import { Redis } from 'ioredis';
    const client = new Redis(port).on('error', () => {});
    const close = () => client.disconnect();`,
  'node-redis': `
    import { createClient } from 'redis';
    const client = createClient({ socket: { port } }).on('error', () => {});
    client.connect().catch(() => {});
    const close = () => client.destroy();`,
  ...effort(
    {},
    {
      iovalkey: `
        import { Redis } from 'iovalkey';
        const client = new Redis(port).on('error', () => {});
        const close = () => client.disconnect();`,
      '@upstash/redis': `
        import { Redis } from '@upstash/redis';
        const client = new Redis({ url: 'http://127.0.0.1:' + port, token: 'x', retry: { retries: 1, backoff: () => 9 } });
        const close = () => {};`,
      'Valkey GLIDE': `
        import { GlideClient, Logger } from '@valkey/valkey-glide';
        Logger.setLoggerConfig('off');
        const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }], lazyConnect: true });
        const close = () => client.close();`,
    },
  ),
};

test.each(Object.entries(CLIENTS))(
  'a process whose server has ended ends without `process.exit` after it closes its client: %s',
  async (_, opening) => {
    const server = await RedisServer.start();
    await server.stop();
    const script = `
      import { RateLimiter, rollingWindow } from '@rollgate/core';
      import { RedisStore } from '@rollgate/redis';
      const port = ${server.port};
      ${opening}
      const limits = rollingWindow({ limit: 10, window: '1h' });
      const store = new RedisStore({ client });
      const limiter = new RateLimiter({ limits, store, timeout: 200, onStoreError: 'fallback' });
      const pending = new RateLimiter({ limits, store, timeout: '2s', onStoreError: 'deny' }).check('bob');
      for (let call = 0; call < 3; call++) console.log((await limiter.check('ann')).remaining);
      close();
      console.log((await pending).degraded); // ioredis may never settle it, so the deadline does.
    `;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: `${__dirname}/..`, // Here the built packages are found by name.
      timeout: 100_000,
    });
    expect(stdout).toBe('9\n8\n7\ndeny\n');
    expect(stderr.split('\n').filter((line) => line.includes('RollgateWarning'))).toEqual([
      expect.stringContaining('[ROLLGATE_STORE_FAILED] RollgateWarning: The store'),
    ]);
  },
);
