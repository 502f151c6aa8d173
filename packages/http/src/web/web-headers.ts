import type { HeaderWriter } from '../host/host.js';

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
