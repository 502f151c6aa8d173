import { type Framework, resolveByPrototype } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How the limiter reads Fastify's requests and changes its replies. */
export const FASTIFY: Framework<FastifyRequest, FastifyReply> = {
  name: 'rateLimit',
  ownOptions: ['address', 'hook', 'handler'],
  resetUnit: 'delta',
  getClientAddress: (request) => request.ip,
  getRequestHeader: (request, name) => request.headers[name],
  getConnection: (request) => ({
    peer: request.raw.socket.remoteAddress,
    resolve: (remoteAddress, forwardedFor) =>
      resolveByPrototype(Object.getPrototypeOf(request), {
        raw: { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwardedFor } },
      }),
  }),
  isDisconnected: (request) => request.raw.socket.destroyed,
  isResponseSent: (reply) => reply.sent,
  logErrorAfterStart: (reply, err) =>
    reply.log.error({ err }, 'The rate limiter failed after the response had started'),
  getNodeResponse: (reply) => reply.raw,
  headers: {
    lowercaseHeaders: true,
    getSetHeader: (reply) => reply.header,
    getHeader: (reply, name) => reply.getHeader(name),
    removeHeader: (reply, name) => reply.removeHeader(name),
  },
};
