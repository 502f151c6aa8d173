import { connectionOf, type Framework } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How the limiter reads Fastify's requests and changes its replies. */
export const FASTIFY: Framework<FastifyRequest, FastifyReply> = {
  name: 'rateLimit',
  ownOptions: ['address', 'hook', 'handler'],
  resetUnit: 'delta',
  getClientAddress: (request) => request.ip,
  getRequestHeader: (request, name) => request.headers[name],
  getConnection: (request) => connectionOf(request, request.raw.socket.remoteAddress, (raw) => ({ raw })),
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
