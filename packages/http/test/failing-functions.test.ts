import { rollingWindow } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { createGate, createHost, limitedHost, type Options } from './support/fake-host.js';

const onePerMinute = { limit: 1, window: '1m' };
const limits = rollingWindow({ limit: 1, window: '1m' });
const invalidNumbers = [undefined, null, Number.NaN, Infinity, 0, -1, 1.5, '1', {}];

/** The functions that decide a request, other options that they need, and invalid return values. */
const DECIDING: [string, object, unknown[]][] = [
  ['skip', onePerMinute, [undefined, null, 0, 1, '', 'no', {}]],
  ['key', onePerMinute, [true, Number.NaN, '', {}, { other: 'ann' }, { default: true }, { default: '' }, ['ann']]],
  ['cost', onePerMinute, [...invalidNumbers.slice(0, -1), { other: 1 }, { default: -1 }, { default: '1' }]],
  ['limit', { window: '1m' }, invalidNumbers.filter((value) => value !== 0 && value !== Infinity)],
  ['window', { limit: 1 }, [undefined, null, Number.NaN, Infinity, 0, -1, '1', 'soon', '-1m', {}]],
  [
    'limits',
    {},
    [undefined, null, 5, 'all', '100/1x', {}, [], { default: 5 }, { day: '1e3/1m' }, { 'no name': limits }],
  ],
];
/** The functions that run for a rejection only. Rollgate ignores what `onLimited` returns. */
const REJECTING: [string, object, unknown[]][] = [
  ['onLimited', onePerMinute, []],
  ['statusCode', onePerMinute, [undefined, null, '429', 200, 600, 429.5, Number.NaN]],
  ['message', onePerMinute, [undefined, null, 5, true, () => 'no', { big: 1n }, { html: 5 }]],
];
const FUNCTIONS = [...DECIDING, ...REJECTING];

