import type { HeaderWriter, RequestReader } from '../host/host.js';

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

/** The part of `Headers` that the limiter uses. */
export type WebHeaders = Pick<Headers, 'get' | 'set'>;

/** How to write the headers of a response of the Fetch standard. */
export const WEB_HEADERS: HeaderWriter<WebHeaders> = {
  lowercaseHeaders: true,
  getSetHeader: (headers) => headers.set,
  getHeader: (headers, name) => headers.get(name) ?? undefined,
};

/** Headers that are sent with those of the response, which replace the ones of the same names. */
export interface EarlyHeaders extends WebHeaders {
  /** Removes a header, because the response turned out to be one that must not carry it. */
  delete(name: string): void;
  /** Whether headers that another limiter wrote to the response replace these. Then they have to be combined there. */
  isReplacedBy(response: Response): boolean;
}

/** Headers with lowercase names in an object, which platforms send faster than an instance of `Headers`. */
export class PlainHeaders implements WebHeaders {
  readonly all: Record<string, string> = {};
  readonly #earlier: WebHeaders | undefined;

  /** @param earlier Headers of other limiters, which these replace. So they contain what `get` returns of them. */
  constructor(earlier: WebHeaders | undefined) {
    this.#earlier = earlier;
  }

  get(name: string): string | null {
    return this.all[name] ?? this.#earlier?.get(name) ?? null;
  }

  set(name: string, value: string): void {
    this.all[name] = value;
  }
}

/** Returns the response with edited headers. It is the same one, unless its headers are immutable or it has no body. */
export function editHeaders(response: Response, edit: (headers: WebHeaders) => void): Response {
  const { headers, status } = response;
  const isCopyable = status >= 200; // Responses to upgrades and `Response.error()` are not.
  // An app can return a constant without a body for all requests, so its own headers stay as they are. Creating the stream
  // `body` takes long on some platforms, and most responses with one have a type.
  if (!isCopyable || headers.has('content-type') || response.body !== null) {
    try {
      edit(headers);
      return response;
    } catch {
      // The headers of `fetch`, `Response.redirect` and `Response.error` are immutable.
      if (!isCopyable) return response;
    }
  }
  const copy = new Response(response.body, response);
  edit(copy.headers);
  return copy;
}
