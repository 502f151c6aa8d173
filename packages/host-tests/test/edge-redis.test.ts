import { startRedis, until } from '@rollgate/test-support';
import { type RestFront, startRestFront } from '@rollgate/test-support/rest-front';
import { type HostProcess, startWorkerWithRedis } from '../src/start-hosts.js';

let redis: Awaited<ReturnType<typeof startRedis>>;
let front: RestFront;
let worker: HostProcess;
beforeAll(async () => {
  redis = await startRedis();
  front = await startRestFront(redis.url);
  worker = await startWorkerWithRedis(front);
});
afterAll(async () => {
  await worker?.stop();
  await front?.stop();
  await redis?.stop();
});

/** Sends parallel requests, and returns how many the worker allows. */
async function countAllowed(path: string, requests: number): Promise<number> {
  const send = () => fetch(`http://127.0.0.1:${worker.ports.worker}${path}`);
  const responses = await Promise.all(Array.from({ length: requests }, send));
  return responses.filter(({ status }) => status === 200).length;
}

test('parallel requests to a worker share a limit in Redis', async () => {
  expect(await countAllowed('/shared', 20)).toBe(5);
  expect(await countAllowed('/shared', 3)).toBe(0);
});

describe.each(['slots', 'refunds'])('a worker settles a request after its response: %s', (scenario) => {
  test.each([
    ['with a body', 'GET', 'hello', 200],
    ['without a body', 'GET', 'empty', 200],
    ['to HEAD', 'HEAD', 'hello', 200],
    ['of a handler that fails', 'GET', 'throw', 500],
  ])('a response %s', async (_, method, behavior, status) => {
    const send = () => fetch(`http://127.0.0.1:${worker.ports.worker}/${scenario}/${behavior}/${method}`, { method });
    const first = await send();
    await first.text();
    expect(first.status).toBe(status);
    await until('the next request is allowed', async () => (await send()).status === status);
  });
});

test('when Redis stops responding, the memory of the worker decides after the timeout', async () => {
  await front.stop();
  expect(await countAllowed('/outage', 8)).toBe(5);
});
