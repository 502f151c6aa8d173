// A limit on trial, then in force: counts whom it would refuse before it refuses.   npm run example going-live.ts
// Which number to begin with, `rollgate suggest access.log` tells (@rollgate/cli); the whole way is docs/going-live.md.
import { subscribe } from 'node:diagnostics_channel';
import type { AddressInfo } from 'node:net';
import { type RequestEvent, rateLimit } from '@rollgate/express';
import express, { type Request } from 'express';

const { PORT = '3000', LIMIT = '10', WINDOW = '1m', ENFORCE = 'no' } = process.env;
if (ENFORCE !== 'no' && ENFORCE !== 'yes') throw new Error(`Expected ENFORCE to be no or yes, got ${ENFORCE}`);

const MAX_CALLERS = 1000; // So that a flood of addresses does not fill the memory.
const trial = { requests: 0, refused: 0, refusedOfOthers: 0, callers: new Map<string, number>() };

subscribe('rollgate:request', (message) => {
  const { request, decision } = message as RequestEvent;
  trial.requests += 1;
  if (decision.allowed) return;
  trial.refused += 1;
  const caller = (request as Request).ip ?? 'unknown';
  const refused = trial.callers.get(caller);
  if (refused === undefined && trial.callers.size >= MAX_CALLERS) trial.refusedOfOthers += 1;
  else trial.callers.set(caller, (refused ?? 0) + 1);
});

const app = express();
app.set('trust proxy', 'loopback');
app.get('/trial', (_request, response) => {
  const { requests, refused, refusedOfOthers, callers } = trial;
  const worstHit = [...callers].sort(([, one], [, other]) => other - one).slice(0, 5);
  response.json({ enforced: ENFORCE === 'yes', requests, refused, callers: callers.size, refusedOfOthers, worstHit });
});
app.use(rateLimit({ limit: Number(LIMIT), window: WINDOW, dryRun: ENFORCE === 'no' }));
app.get('/', (_request, response) => {
  response.json({ hello: 'world' });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind Express, on ${url}: ${LIMIT} requests in any ${WINDOW} for each client, ${ENFORCE === 'yes' ? 'in force' : 'on trial'}.

  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
  curl -s ${url}/trial                             how many were refused, or would have been, and who most
  ENFORCE=yes npm run example going-live.ts        the same limit, in force

Ctrl-C ends it.`);
});
