import type { WebHeaders } from './web-headers.js';

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
