// A limit in a dry run, which counts the requests that it would reject, then in force.   npm run example going-live.ts
// `rollgate suggest access.log` (@rollgate/cli) suggests a limit to start with. docs/deploy.md describes all steps.
import { subscribe } from 'node:diagnostics_channel';
import type { AddressInfo } from 'node:net';
import { type RequestEvent, rateLimit } from '@rollgate/express';
import express, { type Request } from 'express';

const { PORT = '3000', LIMIT = '10', WINDOW = '1m', ENFORCE = 'no' } = process.env;
if (ENFORCE !== 'no' && ENFORCE !== 'yes') throw new Error(`Expected ENFORCE to be no or yes, got ${ENFORCE}`);

const MAX_CALLERS = 1000; // Limits the memory that a flood of addresses can take.
const trial = { requests: 0, rejected: 0, rejectedFromOthers: 0, callers: new Map<string, number>() };

subscribe('rollgate:request', (message) => {
  const { request, decision } = message as RequestEvent;
  trial.requests += 1;
  if (decision.allowed) return;
  trial.rejected += 1;
  const caller = (request as Request).ip ?? 'unknown';
  const rejected = trial.callers.get(caller);
  if (rejected === undefined && trial.callers.size >= MAX_CALLERS) trial.rejectedFromOthers += 1;
  else trial.callers.set(caller, (rejected ?? 0) + 1);
});

const app = express();
app.set('trust proxy', 'loopback');
app.get('/trial', (_request, response) => {
  const { requests, rejected, rejectedFromOthers, callers } = trial;
  const worstHit = [...callers].sort(([, one], [, other]) => other - one).slice(0, 5);
  response.json({
    enforced: ENFORCE === 'yes',
    requests,
    rejected,
    callers: callers.size,
    rejectedFromOthers,
    worstHit,
  });
});
app.use(rateLimit({ limit: Number(LIMIT), window: WINDOW, dryRun: ENFORCE === 'no' }));
app.get('/', (_request, response) => {
  response.json({ hello: 'world' });
});

const server = app.listen(Number(PORT), '127.0.0.1', (error) => {
  if (error) throw error;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(`
Rollgate behind Express, on ${url}: ${LIMIT} requests per client in any ${WINDOW}, ${ENFORCE === 'yes' ? 'in force' : 'as a dry run'}.

  for i in $(seq 12); do curl -s -o /dev/null -w '%{http_code}\\n' ${url}; done
  curl -s ${url}/trial                             counts the rejected requests, and lists the worst-hit clients
  ENFORCE=yes npm run example going-live.ts        enforces the same limit

Ctrl-C stops the server.`);
});
