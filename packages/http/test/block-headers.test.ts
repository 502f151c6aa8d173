import { block, rollingWindow } from '@rollgate/core';
import { clock, EXPRESSES, limitWith, serve } from '@rollgate/host-tests/express-servers';

const [[, express]] = EXPRESSES;
const attempts = rollingWindow({ limit: 2, window: '1m' });

/** The headers of a response about its limits, without those of Express. */
const limitHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => /ratelimit|retry-after/.test(name)));

/** Serves these limits to one client, with all headers. */
async function serveLimits(limits: object, options: object = {}) {
  const limit = limitWith({ limits, headers: 'all', resetUnit: 'delta', key: () => 'ann', ...options });
  const { send } = await serve(express, [limit]);
  return { limit, send };
}

// The block comes first, where it would win a tie.
test('headers leave a block out, unless it rejects', async () => {
  const { limit, send } = await serveLimits({ blocked: block(), attempts });
  expect(limitHeaders(await send())).toEqual({
    'x-ratelimit-limit': '2',
    'x-ratelimit-remaining': '1',
    'x-ratelimit-reset': '60',
    'ratelimit-policy': '"attempts";q=2;w=60',
    ratelimit: '"attempts";r=1;t=60',
  });
  await limit.limiter.block({ blocked: 'ann' } as never, '1h');
  clock.ms += 500;
  const blocked = { 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0' };
  const policy = '"attempts";q=2;w=60, "blocked";q=0';
  expect(limitHeaders(await send())).toEqual({
    ...blocked,
    'x-ratelimit-reset': '3600',
    'ratelimit-policy': policy,
    ratelimit: '"blocked";r=0;t=3600',
    'retry-after': '3600',
  });
  await limit.limiter.block({ blocked: 'ann' } as never, Infinity);
  const reply = await send();
  expect(limitHeaders(reply)).toEqual({ ...blocked, 'ratelimit-policy': policy, ratelimit: '"blocked";r=0' });
  expect(await reply.json()).toMatchObject({ message: 'Access is blocked' });
});

test('a block alone has headers only while it rejects', async () => {
  const { limit, send } = await serveLimits(block());
  const open = await send();
  expect([open.status, limitHeaders(open)]).toEqual([200, {}]);
  await limit.limiter.block('ann' as never, '1m');
  expect(limitHeaders(await send())).toEqual({
    'x-ratelimit-limit': '0',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '60',
    'ratelimit-policy': '"default";q=0',
    ratelimit: '"default";r=0;t=60',
    'retry-after': '60',
  });
});
