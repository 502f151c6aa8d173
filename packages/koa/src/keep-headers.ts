import { format } from 'node:util';
import type { Context } from 'koa';

const OF_DECISIONS = /^(?:x-ratelimit-|ratelimit|access-control-expose-headers$)/;
const OF_REJECTIONS = /^(?:x-ratelimit-|ratelimit|access-control-expose-headers$|retry-after$|cache-control$)/;

type KoaError = Error & { headers?: object };
type ErrorHandler = (this: Context, thrown: unknown) => void;

/**
 * When Koa responds to an error, it removes all headers except those of the error. These functions replace `ctx.onerror`. They
 * add the limiter's headers to the error while Koa responds, and remove them afterwards, because requests may share an error.
 */
const createErrorHandler = (kept: RegExp): ErrorHandler =>
  function onerror(thrown) {
    const { onerror: respond } = this.app.context;
    if (thrown == null) return; // Koa calls the handler without an error, too.
    const error = toKoaError(thrown);
    if (!Object.isExtensible(error)) return respond.call(this, error);
    const limits = Object.entries(this.res.getHeaders()).filter(([name]) => kept.test(name));
    const { headers } = error;
    error.headers = { ...Object.fromEntries(limits), ...headers };
    try {
      respond.call(this, error);
    } finally {
      if (headers === undefined) delete error.headers;
      else error.headers = headers;
    }
  };

/** Converts what was thrown as Koa does, which would otherwise replace anything but an error by an error without headers. */
function toKoaError(thrown: unknown): KoaError {
  const isError = thrown instanceof Error || Object.prototype.toString.call(thrown) === '[object Error]';
  return isError ? (thrown as KoaError) : new Error(format('non-error thrown: %j', thrown));
}

/** Responds to an error of an allowed request. */
export const keepDecisionHeaders = createErrorHandler(OF_DECISIONS);
/** Responds to an error that is the rejection of a request. */
export const keepRejectionHeaders = createErrorHandler(OF_REJECTIONS);
