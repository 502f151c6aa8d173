/**
 * Whether a response is a redirection, which carries no headers of a draft. Its client would wait for a unit before it follows
 * the redirect (draft-ietf-httpapi-ratelimit-headers-11, section 6). The draft means every status 3xx, so 304, too. A cache
 * would otherwise store the figures with the response that a 304 validates (RFC 9111, section 3.2).
 */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400;
