import type { Framework, ProxyTrust } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How the gate speaks with Fastify. */
export const FASTIFY: Framework<FastifyRequest, FastifyReply> = {
  name: 'rateLimit',
  ownOptions: ['hook', 'handler'],
  resetUnit: 'delta',
  addressOf: (request) => request.ip,
  headersOf: (request) => request.headers,
  proxyTrust,
  hasLeft: (request) => request.raw.socket.destroyed,
  isAnswered: (reply) => reply.sent,
  logStarted: (reply, err) => reply.log.error({ err }, 'The rate limiter failed after the response had started'),
  nodeResponse: (reply) => reply.raw,
  lowerCaseFields: true,
  setField: (reply, name, value) => {
    reply.header(name, value);
  },
  getField: (reply, name) => reply.getHeader(name),
  removeField: (reply, name) => {
    reply.removeHeader(name);
  },
};

/** More proxies than stand before any app, of addresses that nobody has (RFC 5737). */
const STRANGERS = Array.from({ length: 40 }, (_, index) => `203.0.113.${index + 1}`);

/** Fastify does not tell its `trustProxy`: so ask whom it takes for the client behind nothing but strangers. */
function proxyTrust(request: FastifyRequest): ProxyTrust {
  if (request.ips === undefined) return 'none';
  const raw = { socket: { remoteAddress: '203.0.113.254' }, headers: { 'x-forwarded-for': STRANGERS.join(', ') } };
  const probe: FastifyRequest = Object.create(Object.getPrototypeOf(request), { raw: { value: raw } });
  return probe.ip === STRANGERS[0] ? 'every' : 'some';
}
