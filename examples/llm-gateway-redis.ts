// A gateway to a language model that streams. Each user and each organization has limits for requests, tokens and streams
// in flight, which several processes share.   npm run example llm-gateway-redis.ts
import cluster from 'node:cluster';
import { once } from 'node:events';
import { concurrency, rateLimit, settle } from '@rollgate/express';
import { RedisStore } from '@rollgate/redis';
import express, { type NextFunction, type Request, type Response } from 'express';
import { Redis } from 'ioredis';
import { complete, estimateTokens } from './fake-model.js';

const { PORT = '3000', REDIS_URL = 'redis://127.0.0.1:6379', PROCESSES = '2' } = process.env;

/** The tokens that a request reserves for its reply. Only the model knows how many it takes. */
const REPLY_ESTIMATE = 100;

const ACCOUNTS = new Map([
  ['Bearer ann-key', { user: 'ann', organization: 'acme' }],
  ['Bearer bob-key', { user: 'bob', organization: 'acme' }],
]);
const accountOf = (request: Request) => ACCOUNTS.get(request.get('Authorization') ?? '');

if (cluster.isPrimary) startProcesses();
else serve();

function serve(): void {
  const redis = new Redis(REDIS_URL);
  redis.on('error', () => {}); // Emitted at every attempt to connect. Rollgate warns about an outage once.

  // One atomic step decides all limits, so a rejected request takes nothing from any of them.
  const limit = rateLimit({
    limits: {
      userRequests: '20/1m',
      userTokens: '400/1m',
      userStreams: concurrency({ limit: 2 }),
      organizationRequests: '30/1m',
      organizationTokens: '600/1m',
      organizationStreams: concurrency({ limit: 3 }),
    },
    key: keyOf,
    cost: (request) => costOf(estimateTokens(request.body.prompt) + REPLY_ESTIMATE),
    headers: 'draft-11', // Lists every limit.
    problem: true, // The body of a rejection names the violated limits.
    store: new RedisStore({ client: redis }),
  });

  const app = express();
  app.post('/complete', authenticate, express.json(), validate, limit, streamReply);
  app.get('/usage', authenticate, async (request, response) => {
    const { limits } = await limit.limiter.peek(keyOf(request));
    response.json(Object.fromEntries(Object.entries(limits).map(([name, { remaining }]) => [name, remaining])));
  });
  app.listen(Number(PORT), '127.0.0.1', (error) => {
    if (error) throw error;
  });
}

function keyOf(request: Request) {
  const { user, organization } = accountOf(request)!;
  return {
    userRequests: user,
    userTokens: user,
    userStreams: user,
    organizationRequests: organization,
    organizationTokens: organization,
    organizationStreams: organization,
  };
}

const costOf = (tokens: number) => ({ userTokens: tokens, organizationTokens: tokens });

function authenticate(request: Request, response: Response, next: NextFunction): void {
  if (accountOf(request) !== undefined) next();
  else response.status(401).json({ error: 'Unknown key' });
}

function validate(request: Request, response: Response, next: NextFunction): void {
  if (typeof request.body?.prompt === 'string') next();
  else response.status(400).json({ error: 'Expected a prompt' });
}

/**
 * Streams the reply as server-sent events, then settles the tokens that it took. Rollgate releases the slots when the
 * response has ended, or when its client has left.
 */
async function streamReply(request: Request, response: Response): Promise<void> {
  const { prompt } = request.body;
  const left = new AbortController();
  response.on('close', () => left.abort());
  if (response.destroyed) left.abort(); // The client has left before this function ran.
  response.type('text/event-stream').set('X-Process', String(process.pid));
  let tokens = estimateTokens(prompt);
  try {
    for await (const part of complete(prompt, left.signal)) {
      tokens = 'usage' in part ? part.usage.totalTokens : tokens + 1;
      if (!response.write(`data: ${JSON.stringify(part)}\n\n`)) await once(response, 'drain', left);
    }
    response.end();
  } catch (error) {
    if (!left.signal.aborted) throw error;
  } finally {
    await settle(request, { cost: costOf(tokens) });
  }
}

function startProcesses(): void {
  for (let count = 0; count < Number(PROCESSES); count++) cluster.fork();
  cluster.on('exit', (_worker, _code, signal) => signal !== null && cluster.fork());
  cluster.once('listening', (_worker, { port }) => {
    const url = `http://127.0.0.1:${port}`;
    console.log(`
Rollgate behind Express, on ${url}, in ${PROCESSES} processes with Redis on ${REDIS_URL}.
Each user has 20 requests and 400 tokens a minute, and 2 streams at once. The organization has 30, 600 and 3.

  complete() { curl -iN ${url}/complete -H 'Content-Type: application/json' -H "Authorization: Bearer $1" -d "{\\"prompt\\":\\"$2\\"}"; }
  complete ann-key 'Write 20 words'  reserves 104 tokens, streams the reply, and settles 24
  complete bob-key 'Write 90 words'  is settled early if you end it with Ctrl-C
  complete ann-key 'Write 500 words' takes more than its user has, so later requests are rejected
  curl ${url}/usage -H 'Authorization: Bearer ann-key'
                                     shows what is left
  redis-server                       starts Redis

Ctrl-C stops the server.`);
  });
}
