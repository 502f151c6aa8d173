import Bottleneck from 'bottleneck';
import { Redis } from 'ioredis';
import { APIS, type ApiName } from '../apis.js';
import { type CreateCall, RejectedError, send } from './library.js';

const ATTEMPTS = 3;

/**
 * The documentation demands intervals of a multiple of 5 seconds in a cluster, so the limit of Discord becomes a distance between
 * calls.
 */
const SETTINGS: Readonly<Record<ApiName, Bottleneck.ConstructorOptions>> = {
  github: {
    reservoir: APIS.github.limit,
    reservoirRefreshAmount: APIS.github.limit,
    reservoirRefreshInterval: APIS.github.windowMs,
    maxConcurrent: 20,
  },
  openai: {
    reservoir: APIS.openai.limit,
    reservoirIncreaseAmount: APIS.openai.limit / 2,
    reservoirIncreaseInterval: APIS.openai.windowMs / 2,
    reservoirIncreaseMaximum: APIS.openai.limit,
  },
  discord: { minTime: APIS.discord.windowMs / APIS.discord.limit },
};

/** One limiter in Redis for all processes, which retries what the API rejects. */
export const createBottleneck: CreateCall = async ({ api, url, redisUrl }) => {
  const { hostname: host, port } = new URL(redisUrl);
  const clientOptions = { host, port: Number(port) };
  const limiter = new Bottleneck({ id: 'my-app', datastore: 'ioredis', clientOptions, Redis, ...SETTINGS[api] });
  limiter.on('failed', (error, { retryCount }) =>
    error instanceof RejectedError && retryCount + 1 < ATTEMPTS ? error.retryAfterMs : undefined,
  );
  await limiter.ready();
  const { path } = APIS[api];
  const weightOf = (cost: number) => (api === 'openai' ? cost : 1);
  return (cost) => limiter.schedule({ weight: weightOf(cost) }, () => send(`${url}${path}?cost=${cost}`));
};
