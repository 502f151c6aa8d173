import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type DecisionEvent, leakyBucket, type RateLimiter, rollingWindow } from '@rollgate/core';
import { memory, storeWith, until } from '@rollgate/host-tests/test-stores';
import type { Outcome, RequestEvent } from '@rollgate/http';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { recordEvents } from '@rollgate/test-support/record-events';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import {
  createGate,
  createHost,
  createGate as createTestGate,
  limitedHost,
  type Options,
  type TestGate,
} from './support/fake-host.js';
import { limitWith, type Request, serve } from './support/node-host.js';

silenceOutages();

describe('outcomes', () => {
  const createGate = (options: Options = {}, host: object = {}) =>
    createTestGate({ limit: 1, window: '1h', ...options }, host);

  const request = { address: '192.0.2.1' };
  const fails = () => {
    throw new Error('The function failed');
  };
  const stores = [
    ['at once', () => memory()],
    ['later', () => storeWith({})],
  ] as const;

  /** The events of the channel `rollgate:request`. */
  const published: unknown[] = [];
  const onRequest = (event: unknown) => void published.push(event);
  beforeEach(() => {
    published.length = 0;
    subscribe('rollgate:request', onRequest);
  });
  afterEach(() => unsubscribe('rollgate:request', onRequest));

  describe.each(stores)('with a store that responds %s', (_, createStore) => {
    const judge = async (gate: TestGate, count = 1): Promise<Outcome> => {
      let outcome!: Outcome;
      for (let turn = 0; turn < count; turn++) outcome = await gate.judge({ ...request }, { isSent: false });
      return outcome;
    };
    const gateWith = (options: Options = {}, host: object = {}) =>
      createGate({ store: createStore(), ...options }, host);

    test('a request is allowed, and then rejected with what to respond', async () => {
      const gate = gateWith();
      expect(await judge(gate)).toMatchObject({ kind: 'allowed', isDryRun: false, needsSettlement: false });
      expect(await judge(gate)).toMatchObject({
        kind: 'rejected',
        decision: { allowed: false },
        rejection: { status: 429, text: expect.stringMatching(/^Rate limit exceeded: try again in \d+ seconds$/) },
      });
      expect(published).toMatchObject([{ key: '192.0.2.1' }, { key: '192.0.2.1' }]);
    });

    test('a handler of the app needs no `message`', async () => {
      const outcome = await judge(gateWith({ message: fails }, { hasHandler: true }), 2);
      expect(outcome).toMatchObject({ kind: 'rejected', rejection: { status: 429 } });
    });
  });

  test.each([
    [undefined, ['allowed', 'rejected']],
    ['fallback', ['allowed', 'rejected']],
    ['allow', ['allowed', 'allowed']],
    ['deny', ['rejected', 'rejected']],
    ['throw', ['failed', 'failed']],
  ])('a store that fails is replaced by the policy %s', async (onStoreError, kinds) => {
    const store = storeWith({ check: () => Promise.reject(new Error('connection refused')) });
    const gate = createGate({ store, onStoreError });
    const outcomes = [await gate.judge({ ...request }), await gate.judge({ ...request })];
    expect(outcomes.map(({ kind }) => kind)).toEqual(kinds);
    for (const outcome of outcomes) {
      if (outcome.kind !== 'failed') continue;
      // What clients may see does not name the server of the store.
      const { message, status, cause } = outcome.error as Error & { status: number; cause: Error };
      expect([message, status]).toEqual(['The store of the rate limiter is unavailable', 503]);
      expect(cause.message).toBe('The store failed: connection refused');
    }
  });

  test('a request whose client has disconnected without an address', () => {
    const outcome = createGate().judge({ isDisconnected: true });
    expect(outcome).toMatchObject({ kind: 'disconnected', error: { name: 'AbortError' } });
  });

  test.each([
    ['a store', { store: storeWith({}) }],
    ['a key', { key: async () => 'ann' }],
  ])('a request to which other code responds while %s takes time is not published', async (_, options) => {
    const response = { isSent: false };
    const attachDecision = jest.fn();
    const outcome = createGate(options, { attachDecision }).judge({ ...request }, response);
    response.isSent = true;
    expect(await outcome).toMatchObject({
      kind: 'responded',
      allowed: { kind: 'allowed', decision: { allowed: true } },
    });
    expect(attachDecision).not.toHaveBeenCalled();
    expect(published).toEqual([]);
  });

  test('a request to which other code responds while `onLimited` takes time needs no `message`', async () => {
    const response = { isSent: false };
    const message = jest.fn(() => 'Slow down');
    const gate = createGate({ onLimited: async () => {}, message });
    await gate.judge({ ...request }, response);
    const outcome = gate.judge({ ...request }, response);
    response.isSent = true;
    expect(await outcome).toEqual({ kind: 'responded', allowed: undefined });
    expect(message).not.toHaveBeenCalled();
  });
});

describe('functions that fail', () => {
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
});

