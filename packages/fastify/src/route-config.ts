import type { FastifyRequest } from 'fastify';
import { findOwnSymbol } from './private-properties.js';

type RouteConfig = FastifyRequest['routeOptions']['config'];

/** The private property of a request with its route. `null` if it is not as known, so that it is searched for once. */
let contextSymbol: symbol | null | undefined;

/**
 * Returns the options and the path of a request's route.
 *
 * `request.routeOptions` creates an object with twelve properties at each access. So this reads the private property behind
 * it, after the first request has shown that both agree. A request on which an app has replaced `routeOptions` keeps the
 * options of its route.
 */
export function getRouteConfig(request: FastifyRequest): RouteConfig {
  if (contextSymbol) {
    const context = (request as PrivateRequest)[contextSymbol];
    if (context !== undefined) return context.config;
  }
  const { config } = request.routeOptions;
  if (contextSymbol === undefined) {
    const symbol = findOwnSymbol(request, 'fastify.context');
    contextSymbol = symbol !== undefined && (request as PrivateRequest)[symbol]?.config === config ? symbol : null;
  }
  return config;
}

type PrivateRequest = FastifyRequest & { readonly [context: symbol]: { readonly config: RouteConfig } | undefined };
