import { type Framework, probeProxyTrust } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { getHeader, getHeadersObject, setHeader } from './reply-headers.js';

/** How the limiter reads Fastify's requests and changes its replies. */
export const FASTIFY: Framework<FastifyRequest, FastifyReply> = {
  name: 'rateLimit',
  ownOptions: ['hook', 'handler'],
  resetUnit: 'delta',
  getClientAddress: (request) => request.ip,
  getRequestHeader: (request, name) => request.headers[name],
  getProxyTrust: probeProxyTrust, // Fastify does not expose its setting `trustProxy`.
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