describe('dry runs', () => {
  const key = () => 'ann';
  const once = { limit: 1, window: '1m', key, dryRun: true };
  const decisionsOf = (passed: { request: Request }[]) => passed.map(({ request }) => request.rateLimit!);

  test('a dry run counts, but rejects no request, sets no header and asks for no message', async () => {
    const message = jest.fn();
    const options = { ...once, headers: 'all', exposeHeaders: true, message };
    const { send, passed } = await serve([limitWith(options)]);
    const bare = await serve([]);
    const headersWithoutLimit = [...(await bare.send()).headers.keys()].sort();
    for (let turn = 0; turn < 3; turn++) {
      const reply = await send();
      expect([reply.status, [...reply.headers.keys()].sort()]).toEqual([200, headersWithoutLimit]);
    }
    expect(decisionsOf(passed)).toMatchObject([
      { allowed: true, remaining: 0 },
      { allowed: false, retryAfterMs: 60_000 },
      { allowed: false, retryAfterMs: 60_000 },
    ]);
    expect(message).not.toHaveBeenCalled();
  });

  test('a dry run delays no request', async () => {
    const limits = leakyBucket({ capacity: 3, interval: '1h' });
    const { passed, statuses } = await serve([limitWith({ limits, key, dryRun: true })]);
    expect(await statuses('/', '/', '/', '/', '/', '/')).toEqual([200, 200, 200, 200, 200, 200]);
    expect(decisionsOf(passed).map(({ delayMs }) => delayMs > 0)).toEqual([false, true, true, true, false, false]);
  });

  test('a dry run refunds requests that do not count', async () => {
    const limit = limitWith({ ...once, skipFailedRequests: true });
    const { statuses } = await serve([limit], { handler: (_request, response) => response.writeHead(500).end() });
    for (let turn = 0; turn < 3; turn++) {
      expect(await statuses('/')).toEqual([500]);
      await until(async () => (await limit.limiter.peek('ann')).remaining === 1);
    }
  });

  test('a dry run allows requests when the policy of a failed store is to deny', async () => {
    const store = storeWith({ check: () => Promise.reject(new Error('down')) });
    const { passed, statuses } = await serve([limitWith({ ...once, store, onStoreError: 'deny' })]);
    expect(await statuses('/', '/')).toEqual([200, 200]);
    expect(decisionsOf(passed).map(({ degraded }) => degraded)).toEqual(['deny', 'deny']);
  });

  test('a dry run keeps the rejections and headers of another limiter', async () => {
    const real = () => limitWith({ limit: 2, window: '1m' });
    for (const [limits, shown, third] of [
      [[limitWith(once), real()], '2', 429],
      [[limitWith({ limit: 5, window: '1m' }), limitWith(once)], '5', 200],
    ] as const) {
      const { send, statuses } = await serve([...limits]);
      expect((await send()).headers.get('x-ratelimit-limit')).toBe(shown);
      expect(await statuses('/', '/')).toEqual([200, third]);
    }
  });

  /** Records the events of one limiter during the work. */
  async function recordDuring(limiter: RateLimiter, work: () => Promise<unknown>) {
    const records = [
      recordEvents<RequestEvent>('rollgate:request'),
      recordEvents<DecisionEvent>('rollgate:decision'),
      recordEvents<DecisionEvent>('rollgate:rejection'),
    ] as const;
    await work();
    for (const { stop } of records) stop();
    const [requests, decisions, rejections] = records.map(({ events }) =>
      (events as { limiter: RateLimiter }[]).filter((event) => event.limiter === limiter),
    );
    return { requests: requests as RequestEvent[], decisions, rejections } as const;
  }

  describe.each([true, false])('with dryRun %p', (dryRun) => {
    test('the channels publish each request with its limiter and decision', async () => {
      const limit = limitWith({ ...once, dryRun, cost: 1 });
      const { statuses, passedPaths } = await serve([limit]);
      const { requests, decisions, rejections } = await recordDuring(limit.limiter, () => statuses('/a', '/b'));
      const { name, prefix } = limit.limiter;
      expect(requests.map((event) => ({ ...event, request: (event.request as Request).url }))).toMatchObject([
        { name, prefix, dryRun, request: '/a', key: 'ann', decision: { allowed: true }, violatedLimits: {} },
        {
          name,
          prefix,
          dryRun,
          request: '/b',
          key: 'ann',
          decision: { allowed: false },
          violatedLimits: { default: { limit: 1 } },
        },
      ]);
      for (const { request, decision } of requests) expect((request as Request).rateLimit).toBe(decision);
      expect(decisions).toEqual(requests.map(({ request, ...event }) => ({ ...event, cost: 1 })));
      expect(rejections).toEqual(decisions!.slice(1));
      expect(passedPaths()).toEqual(dryRun ? ['/a', '/b'] : ['/a']);
    });

    test('the channels publish nothing for exempt requests', async () => {
      for (const options of [{ skip: () => true }, { allowList: ['127.0.0.1'] }]) {
        const limit = limitWith({ ...once, dryRun, ...options });
        const { statuses } = await serve([limit]);
        const { requests, decisions } = await recordDuring(limit.limiter, () => statuses('/', '/'));
        expect([requests, decisions]).toEqual([[], []]);
      }
    });
  });
});
