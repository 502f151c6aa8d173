import { flushPromises } from '@rollgate/test-support/flush-promises';
import { concurrency, MemoryStore, rateLimit } from '@rollgate/web';

class BrokenReleases extends MemoryStore {
  override release(): void {
    throw new Error('the decision is lost');
  }
}

const request = () => new Request('http://localhost/');

test('a failed release that no caller awaits causes one warning with its own code', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const limits = concurrency({ limit: 9, lease: '1m' });
  const handler = rateLimit({ limits, key: () => 'ann', store: new BrokenReleases() })(() => new Response());
  for (let i = 0; i < 2; i++) await handler(request(), undefined);
  await flushPromises();
  expect(warn.mock.calls).toEqual([
    [expect.stringContaining('the decision is lost'), { type: 'RollgateWarning', code: 'ROLLGATE_RELEASE_FAILED' }],
  ]);
  warn.mockRestore();
});

const clientOf = (request: Request) => request.headers.get('x-client') ?? 'anonymous';
const createRequest = (client: string) => new Request('http://host/', { headers: { 'x-client': client } });

test('a frozen error is a rejection of a standard request, too', async () => {
  const limit = rateLimit({
    limit: 1,
    window: '1h',
    key: clientOf,
    message: Object.freeze(new Error('Used up')),
  });
  await limit.check(createRequest('ann'));
  const rejected = await limit.check(createRequest('ann'));
  expect(rejected).toMatchObject({ allowed: false, error: { message: 'Used up' } });
});
