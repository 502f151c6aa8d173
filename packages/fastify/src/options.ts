import type { Decision, Limits, RateLimiter } from '@rollgate/core';
import type { Awaitable, HttpOptions, PartialOptions } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** The hooks in which the limiter can run, in Fastify's order. */
export const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const;
export type Hook = (typeof HOOKS)[number];

interface HookOption {
  /**
   * The hook in which the limiter runs. In a hook after `'preParsing'`, `key` can read the parsed body.
   *
   * @defaultValue `'onRequest'`
   */
  hook?: Hook | undefined;
}

interface RequestOptions {
  /**
   * Returns the client's address, for example `cloudflareAddress`.
   *
   * @defaultValue `request.ip`, which depends on the app's setting `trustProxy`
   */
  address?: ((request: FastifyRequest) => string | undefined) | undefined;
  /**
   * Sends the response to a rejected request instead of the 429 error. The headers are already set. Rollgate sends what it
   * returns, unless it has sent a response itself. Not called when the response has started before the limiter ran, because
   * Rollgate then ends it.
   */
  handler?: ((request: FastifyRequest, reply: FastifyReply, decision: Decision) => Awaitable<unknown>) | undefined;
}

/** The settings of one rolling window or `limits`, and all other options of a limit. */
export type RateLimitOptions<Given extends Limits = Limits> = HttpOptions<FastifyRequest, Given, FastifyReply> &
  RequestOptions &
  HookOption;

/** The options of a limit that inherits those of the plugin. */
type InheritingOptions<Given extends Limits> = PartialOptions<FastifyRequest, Given, FastifyReply> & RequestOptions;

/** The options of the plugin. */
export type RateLimitPluginOptions<Given extends Limits = Limits> =
  | (RateLimitOptions<Given> & {
      /**
       * Whether to limit routes without their own `config.rateLimit`.
       *
       * @defaultValue `true`
       */
      global?: boolean | undefined;
    })
  | (InheritingOptions<Given> &
      HookOption & {
        /** Limits only routes with their own `config.rateLimit`, so the plugin needs no limit. */
        global: false;
      });

interface GroupOption {
  /**
   * Routes with the same `groupId` share one count, even if their limits differ. Without it, each route has its own count.
   * There are two exceptions:
   *
   * - A HEAD request counts with its GET route.
   * - Routes that share one options object and differ only in their `constraints` share one count.
   */
  groupId?: string | undefined;
}

/** The options of a route's `config.rateLimit`. They inherit the plugin's options. */
export type RateLimitRouteOptions<Given extends Limits = Limits> = InheritingOptions<Given> & GroupOption & HookOption;

/** The options of `app.rateLimit()`. They inherit the plugin's options. */
export type RateLimitHookOptions<Given extends Limits = Limits> = InheritingOptions<Given> &
  GroupOption & {
    /** Absent, because you add the hook to a route yourself. */
    hook?: undefined;
  };

/** A hook of one route or of the handler for unknown ones, with its limiter to peek or reset a key. */
export type RateLimitHookFunction<Given extends Limits = Limits> = HookFunction & {
  /** Decides the requests, and can peek or reset their keys. */
  readonly limiter: RateLimiter<Given>;
};
/** A function that fits every hook, because the types of request and reply differ between servers, such as for HTTP/2. */
export type HookFunction = (request: unknown, reply: unknown, ...payloadAndDone: unknown[]) => void;

/** The limiter of an app's routes without their own limit. */
export type AppRateLimiter = RateLimiter;