const thrown = new Error('no session');
const never = new Promise<never>(() => {});
const raise = (error: unknown): never => {
  throw error;
};
type Then = (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void;
const thenable = (then: Then) => ({ then });

/** Sends a request, after a first one if the function runs for rejections only, and returns its error. */
async function fail(name: string, options: Options): Promise<Error> {
  const { send } = limitedHost({ timeout: 20, ...options });
  if (REJECTING.some(([rejecting]) => rejecting === name)) expect((await send()).status).toBe(200);
  const { kind, headers, error } = await send();
  expect([kind, [...headers]]).toEqual(['failed', []]);
  return error!;
}

describe.each(FUNCTIONS)('the function %s', (name, otherOptions, invalidValues) => {
  test.each([
    ['throws', () => raise(thrown)],
    ['rejects', () => Promise.reject(thrown)],
    ['is a thenable that rejects', () => thenable((_, reject) => reject(thrown))],
    ['is a thenable that throws', () => thenable(() => raise(thrown))],
  ])('that %s fails the request', async (_, bad) => {
    expect(await fail(name, { ...otherOptions, [name]: bad })).toBe(thrown);
  });

  test.each([undefined, null, 'route', 'router', 0])('that fails with %p allows no request', async (reason) => {
    for (const bad of [() => Promise.reject(reason), () => raise(reason)]) {
      const error = await fail(name, { ...otherOptions, [name]: bad });
      expect(error.message).toContain('Expected option functions and stores to throw errors');
    }
  });

  test.each([
    ['hangs', () => never],
    ['resolves with a thenable that hangs', () => thenable((resolve) => resolve(thenable(() => {})))],
  ])('that %s fails with an error that names it after the timeout', async (_, bad) => {
    const error = await fail(name, { ...otherOptions, [name]: bad });
    expect(error.message).toBe(`\`${name}\` did not settle within 20 ms. Make it faster or raise \`timeout\``);
  });

  test('has no effect after the timeout', async () => {
    for (const isLate of [true, false]) {
      let settle = () => {};
      const bad = () =>
        new Promise((resolve, reject) => {
          settle = isLate ? () => resolve('late') : () => reject(thrown);
        });
      const gate = createGate({ timeout: 20, ...otherOptions, [name]: bad });
      if (REJECTING.some(([rejecting]) => rejecting === name)) await createHost(gate).send();
      const kinds: string[] = [];
      await gate.judge({ address: '192.0.2.1' }, { isSent: false }, ({ kind }) => kinds.push(kind));
      settle();
      await flushPromises();
      expect(kinds).toEqual(['failed']);
    }
  });

  if (invalidValues.length > 0) {
    test.each(invalidValues.map((value) => [value]))('that returns %p fails, sync or async', async (value) => {
      for (const bad of [() => value, async () => value]) {
        const error = await fail(name, { ...otherOptions, [name]: bad });
        expect(error).toBeInstanceOf(Error);
        expect(error.message).toContain(name);
        expect(error.message).toMatch(/Expected|Unknown limit/);
      }
    });
  }

  test('that fails after other code has responded has no effect', async () => {
    let failNow = () => {};
    const bad = () =>
      new Promise((_resolve, reject) => {
        failNow = () => reject(thrown);
      });
    const gate = createGate({ timeout: '1h', ...otherOptions, [name]: bad });
    if (REJECTING.some(([rejecting]) => rejecting === name)) await createHost(gate).send();
    const response = { isSent: false };
    const outcome = gate.judge({ address: '192.0.2.1' }, response);
    response.isSent = true;
    failNow();
    expect(await outcome).toEqual({ kind: 'responded', allowed: undefined });
  });
});

// The core names the invalid values of the others.
test.each([
  ['skip', { skip: () => 'yes' }, 'Expected `skip(request)` to be a boolean, got "yes" (string)'],
  [
    'statusCode',
    { statusCode: () => 200 },
    'Expected `statusCode(request, decision)` to be an integer from 400 to 599, got 200 (number)',
  ],
  [
    'message',
    { message: () => 5 },
    'Expected `message` to be a string, an object or a function that returns one, got 5 (number)',
  ],
  ['message', { message: () => ({ big: 1n }) }, 'Expected `message` to be an object that JSON can represent'],
])('an invalid value of %s is named: %j', async (name, options, message) => {
  expect((await fail(name, { ...onePerMinute, ...options })).message).toContain(message);
});

test.each([
  ['limit', 'window'],
  ['window', 'limit'],
])('when %s rejects and %s throws, the request fails once', async (rejecting, throwing) => {
  const functions = { [rejecting]: () => Promise.reject(thrown), [throwing]: () => raise(new Error('no plan')) };
  expect(['no session', 'no plan']).toContain((await fail('limit', functions)).message);
  expect(await fail('limit', { ...functions, [throwing]: () => never })).toBe(thrown);
  const both = await fail('limit', { limit: () => never, window: () => never });
  expect(both.message).toBe('`limit` or `window` did not settle within 20 ms. Make it faster or raise `timeout`');
});

test.each(FUNCTIONS.filter(([name]) => name !== 'statusCode' && name !== 'message'))(
  'a failure of %s in a dry run affects no request',
  async (name, otherOptions) => {
    for (const bad of [() => raise(thrown), () => Promise.reject(thrown), () => never, () => Number.NaN]) {
      const { statuses } = limitedHost({ timeout: 20, ...otherOptions, dryRun: true, [name]: bad });
      expect(await statuses({}, {})).toEqual([200, 200]);
    }
  },
);

test('a request that fails is not counted', async () => {
  let fails = true;
  const { statuses } = limitedHost({ ...onePerMinute, cost: async () => (fails ? Number.NaN : 1) });
  expect(await statuses({}, {}, {})).toEqual([500, 500, 500]);
  fails = false;
  expect(await statuses({}, {})).toEqual([200, 429]);
});
