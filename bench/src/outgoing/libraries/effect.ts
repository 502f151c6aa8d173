import { Effect, Layer, ManagedRuntime } from 'effect';
import { FetchHttpClient, HttpClient } from 'effect/http';
import { RateLimiter, Redis } from 'effect/persistence';
import { Redis as Client } from 'ioredis';
import { APIS, type ApiName } from '../apis.js';
import type { CreateCall } from './library.js';

type Options = HttpClient.WithRateLimiter.Options;

/** It does not read the formats of OpenAI's headers, so it keeps to the limit that it starts with. */
const ALGORITHMS: Readonly<Record<ApiName, Options['algorithm']>> = {
  github: 'fixed-window',
  openai: 'token-bucket',
  discord: 'fixed-window',
};

/** `withRateLimiter` with its store in Redis. It starts with the limit of the API, and then reads the headers. */
export const createEffect: CreateCall = async ({ api, url, redisUrl }) => {
  const { limit, windowMs: window, path } = APIS[api];
  const algorithm = ALGORITHMS[api];
  const limiting = RateLimiter.layer.pipe(
    Layer.provide(RateLimiter.layerStoreRedis()),
    Layer.provide(redisLayer(new Client(redisUrl))),
  );
  const runtime = ManagedRuntime.make(Layer.merge(limiting, FetchHttpClient.layer));
  const costOf: Options['tokens'] = ({ url: address }) => Number(new URL(address).searchParams.get('cost'));
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
function redisLayer(client: Client): Layer.Layer<Redis.Redis> {
  const send = <Reply = unknown>(command: string, ...args: readonly string[]) =>
    Effect.tryPromise({
      try: () => client.call(command, ...args) as Promise<Reply>,
      catch: (cause) => new Redis.RedisError({ cause }),
    });
  const unused = Effect.die(new Error('Expected no subscription and no connection of its own'));
  return Layer.effect(Redis.Redis, Redis.make({ send, subscribe: () => unused, connect: unused }));
}
