import { concurrency, rollingWindow } from '@rollgate/core';
import { createGate, createHost, limitedHost, type TestRequest } from './support/fake-host.js';

const TYPE = 'https://iana.org/assignments/http-problem-types#quota-exceeded';
const TITLE = 'Request cannot be satisfied as assigned quota has been exceeded';
const usual = {
  type: TYPE,
  title: TITLE,
  status: 429,
  detail: 'Rate limit exceeded: try again in 60 seconds',
  'violated-policies': ['default'],
};

describe('problem details', () => {
  const reject = async (options: object, accept = '*/*') => {
    const { send } = limitedHost({ limit: 1, window: '1m', problem: true, ...options });
    await send();
    const { type, headers, status, body } = await send({ path: '/', headers: { accept } });
    expect([type, headers.get('retry-after')]).toEqual(['application/problem+json', '60']);
    return { status, body: JSON.parse(body!) as Record<string, unknown> };
  };

  test.each([
    ['nothing of its own', {}, usual],
    ['a text', { message: 'Not so fast' }, { ...usual, detail: 'Not so fast' }],
    ['an object', { message: { balance: 5 } }, { ...usual, balance: 5 }],
    [
      'another type',
      { message: { type: 'about:blank', detail: 'no' } },
      { ...usual, type: 'about:blank', detail: 'no' },
    ],
    ['a function’s text', { message: ({ path }: TestRequest) => `No ${path}` }, { ...usual, detail: 'No /' }],
    ['a function’s object', { message: async () => ({ balance: 5 }) }, { ...usual, balance: 5 }],
    ['another status', { statusCode: 503 }, { ...usual, status: 503 }],
    [
      'formats',
      { message: { text: 'Not so fast', html: '<p>', json: { balance: 5 } } },
      { ...usual, detail: 'Not so fast', balance: 5 },
    ],
  ])('describe a rejection, with %s', async (_, options, body) => {
    expect(await reject(options)).toEqual({ status: body.status, body });
  });

  test.each(['text/plain', 'text/html', 'application/json', 'application/problem+json'])(
    'are sent even to a client that accepts %s',
    async (accept) => {
      expect((await reject({ message: 'Not so fast' }, accept)).body.type).toBe(TYPE);
    },
  );

  test('are not sent to a client that prefers the HTML of a message', async () => {
    const message = { html: '<p>Slow down</p>' };
    const { send } = limitedHost({ limit: 1, window: '1m', problem: true, message });
    await send();
    const page = await send({ headers: { accept: 'text/html, */*;q=0.1' } });
    expect([page.type, page.body]).toEqual(['text/html; charset=utf-8', message.html]);
    expect((await send({ headers: { accept: 'text/plain' } })).type).toBe('application/problem+json');
  });

  test('name the violated limits', async () => {
    const limits = Object.fromEntries(
      Object.entries({ burst: 1, hourly: 1, daily: 5 }).map(([name, limit]) => [
        name,
        rollingWindow({ limit, window: '1m' }),
      ]),
    );
    const options = { limits, limit: undefined, window: undefined };
    expect((await reject(options)).body['violated-policies']).toEqual(['burst', 'hourly']);
  });

  test.each([429, 503])('call slots that are taken a reduced capacity, with status %d', async (statusCode) => {
    const limits = { rate: rollingWindow({ limit: 9, window: '1m' }), slots: concurrency({ limit: 1, lease: '30s' }) };
    const gate = createGate({ limits, problem: true, statusCode, key: () => 'ann' });
    await gate.limiter.check('ann');
    const { status, body } = await createHost(gate).send();
    expect([status, JSON.parse(body!)]).toEqual([
      statusCode,
      {
        ...usual,
        type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
        title: 'Request cannot be satisfied due to temporary server capacity constraints',
        status: statusCode,
        detail: 'Rate limit exceeded: try again in 1 second',
        'violated-policies': ['slots'],
      },
    ]);
  });
});
