import type { Context } from 'koa';

const OF_DECISIONS = /^(?:x-ratelimit-|ratelimit|access-control-expose-headers$)/;
const OF_REJECTIONS = /^(?:x-ratelimit-|ratelimit|access-control-expose-headers$|retry-after$|cache-control$)/;

type ErrorHandler = (this: Context, error: Error & { headers?: object }) => void;

/**
 * Koa removes all headers when it responds to an error, except for those on the error. These functions take the place of
 * `ctx.onerror`, and keep the headers of the limiter. Afterwards, the error has its own again, because requests may share an error.
 */
const createErrorHandler = (kept: RegExp): ErrorHandler =>
  function onerror(error) {
    const { onerror: respond } = this.app.context;
    const isError = typeof error === 'object' && error !== null;
    if (!isError || !Object.isExtensible(error)) return respond.call(this, error);
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

/** Responds to an error of an allowed request. */
export const keepDecisionHeaders = createErrorHandler(OF_DECISIONS);
/** Responds to an error that is the rejection of a request. */
export const keepRejectionHeaders = createErrorHandler(OF_REJECTIONS);
