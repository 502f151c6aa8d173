import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Limits, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { type CachedLimitsOptions, cachedLimits, type LimitsFailure } from '@rollgate/core/cached-limits';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { bundleCopies } from '@rollgate/test-support/fresh-copies';

const failures: LimitsFailure[] = [];
const note = (event: unknown) => void failures.push(event as LimitsFailure);
beforeEach(() => {
  failures.length = 0;
  subscribe('rollgate:limits:failure', note);
});
afterEach(() => unsubscribe('rollgate:limits:failure', note));

/** A source whose loads end when the test says so. */
function open(options: Partial<CachedLimitsOptions> = {}) {
  const clock = manualClock();
  const loads: { key: string; end: (limits: Limits | undefined) => void; fail: (error: Error) => void }[] = [];
  const load = (key: string) =>
    new Promise<Limits | undefined>((end, fail) => {
      loads.push({ key, end, fail });
    });
  const limits = cachedLimits({ load, ttl: '1m', staleFor: '1h', clock, ...options });
  /** The requests per minute of a key, or `undefined` while the call waits for it. */
  const limitOf = async (key: string): Promise<number | undefined> => {
    const given = limits(key);
    const known = await Promise.race([given, flushPromises()]);
    if (known === undefined) return undefined;
    return (await new RateLimiter({ limits: null }).peek(key, { limits: known })).limit;
  };
  return { clock, loads, limits, limitOf };
}

test('one load serves all calls of a key, until it is older than the time to live', async () => {
  const { clock, loads, limits, limitOf } = open();
  const calls = [limits('ann'), limits('ann'), limits('bob')];
  expect(loads.map(({ key }) => key)).toEqual(['ann', 'bob']);
  loads[0]!.end('5/1m');
  loads[1]!.end({ burst: '7/1m' });
  const [first, second, other] = await Promise.all(calls);
  expect(first).toBe(second);
  expect(Object.keys(other as object)).toEqual(['burst']);
  clock.advance(59_999);
  expect(limits('ann')).toBe(first);
  expect(await limitOf('ann')).toBe(5);
  expect(loads).toHaveLength(2);
});

test('equal texts are one object, and so is what a load returns again', async () => {
  const given = { day: rollingWindow({ limit: 3, window: '1d' }) };
  const limits = cachedLimits({ load: (key: string) => (key === 'own' ? given : '5/1m') });
  expect(await limits('ann')).toBe(await limits('bob'));
  expect(await limits('own')).toBe(given);
});

test('old limits decide while new ones load, and later a call waits', async () => {
  const { clock, loads, limitOf } = open();
  expect(await limitOf('ann')).toBeUndefined();
  loads[0]!.end('5/1m');
  await flushPromises();
  clock.advance('1m');
  expect(await limitOf('ann')).toBe(5);
  expect(await limitOf('ann')).toBe(5);
  expect(loads).toHaveLength(2);
  loads[1]!.end('6/1m');
  await flushPromises();
  expect(await limitOf('ann')).toBe(6);
  clock.advance('61m');
  expect(await limitOf('ann')).toBeUndefined();
  loads[2]!.end('7/1m');
  await flushPromises();
  expect(await limitOf('ann')).toBe(7);
});

test('with `staleFor: 0`, no call gets old limits', async () => {
  const { clock, loads, limitOf } = open({ staleFor: 0 });
  await limitOf('ann');
  loads[0]!.end('5/1m');
  await flushPromises();
  clock.advance('1m');
  expect(await limitOf('ann')).toBeUndefined();
});

test('if the source fails, the last limits stay, and one load per second tries again', async () => {
  const { clock, loads, limitOf } = open();
  await limitOf('ann');
  loads[0]!.end('5/1m');
  await flushPromises();
  clock.advance('2h');
  expect(await limitOf('ann')).toBeUndefined();
  const error = new Error('down');
  loads[1]!.fail(error);
  await flushPromises();
  expect(await limitOf('ann')).toBe(5);
  expect(failures).toEqual([{ key: 'ann', error, used: 'last' }]);
  clock.advance(999);
  expect(await limitOf('ann')).toBe(5);
  expect(loads).toHaveLength(2);
  clock.advance(1);
  expect(await limitOf('ann')).toBe(5); // No call waits for a source that has just failed.
  expect(loads).toHaveLength(3);
  loads[2]!.end('6/1m');
  await flushPromises();
  expect(await limitOf('ann')).toBe(6);
});

