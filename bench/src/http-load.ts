import { performance } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { handleTasks } from './worker.js';

export interface LoadTask {
  readonly port: number;
  readonly requests: number;
  readonly expectedStatus: number;
}

const CONNECTIONS = 50;

/** Sends requests over persistent connections. Returns the requests per second. */
handleTasks(async ({ port, requests, expectedStatus }: LoadTask): Promise<number> => {
  const start = performance.now();
  let end = start;
  const load = autocannon({
    url: `http://127.0.0.1:${port}/`,
    connections: CONNECTIONS,
    amount: requests,
    sampleInt: 50, // The interval at which it checks whether all requests are done.
  });
  // The types are outdated: it returns both a promise and an emitter.
  (load as unknown as autocannon.Instance).on('response', () => {
    end = performance.now();
  });
  const { statusCodeStats = {} } = await load;
  if (statusCodeStats[`${expectedStatus}`]?.count !== requests) {
    throw new Error(
      `Expected ${requests} responses with status ${expectedStatus}, got ${JSON.stringify(statusCodeStats)}`,
    );
  }
  return (requests * 1000) / (end - start);
});
