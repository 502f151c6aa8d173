import { rateLimit } from '@rollgate/web';

const clientOf = (request: Request) => request.headers.get('x-client') ?? 'anonymous';
const createRequest = (client: string) => new Request('http://host/', { headers: { 'x-client': client } });

test.each([
  [{}, 429],
  [{ status: 403 }, 403],
  [{ statusCode: 503 }, 503],
  [{ status: 'none' }, 429],
])('a response to a standard request has the status of the error %o', async (members, expected) => {
  const message = Object.assign(new Error('Used up'), members);
  const limit = rateLimit({ limit: 1, window: '1h', key: clientOf, message });
  const handler = limit(() => new Response('hello'));
  await handler(createRequest('ann'), undefined);
  const rejected = await handler(createRequest('ann'), undefined);
  expect(rejected.status).toBe(expected);
  expect(await rejected.json()).toMatchObject({ statusCode: expected, message: 'Used up' });
});

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
