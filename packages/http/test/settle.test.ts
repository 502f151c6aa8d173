import { rollingWindow } from '@rollgate/core';
import { settle } from '@rollgate/http';
import { createGate, type Options } from './support/fake-host.js';

const key = () => 'ann';
const gateWith = (options: Options = {}) => createGate({ key, ...options });
const nine = { limit: 9, window: '1m' };
const tokens = rollingWindow(nine);

/** Sends a request through the gates. It is the same object for all of them, and for settlements. */
async function passed(...gates: ReturnType<typeof gateWith>[]): Promise<object> {
  const request = { address: '192.0.2.1' };
  for (const gate of gates) await gate.judge(request, { isSent: false });
  return request;
}

const left = ({ limiter }: ReturnType<typeof gateWith>) => limiter.peek('ann');

test('a settlement with a limiter leaves the others as they are', async () => {
  const [flood, unused] = [gateWith(nine), gateWith(nine)];
  const llm = gateWith({ limits: { requests: tokens, tokens }, cost: { tokens: 5 } });
  const request = await passed(flood, llm);
  await settle(request, { limiter: unused, cost: 0 });
  await settle(request, { limiter: llm, cost: 0 });
  await settle(request, { limiter: flood.limiter, cost: 3 });
  await settle(request, { cost: 9 }); // Both have settled the request.
  expect((await left(flood)).remaining).toBe(6);
  expect((await left(llm)).limits).toMatchObject({ requests: { remaining: 9 }, tokens: { remaining: 9 } });
});

test.each([
  ['a name that the limiter does not have', (limiter: object) => ({ limiter, cost: { tokens: 1 } }), 'tokens'],
  ['text as the limiter', () => ({ limiter: 'llm', cost: 0 }), 'Expected `limiter` to be a limiter'],
  ['an object without a limiter', () => ({ limiter: { limiter: {} }, cost: 0 }), 'Expected `limiter` to be a limiter'],
  ['a misspelled option', (limter: object) => ({ limter, cost: 0 }), 'Unknown option `limter` for settle'],
])('a settlement with %s rejects, and settles nothing', async (_, createOptions, message) => {
  const [first, second] = [gateWith({ limits: { tokens } }), gateWith(nine)];
  const request = await passed(first, second);
  await expect(settle(request, createOptions(second) as never)).rejects.toThrow(message);
  for (const gate of [first, second]) expect((await left(gate)).remaining).toBe(8);
});

test.each([
  ['a request', (request: object) => request],
  ['an object that inherits from a request', (request: object) => Object.create(request) as object],
])('a settlement finds all limiters that %s has passed', async (_, derive) => {
  const gates = [gateWith(nine), gateWith(nine), gateWith(nine)];
  await settle(derive(await passed(...gates)), { cost: 3 });
  for (const gate of gates) expect((await left(gate)).remaining).toBe(6);
});
