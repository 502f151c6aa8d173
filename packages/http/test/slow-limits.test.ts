import { cachedLimits } from '@rollgate/core/cached-limits';
import { limitWith, serve } from './support/node-host.js';

test('while a source of limits does not respond, no request waits for it until its timeout', async () => {
  const limits = cachedLimits({ load: () => new Promise<string>(() => {}), defaultLimits: '100/1h', timeout: '5s' });
  const { statuses } = await serve([limitWith({ limits: () => limits('acme') })]);
  expect(await statuses('/', '/', '/')).toEqual([200, 200, 200]);
});
