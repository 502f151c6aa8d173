import type { RequestReader } from '../host/host.js';
import type { EarlyHeaders } from './web-headers.js';

/** A host whose requests and responses are those of the Fetch standard. */
export interface WebHost<Call> extends Omit<RequestReader<Call>, 'getClientAddress'> {
  /**
   * Returns the client's address. Leave it out on platforms without a common way to get it, and list `address` in `ownOptions`.
   * That option is then required with `allowList`, and unless `key` identifies clients another way.
   */
  readonly getClientAddress?: (call: Call) => string | undefined;
  /** Returns the standard request of a call. */
  readonly getRequest: (call: Call) => Request;
  /**
   * Keeps the code of a call running until the promise settles. For platforms that otherwise end it after the response, or
   * when the client disconnects.
   */
  readonly keepAlive?: (call: Call, promise: Promise<unknown>) => void;
  /**
   * Returns where to write the headers of an allowed request before there is a response, on platforms with such a place.
   * Writing them to the response takes several times as long. Headers of the response replace them.
   */
  readonly getEarlyHeaders?: (call: Call) => EarlyHeaders | undefined;
  /**
   * Calls the listener once when the platform has sent the response to a call, with its status. If the client disconnects
   * before, calls it without one. Platforms that do not report this lack the method or return `false`. There, the end of
   * the response's body counts.
   */
  readonly onResponseEnd?: (call: Call, listener: (status: number | undefined) => void) => boolean;
}
