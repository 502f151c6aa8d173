import pThrottle from 'p-throttle';
import { APIS } from '../apis.js';
import { type CreateCall, send } from './library.js';

/** Knows its own process only, so each one gets this part of the limit. */
function createThrottle(partOf: (processes: number) => number): CreateCall {
  return ({ api, url, processes }) => {
    const { limit, windowMs, path } = APIS[api];
    const throttle = pThrottle({
      limit: Math.max(1, Math.floor(limit * partOf(processes))),
      interval: windowMs,
      strict: true,
      weight: (cost: number) => cost,
    });
    return throttle((cost: number) => send(`${url}${path}?cost=${cost}`));
  };
}

/** The limit of the API in each process. */
export const createFullThrottle = createThrottle(() => 1);
/** The limit divided by the number of processes. */
export const createDividedThrottle = createThrottle((processes) => 1 / processes);
