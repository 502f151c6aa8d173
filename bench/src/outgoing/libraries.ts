import { Octokit } from '@octokit/core';
import { throttling } from '@octokit/plugin-throttling';
import { createFetch, discord, github, openai } from '@rollgate/fetch';
import { RedisStore } from '@rollgate/redis';
import Bottleneck from 'bottleneck';
import { Effect, Layer, ManagedRuntime } from 'effect';
import { FetchHttpClient, HttpClient } from 'effect/http';
import { RateLimiter, Redis as RedisOfEffect } from 'effect/persistence';
import { Redis } from 'ioredis';
import pThrottle from 'p-throttle';
import { APIS, type ApiName } from './apis.js';

/** What a library has to know to call an API. */
export interface Target {
  readonly api: ApiName;
  readonly url: string;
  /** The Redis server that the processes share. */
  readonly redisUrl: string;
  readonly processes: number;
}

/** Makes one call of this cost, and resolves when it has ended. */
export type Call = (cost: number) => Promise<unknown>;

/** Creates the client of one process, configured as the documentation of the library shows. */
export type CreateCall = (target: Target) => Call | Promise<Call>;

class RejectedError extends Error {
  constructor(readonly retryAfterMs: number) {
    super('Expected the API to allow the call, got the status 429');
  }
}

/** Sends a call. Rejects with a {@link RejectedError} if the API does. */
async function send(address: string): Promise<void> {
  const response = await fetch(address);
  await response.text();
  if (response.status === 429) throw new RejectedError(readWaitMs(response.headers));
}

/** The wait that a rejection of one of the APIs reports. */
function readWaitMs(headers: Headers): number {
  const exact = headers.get('retry-after-ms');
  if (exact !== null) return Number(exact);
  const after = headers.get('x-ratelimit-reset-after');
  if (after !== null) return Number(after) * 1000;
  return Math.max(0, Number(headers.get('x-ratelimit-reset')) * 1000 - Date.now());
}

const DIALECTS = { github, openai, discord };

/** It knows no limit, only the dialect and the cost of a call. */
const createRollgate: CreateCall = async ({ api, url, redisUrl }) => {
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

const ATTEMPTS = 3;

/**
 * The documentation demands intervals of a multiple of 5 seconds in a cluster, so the limit of Discord becomes a distance between
 * calls.
 */
const BOTTLENECK_SETTINGS: Readonly<Record<ApiName, Bottleneck.ConstructorOptions>> = {
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
const createBottleneck: CreateCall = async ({ api, url, redisUrl }) => {
  const { hostname: host, port } = new URL(redisUrl);
  const clientOptions = { host, port: Number(port) };
  const limiter = new Bottleneck({
    id: 'my-app',
    datastore: 'ioredis',
    clientOptions,
    Redis,
    ...BOTTLENECK_SETTINGS[api],
  });
  limiter.on('failed', (error, { retryCount }) =>
    error instanceof RejectedError && retryCount + 1 < ATTEMPTS ? error.retryAfterMs : undefined,
  );
  await limiter.ready();
  const { path } = APIS[api];
  const weightOf = (cost: number) => (api === 'openai' ? cost : 1);
  return (cost) => limiter.schedule({ weight: weightOf(cost) }, () => send(`${url}${path}?cost=${cost}`));
};

type EffectOptions = HttpClient.WithRateLimiter.Options;

/** It does not read the formats of OpenAI's headers, so it keeps to the limit that it starts with. */
const ALGORITHMS: Readonly<Record<ApiName, EffectOptions['algorithm']>> = {
  github: 'fixed-window',
  openai: 'token-bucket',
  discord: 'fixed-window',
};

/** `withRateLimiter` with its store in Redis. It starts with the limit of the API, and then reads the headers. */
const createEffect: CreateCall = async ({ api, url, redisUrl }) => {
  const { limit, windowMs: window, path } = APIS[api];
  const algorithm = ALGORITHMS[api];
  const limiting = RateLimiter.layer.pipe(
    Layer.provide(RateLimiter.layerStoreRedis()),
    Layer.provide(redisLayer(new Redis(redisUrl))),
  );
  const runtime = ManagedRuntime.make(Layer.merge(limiting, FetchHttpClient.layer));
  const costOf: EffectOptions['tokens'] = ({ url: address }) => Number(new URL(address).searchParams.get('cost'));
  const client = await runtime.runPromise(
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter;
      const http = yield* HttpClient.HttpClient;
      return http.pipe(
        HttpClient.withRateLimiter({ limiter, key: 'my-app', limit, window, tokens: costOf, algorithm }),
      );
    }),
  );
  return (cost) =>
    runtime.runPromise(
      Effect.flatMap(client.get(`${url}${path}?cost=${cost}`), ({ text }) => text).pipe(Effect.scoped),
    );
};

/** The rate limiter only sends commands. */
function redisLayer(client: Redis): Layer.Layer<RedisOfEffect.Redis> {
  const send = <Reply = unknown>(command: string, ...args: readonly string[]) =>
    Effect.tryPromise({
      try: () => client.call(command, ...args) as Promise<Reply>,
      catch: (cause) => new RedisOfEffect.RedisError({ cause }),
    });
  const unused = Effect.die(new Error('Expected no subscription and no connection of its own'));
  return Layer.effect(RedisOfEffect.Redis, RedisOfEffect.make({ send, subscribe: () => unused, connect: unused }));
}

const ThrottledOctokit = Octokit.plugin(throttling);

/** Clustered over Redis. Retries once, as the documentation does. */
const createOctokit: CreateCall = ({ api, url, redisUrl }) => {
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
const createFullThrottle = createThrottle(() => 1);
const createDividedThrottle = createThrottle((processes) => 1 / processes);

export const LIBRARIES = {
  rollgate: createRollgate,
  bottleneck: createBottleneck,
  effect: createEffect,
  octokit: createOctokit,
  'p-throttle': createFullThrottle,
  'p-throttle, divided': createDividedThrottle,
} as const satisfies Readonly<Record<string, CreateCall>>;

export type OutgoingLibrary = keyof typeof LIBRARIES;
