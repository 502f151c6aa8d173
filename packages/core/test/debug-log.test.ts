import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const CORE = join(__dirname, '..');
const program = `
const { RateLimiter, rollingWindow } = require('.');
const limits = { burst: rollingWindow({ limit: 1, window: '1m' }), day: rollingWindow({ limit: 9, window: '1d' }) };
const limiter = new RateLimiter({ name: 'api', limits });
limiter.decide('ann');
limiter.decide({ burst: 'ann', day: 'all' });
limiter.decide(7n);
`;

test.each([
  ['rollgate', 3],
  ['http', 0],
])('with NODE_DEBUG=%s, a process prints %i lines', (NODE_DEBUG, count) => {
  const { stderr } = spawnSync(process.execPath, ['-e', program], {
    cwd: CORE,
    env: { ...process.env, NODE_DEBUG },
    encoding: 'utf8',
  });
  const lines = stderr.split('\n').filter((line) => line.startsWith('ROLLGATE'));
  expect(lines).toHaveLength(count);
  if (count === 0) return;
  expect(lines[0]).toMatch(/^ROLLGATE \d+: api ann: allowed \(burst 0 of 1, day 8 of 9\)$/);
  expect(lines[2]).toContain(': api 7: allowed ');
  expect(lines[1]).toMatch(
    /^ROLLGATE \d+: api \{"burst":"ann","day":"all"\}: rejected by burst, retry in \d+(?:\.\d+)? ms \(burst 0 of 1, day 9 of 9\)$/,
  );
});
