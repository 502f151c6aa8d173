import type { Framework, ProxyTrust } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { getHeader, getHeadersObject, setHeader } from './reply-headers.js';

/** How the limiter reads Fastify's requests and changes its replies. */
export const FASTIFY: Framework<FastifyRequest, FastifyReply> = {
  name: 'rateLimit',
  ownOptions: ['hook', 'handler'],
  resetUnit: 'delta',
  getClientAddress: (request) => request.ip,
  getRequestHeader: (request, name) => request.headers[name],
  getProxyTrust,
  isDisconnected: (request) => request.raw.socket.destroyed,
  isResponseSent: (reply) => reply.sent,
  logErrorAfterStart: (reply, err) =>
    reply.log.error({ err }, 'The rate limiter failed after the response had started'),
  getNodeResponse: (reply) => reply.raw,
  headers: {
    lowercaseHeaders: true,
    setHeader,
    getHeader,
    getHeadersObject,
    removeHeader: (reply, name) => {
      reply.removeHeader(name);
    },
  },
};

/** More proxies than any app has in front of it. Their addresses are reserved for documentation (RFC 5737). */
const UNKNOWN_PROXIES = Array.from({ length: 40 }, (_, index) => `203.0.113.${index + 1}`);

/**
 * Fastify does not expose its setting `trustProxy`. So this resolves the address of a request that came through unknown
 * proxies only: an app that trusts every proxy believes the first one.
 */
function getProxyTrust(request: FastifyRequest): ProxyTrust {
  if (request.ips === undefined) return 'none';
  const raw = {
    socket: { remoteAddress: '203.0.113.254' },
    headers: { 'x-forwarded-for': UNKNOWN_PROXIES.join(', ') },
  };
  const probe: FastifyRequest = Object.create(Object.getPrototypeOf(request), { raw: { value: raw } });
  return probe.ip === UNKNOWN_PROXIES[0] ? 'every' : 'some';
}
