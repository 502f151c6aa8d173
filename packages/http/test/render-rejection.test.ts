import { type Rejection, renderRejection } from '@rollgate/http';

const JSON_TYPE = 'application/json; charset=utf-8';

const text: Rejection = { status: 429, text: 'Slow down' };

test.each([
  [undefined],
  ['*/*'],
  ['application/json'],
  ['text/plain, application/json'],
  ['text/plain;q=0.5, application/json'],
  ['text/html'],
])('text is JSON for a client that accepts %s', (accept) => {
  const { status, type, body } = renderRejection(text, accept);
  expect([status, type]).toEqual([429, JSON_TYPE]);
  expect(JSON.parse(body)).toEqual({
    statusCode: 429,
    code: 'RATE_LIMIT_EXCEEDED',
    error: 'Too Many Requests',
    message: 'Slow down',
  });
});

test.each([['text/plain'], ['text/plain, application/json;q=0.5'], ['text/plain, */*']])(
  'text is plain for a client that accepts %s',
  (accept) => {
    expect(renderRejection(text, accept)).toEqual({
      status: 429,
      type: 'text/plain; charset=utf-8',
      body: 'Slow down\n',
    });
  },
);

test('a body stays as it is', () => {
  const rejection: Rejection = { status: 503, body: '{"oh":"no"}', type: 'application/problem+json' };
  expect(renderRejection(rejection, 'text/plain')).toEqual({
    status: 503,
    type: 'application/problem+json',
    body: '{"oh":"no"}',
  });
});

test.each([
  [{}, 429],
  [{ status: 403 }, 403],
  [{ statusCode: 503 }, 503],
  [{ status: 200 }, 429],
])('an error with the members %o has its own status if that is one of an error', (members, expected) => {
  const error = Object.assign(new Error('Used up'), members);
  const { status, body } = renderRejection({ status: 429, error });
  expect(status).toBe(expected);
  expect(JSON.parse(body)).toMatchObject({ statusCode: expected, message: 'Used up' });
});

test('messages and statuses may alternate', () => {
  const renderings: Rejection[] = [text, { status: 503, text: 'Slow down' }, { status: 503, text: 'Used up' }, text];
  const bodies = renderings.map((rejection) => JSON.parse(renderRejection(rejection).body));
  expect(bodies.map(({ statusCode, message }) => [statusCode, message])).toEqual([
    [429, 'Slow down'],
    [503, 'Slow down'],
    [503, 'Used up'],
    [429, 'Slow down'],
  ]);
});
