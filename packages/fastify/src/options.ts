import type { Decision, Limits, RateLimiter } from '@rollgate/core';
import { ROLLING_WINDOW_OPTIONS } from '@rollgate/core/store';
import type { Awaitable, CommonOptions, ForRequest, HttpOptions, WindowOptions } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The hooks in which a request can be decided, in the order in which Fastify runs them. */
export const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const;
export type Hook = (typeof HOOKS)[number];

/** What only this adapter takes. */
export interface OwnOptions {
  /** In which hook to decide; default `'onRequest'`. A later one lets `key` see the parsed body. */
  hook?: Hook | undefined;
  /**
   * Sends the response to a rejected request instead of the 429 error. The headers are already set. What it returns is
   * sent, unless it sent something itself. Not called when the response has started before the limiter: Rollgate then ends it.
   */
  handler?: ((request: FastifyRequest, reply: FastifyReply, decision: Decision) => Awaitable<unknown>) | undefined;
}

/** Limits and what goes with them: one rolling window by its numbers, or `limits`. */
export type RateLimitOptions<Given extends Limits = Limits> = HttpOptions<FastifyRequest, Given, FastifyReply> &
  OwnOptions;

/** What the plugin takes. */
export type RateLimitPluginOptions<Given extends Limits = Limits> =
  | (RateLimitOptions<Given> & {
      /** Whether routes without a `config.rateLimit` of their own are limited; default `true`. */
      global?: boolean | undefined;
    })
  | (PartialOptions<Given> & { global: false });

/** What a route's `config.rateLimit` takes: what it leaves out is as the plugin was told. */
export type RateLimitRouteOptions<Given extends Limits = Limits> = PartialOptions<Given> & {
  /**
   * Routes with the same one count together (a HEAD request always counts with its GET route), whatever numbers each of them has; default: each route for itself, except
   * that routes which share one options object and differ by their `constraints` alone count together.
   */
  groupId?: string | undefined;
};

type PartialOptions<Given extends Limits> = CommonOptions<FastifyRequest, Given, FastifyReply> &
  OwnOptions & {
    [Option in keyof WindowOptions<FastifyRequest>]?: WindowOptions<FastifyRequest>[Option] | undefined;
  } & { limits?: ForRequest<FastifyRequest, Given> | undefined };

/** A hook of one route, or of the handler for unknown ones; and the limiter behind it, to peek or reset a key. */
export type RateLimitHookFunction<Given extends Limits = Limits> = HookFunction & {
  readonly limiter: RateLimiter<Given>;
};
/** Of any hook; the types of request and reply differ from server to server, such as one of HTTP/2. */
export type HookFunction = (request: unknown, reply: unknown, ...payloadAndDone: unknown[]) => void;

/** The methods of an app's limiter that are for its users. */
export type AppRateLimiter = Pick<RateLimiter, 'check' | 'peek' | 'refund' | 'reset'>;

/** The plugin's options with a route's in their place; of `limits` and the numbers of one window, the route's kind. */
export function mergeOptions(plugin: RateLimitRouteOptions, route: RateLimitRouteOptions): RateLimitOptions {
  const inherited = { ...plugin };
  if (route.limits !== undefined) for (const name of ROLLING_WINDOW_OPTIONS) delete inherited[name];
  if (ROLLING_WINDOW_OPTIONS.some((name) => route[name] !== undefined)) delete inherited.limits;
  if (route.key !== undefined) delete inherited.ipv6Prefix;
  const given = Object.entries(route).filter(([, value]) => value !== undefined);
  return { ...inherited, ...Object.fromEntries(given) } as RateLimitOptions;
}
