import { createFetch, discord, github, openai } from '@rollgate/fetch';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';
import { APIS } from '../apis.js';
import type { CreateCall } from './library.js';

const DIALECTS = { github, openai, discord };

/** It knows no limit, only the dialect and the cost of a call. */
export const createRollgate: CreateCall = async ({ api, url, redisUrl }) => {
  const { path } = APIS[api];
  const client = new Redis(redisUrl);
  await client.ping();
  const call = createFetch({
    store: new RedisStore({ client }),
    bucket: () => 'my-app',
    dialects: [DIALECTS[api]()],
    cost: (request) => ({ tokens: Number(request.url.searchParams.get('cost')) }),
  });
  return async (cost) => (await call(`${url}${path}?cost=${cost}`)).text();
};
