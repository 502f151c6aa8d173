import type { Context } from 'koa';

const OF_DECISIONS = /^(?:x-ratelimit-|ratelimit|access-control-expose-headers$)/;
const OF_REJECTIONS = /^(?:x-ratelimit-|ratelimit|access-control-expose-headers$|retry-after$|cache-control$)/;

type ErrorHandler = (this: Context, error: Error & { headers?: object }) => void;

/**
 * When Koa responds to an error, it removes all headers except those of the error. These functions replace `ctx.onerror`. They
 * add the limiter's headers to the error while Koa responds, and remove them afterwards, because requests may share an error.
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
