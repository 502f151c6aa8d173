import type { FastifyRequest } from 'fastify';
import { findPrivate } from './private-properties.js';

/** What Fastify keeps for a route, as far as it decides what happens to an error. Fastify does not document it. */
interface RouteContext {
  readonly errorHandler?: unknown;
  readonly onError?: unknown;
  readonly schema?: { readonly response?: unknown } | null | undefined;
}

/** The last function that was found to do nothing. Reading the name of a function takes longer than comparing it. */
let knownNoop: object | undefined;

const observedRoutes = new WeakMap<RouteContext, boolean>();

/**
 * Whether the app has code that would see an error of this request. That is an error handler, an `onError` hook, a
 * response schema, a logger, or a log controller. Without any, sending Fastify's default response directly is cheaper.
 *
 * This reads private properties of Fastify. It returns `true` when one of them is not as it is known.
 */
export function isErrorObserved(request: FastifyRequest): boolean {
  const { info, error } = request.log;
  if (!isNoop(info) || !isNoop(error)) return true;
  const context = findPrivate(request, 'fastify.context') as RouteContext | undefined;
  if (typeof context !== 'object' || context === null) return true;
  let isObserved = observedRoutes.get(context);
  if (isObserved === undefined) {
    isObserved = !hasDefaultErrorHandler(context) || context.onError !== null || hasResponseSchema(context);
    isObserved ||= hasOwnLogController(request.server);
    observedRoutes.set(context, isObserved);
  }
  return isObserved;
}

/** Whether this is the function of Fastify without a logger, or that of pino for a level that it does not log. */
function isNoop(log: object & { readonly name: string }): boolean {
  if (log !== knownNoop && log.name === 'noop') knownNoop = log;
  return log === knownNoop;
}

/** Fastify's own handler is a plain object. The handlers of apps and routes inherit from it. */
function hasDefaultErrorHandler({ errorHandler }: RouteContext): boolean {
  return (
    typeof errorHandler === 'object' &&
    errorHandler !== null &&
    Object.getPrototypeOf(errorHandler) === Object.prototype
  );
}

function hasResponseSchema({ schema }: RouteContext): boolean {
  return schema?.response !== undefined;
}

/** Fastify 5.0 has no log controllers. In later versions, an app may extend Fastify's class. */
function hasOwnLogController(server: object): boolean {
  const controller = findPrivate(server, 'fastify.logController');
  if (controller === undefined) return false;
  return Object.getPrototypeOf(Object.getPrototypeOf(controller)) !== Object.prototype;
}
