import { Octokit } from '@octokit/core';
import { throttling } from '@octokit/plugin-throttling';
import Bottleneck from 'bottleneck';
import { Redis } from 'ioredis';
import { APIS } from '../apis.js';
import type { CreateCall } from './library.js';

const ThrottledOctokit = Octokit.plugin(throttling);

/** Clustered over Redis. Retries once, as the documentation does. */
export const createOctokit: CreateCall = ({ api, url, redisUrl }) => {
  const { hostname: host, port } = new URL(redisUrl);
  const connection = new Bottleneck.IORedisConnection({ clientOptions: { host, port: Number(port) }, Redis });
  const octokit = new ThrottledOctokit({
    baseUrl: url,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    throttle: {
      onRateLimit: (_retryAfter: number, _options: object, _octokit: unknown, retryCount: number) => retryCount < 1,
      onSecondaryRateLimit: () => false,
      id: 'my-app',
      connection,
      Bottleneck,
    },
  });
  return (cost) => octokit.request(`GET ${APIS[api].path}?cost=${cost}`);
};
