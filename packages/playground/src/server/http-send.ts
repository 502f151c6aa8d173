import { setMaxListeners } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Send } from '../engine/scenario-run.js';
import type { LastResponse } from '../shared/protocol.js';

/** The header that names the run of a scenario. */
export const RUN_HEADER = 'x-playground-run';

/** The rate limit headers, in their usual spelling. */
const RATE_LIMIT_HEADERS = [
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/**
 * Sends requests over HTTP to this server, each on its own connection. A browser has only six for all of its tabs, so a
 * leaky bucket could not fill its queue.
 */
export function createHttpSend(url: () => string): Send {
  return (run, signal) =>
    new Promise((resolve) => {
      setMaxListeners(0, signal); // All requests of a run have the same one.
      const headers = run === undefined ? {} : { [RUN_HEADER]: run };
      const sent = request(url(), { method: 'POST', agent: false, headers, signal });
      sent.on('response', (response) => {
        response.resume();
        response.on('end', () => resolve(toLastResponse(response)));
      });
      // Without a response, 'error' or only 'close' follows. After the response, this changes nothing.
      sent.on('error', () => {});
      sent.on('close', () => resolve(signal.aborted ? 'canceled' : 'lost'));
      sent.end();
    });
}

function toLastResponse({ statusCode = 0, statusMessage = '', headers }: IncomingMessage): LastResponse {
  return {
    status: `${statusCode} ${statusMessage}`,
    outcome: statusCode === 200 ? 'allowed' : statusCode === 429 ? 'rejected' : 'failed',
    fields: RATE_LIMIT_HEADERS.flatMap((name) => {
      const value = headers[name.toLowerCase()];
      return value === undefined ? [] : [[name, String(value)] as const];
    }),
  };
}
