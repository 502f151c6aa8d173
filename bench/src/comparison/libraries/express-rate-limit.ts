import type { Request, RequestHandler, Response } from 'express';
import { type Options, type RateLimitRequestHandler, rateLimit } from 'express-rate-limit';
import { type RedisReply, RedisStore } from 'rate-limit-redis';
import type { Library, Limiter, Outcome, Rule } from '../library.js';
import { toOutcome } from '../responses.js';
import { serveExpress } from '../servers.js';

export const expressRateLimit: Library = {
  inMemory: (rule) => toLimiter([createMiddleware(rule)]),

  combined: (first, second) => toLimiter([createMiddleware(first), createMiddleware(second)]),

  inRedis(rule, redis) {
    const client = redis.connect();
    const sendCommand = (command: string, ...args: string[]) => client.call(command, ...args) as Promise<RedisReply>;
    const store = new RedisStore({ sendCommand });
    return toLimiter([createMiddleware(rule, { store })], (key) => store.decrement(key));
  },

  serve: (rule) => serveExpress(createMiddleware(rule)),
};

function createMiddleware({ limit, windowMs }: Rule, options: Partial<Options> = {}): RateLimitRequestHandler {
  return rateLimit({ limit, windowMs, ...options });
}

/** Calls the middleware one after the other, as Express does, with a request from the address `key`. */
function toLimiter(middleware: readonly RateLimitRequestHandler[], refund?: (key: string) => Promise<void>): Limiter {
  return {
    async check(key) {
      for (const handler of middleware) {
        const outcome = await callMiddleware(handler, key);
        if (!outcome.allowed) return outcome;
      }
      return { allowed: true, ...(refund && { refund: () => refund(key) }) };
    },
    reset: async (key) => {
      for (const handler of middleware) await handler.resetKey(key);
    },
  };
}

function callMiddleware(handler: RequestHandler, ip: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const headers = new Map<string, string>();
    let status = 200;
    const request = { ip, headers: {}, app: { get: () => false } };
    const response = {
      setHeader: (name: string, value: unknown) => headers.set(name.toLowerCase(), String(value)),
      status(code: number) {
        status = code;
        return response;
      },
      send: () => resolve(toOutcome(status, headers.get('retry-after'))),
    };
    const next = (error?: unknown) => (error === undefined ? resolve({ allowed: true }) : reject(error));
    handler(request as unknown as Request, response as unknown as Response, next);
  });
}