test('a load that takes too long has failed, and its result does not count', async () => {
  const { clock, loads, limitOf } = open({ defaultLimits: '2/1m', timeout: '5s' });
  expect(await limitOf('ann')).toBeUndefined();
  clock.advance('5s');
  await flushPromises();
  expect(await limitOf('ann')).toBe(2);
  expect(failures).toMatchObject([{ used: 'default', error: { code: 'ERR_ROLLGATE_FUNCTION_TIMEOUT' } }]);
  loads[0]!.end('9/1m');
  await flushPromises();
  expect(await limitOf('ann')).toBe(2);
});

test('a new key without limits is an error, unless there are default limits', async () => {
  const { clock, loads, limits } = open();
  const call = limits('ann');
  clock.advance('1s'); // It has no limits to use after `maxWait`.
  loads[0]!.end(undefined);
  await expect(call).rejects.toMatchObject({
    code: 'ERR_ROLLGATE_MISSING_LIMITS',
    message: expect.stringContaining('Expected `load` to return limits, got undefined. Set `defaultLimits`'),
  });
  const failing = limits('ann');
  loads[1]!.fail(new Error('down'));
  await expect(failing).rejects.toThrow('down');
  expect(failures.map(({ used }) => used)).toEqual(['none', 'none']);
  const withDefault = open({ defaultLimits: '2/1m' });
  const call2 = withDefault.limits('ann');
  withDefault.loads[0]!.end(undefined);
  await call2;
  expect(await withDefault.limitOf('ann')).toBe(2);
  expect(failures).toHaveLength(2);
});

test('without a subscriber, a failed load causes a warning, which says what decides instead', async () => {
  unsubscribe('rollgate:limits:failure', note);
  const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
  const name = '@rollgate/core/cached-limits';
  const load = await bundleCopies<{ [name]: { cachedLimits: typeof cachedLimits } }>(name);
  const fail = () => {
    throw new Error('down');
  };
  // A new copy for each, because each warns once.
  await load()[name].cachedLimits({ load: fail, defaultLimits: '2/1m' })('ann');
  await expect(load()[name].cachedLimits({ load: fail })('ann')).rejects.toThrow('down');
  const loads = [async () => '5/1m', fail];
  const known = load()[name].cachedLimits({ load: () => loads.shift()!() });
  await known('ann');
  await known.refresh('ann');
  expect(warn.mock.calls.map(([message]) => message)).toEqual([
    'The limits of a key could not be loaded, so its default ones decide: down',
    'The limits of a key could not be loaded, and there are no others, so the call fails: down',
    'The limits of a key could not be loaded, so its last ones decide: down',
  ]);
  warn.mockRestore();
});

test.each([
  ['5 per minute', /"5 per minute"/],
  [{ limit: 5, window: '1m' }, /`limits.window`/],
  [5, /`limits`/],
  [{}, /`limits`/],
])('a mistake in the source, %j, is a failure of the load, not of the check', async (mistake, message) => {
  const { clock, loads, limitOf } = open();
  await limitOf('ann');
  loads[0]!.end('5/1m');
  await flushPromises();
  clock.advance('1m');
  await limitOf('ann');
  loads[1]!.end(mistake as Limits);
  await flushPromises();
  expect(await limitOf('ann')).toBe(5);
  expect(String(failures[0]!.error)).toMatch(message);
});

test('a call waits for a slow source only a short time if there are other limits', async () => {
  const { clock, loads, limits } = open({ defaultLimits: '2/1m', maxWait: '250ms', timeout: '5s' });
  const calls = [limits('ann'), limits('ann')];
  clock.advance('250ms');
  expect(await calls[0]).toBe(await calls[1]);
  expect(loads).toHaveLength(1);
  clock.advance('5s');
  await flushPromises();
  clock.advance('1s');
  expect(limits('ann')).toBe(await calls[0]); // At once, while the next load is open.
  expect(loads).toHaveLength(2);
  loads[1]!.end('5/1m');
  await flushPromises();
  expect(limits('ann')).not.toBe(await calls[0]);
});

