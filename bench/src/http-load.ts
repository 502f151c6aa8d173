import { performance } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { answer } from './worker.js';

export interface LoadQuestion {
  readonly port: number;
  readonly requests: number;
  readonly expectedStatus: number;
}

const CONNECTIONS = 50;

/** Sends the requests over connections that are kept open, and answers how many were served in a second. */
answer(async ({ port, requests, expectedStatus }: LoadQuestion): Promise<number> => {
  const start = performance.now();
  let end = start;
  const load = autocannon({
    url: `http://127.0.0.1:${port}/`,
    connections: CONNECTIONS,
    amount: requests,
    sampleInt: 50, // It looks that often whether the requests are done.
  });
  // Its types are older than it: it returns both a promise and an emitter.
  (load as unknown as autocannon.Instance).on('response', () => {
    end = performance.now();
  });
  const { statusCodeStats = {} } = await load;
  if (statusCodeStats[`${expectedStatus}`]?.count !== requests) {
    throw new Error(`Expected ${requests} answers of status ${expectedStatus}, got ${JSON.stringify(statusCodeStats)}`);
  }
  return (requests * 1000) / (end - start);
});
