import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { memory, storeWith } from '@rollgate/host-tests/test-stores';
import type { Outcome } from '@rollgate/http';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { createGate as createTestGate, type Options, type TestGate } from './support/fake-host.js';

silenceOutages();

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
  const gateWith = (options: Options = {}, host: object = {}) => createGate({ store: createStore(), ...options }, host);

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
  expect(await outcome).toMatchObject({ kind: 'responded', allowed: { kind: 'allowed', decision: { allowed: true } } });
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