test('keys without limits of their own evict none that have some', async () => {
  let isDown = false;
  const load = (key: string) => {
    if (isDown) throw new Error('down');
    return key === 'acme' ? '5000/1m' : undefined;
  };
  const { clock, limitOf } = open({ load, defaultLimits: '10/1m', max: 3 });
  await limitOf('acme');
  isDown = true;
  clock.advance('2h');
  for (let made = 0; made < 10; made++) expect(await limitOf(`made up ${made}`)).toBe(10);
  expect(await limitOf('acme')).toBe(5000);
});

test('a number is the same key as its text', async () => {
  const { loads, limits } = open();
  limits(7);
  loads[0]!.end('5/1m');
  await flushPromises();
  const refreshed = limits.refresh('7');
  loads[1]!.end('6/1m');
  await refreshed;
  expect(await limits(7n)).toMatchObject({ limit: 6 });
});

test('a refresh replaces a load that may have read the old limits', async () => {
  const { loads, limits, limitOf } = open();
  const call = limits('ann');
  const refreshed = limits.refresh('ann');
  loads[0]!.end('5/1m');
  await flushPromises();
  loads[1]!.end('6/1m');
  await refreshed;
  expect(await limitOf('ann')).toBe(6);
  expect((await new RateLimiter({ limits: null }).peek('ann', { limits: await call })).limit).toBe(6);
});

test('a load that fails after a refresh has begun leaves the newer one open', async () => {
  const { loads, limits } = open();
  const call = limits('ann');
  const refreshed = limits.refresh('ann');
  loads[0]!.fail(new Error('down'));
  await expect(call).rejects.toThrow('down');
  const next = limits('ann');
  expect(loads).toHaveLength(2);
  loads[1]!.end('6/1m');
  await refreshed;
  expect(await next).toMatchObject({ limit: 6 });
});

test('a call that waits during a refresh of all keys gets the limits of a new load', async () => {
  const { loads, limits } = open();
  const call = limits('ann');
  await limits.refresh();
  loads[0]!.end('5/1m');
  await flushPromises();
  loads[1]!.end('6/1m');
  expect(await call).toMatchObject({ limit: 6 });
});

test('a refresh of all keys makes each wait once, and a failed one keeps the last limits', async () => {
  const { clock, loads, limits, limitOf } = open();
  clock.advance(1);
  await limitOf('ann');
  loads[0]!.end('5/1m');
  await flushPromises();
  await limits.refresh();
  expect(loads).toHaveLength(1);
  expect(await limitOf('ann')).toBeUndefined();
  loads[1]!.end('6/1m');
  await flushPromises();
  expect(await limitOf('ann')).toBe(6);
  const refreshed = limits.refresh('ann');
  loads[2]!.fail(new Error('down'));
  await refreshed;
  clock.advance('1s');
  expect(await limitOf('ann')).toBe(6);
  expect(loads).toHaveLength(3); // They are no older than `ttl`.
});

test('keeps the limits of the keys that were loaded last', async () => {
  const { loads, limitOf } = open({ max: 2 });
  for (const [index, key] of ['ann', 'bob', 'cid'].entries()) {
    await limitOf(key);
    loads[index]!.end(`${index + 1}/1m`);
    await flushPromises();
  }
  expect(await limitOf('bob')).toBe(2);
  expect(await limitOf('cid')).toBe(3);
  expect(await limitOf('ann')).toBeUndefined();
});

test.each([
  [{}, 'Expected `load` to be a function, got undefined'],
  [{ ttl: 0 }, 'Expected `ttl` to be'],
  [{ staleFor: -1 }, 'Expected `staleFor` to be'],
  [{ max: 0 }, 'Expected `max` to be an integer from 1'],
  [{ timeout: 'soon' }, 'Expected `timeout` to be'],
  [{ defaultLimits: '0/x' }, '`limits`'],
  [{ defaultLimits: 7 }, '`limits`'],
  [{ maxWait: 0 }, 'Expected `maxWait` to be'],
  [{ clock: 5 }, 'Expected `clock` to be an object with a method `now`'],
  [{ refresh: true }, '`refresh`'],
])('options %j are an error', (options, message) => {
  const load = Object.keys(options).length === 0 ? undefined : () => undefined;
  expect(() => cachedLimits({ load, ...options } as never)).toThrow(message);
});
