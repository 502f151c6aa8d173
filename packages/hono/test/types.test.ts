import { rateLimit, rollingWindow } from '@rollgate/hono';
import { Hono } from 'hono';

type Env = { Variables: { customer: string }; Bindings: { LIMIT: number } };
const limits = { burst: rollingWindow({ limit: 1, window: '1s' }), daily: rollingWindow({ limit: 9, window: '1d' }) };

test('functions know the variables and bindings of the app, named or inferred', () => {
  const app = new Hono<Env>();
  app.use(rateLimit<Env>({ limit: (c) => c.env.LIMIT, window: '1m', key: (c) => c.get('customer') }));
  // @ts-expect-error: a misspelled binding
  rateLimit<Env>({ limit: (c) => c.env.LIMITT, window: '1m', key: () => 'ann' });
  // @ts-expect-error: a misspelled variable
  rateLimit<Env>({ limit: 1, window: '1m', key: (c) => c.get('custmer') });
  new Hono().use(rateLimit({ limit: 1, window: '1m', key: (c) => c.req.header('x-key') ?? 'none' }));
  const limit = rateLimit<typeof limits>({ limits, key: () => ({ burst: 'ann', daily: 'ann' }) });
  expect(limit.limiter).toBe(limit.limiter);
});
