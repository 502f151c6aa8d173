import type { Decision } from '@rollgate/core';
import { validate } from '@rollgate/core';
import { type Framework, Gate, RateLimitError, toError } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HOOKS, type Hook, type RateLimitOptions } from './options.js';

const FASTIFY: Framework<FastifyRequest, FastifyReply> = {
  name: 'rateLimit',
  ownOptions: ['hook', 'handler'],
  resetUnit: 'delta',
  addressOf: (request) => request.ip,
  hasLeft: (request) => request.raw.socket.destroyed,
  isAnswered: (reply) => reply.sent,
  nodeResponse: (reply) => reply.raw,
  lowerCaseFields: true,
  setField: (reply, name, value) => {
    reply.header(name, value);
  },
};

export type Done = (error?: Error) => void;

/** Decides the requests of one route, or of all, in one of Fastify's hooks. */
export interface RateLimitHook {
  readonly hook: Hook;
  readonly run: (request: FastifyRequest, reply: FastifyReply, done: Done) => void;
}

/**
 * Makes a hook. It takes a callback, because an async hook would cost each request a promise.
 *
 * @throws TypeError, RangeError naming the option that is wrong.
 */
export function createHook(options: RateLimitOptions): RateLimitHook {
  const gate = new Gate(FASTIFY, options);
  const { handler } = options;
  validate.optionalFunction('handler', handler);

  function rateLimitHook(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    gate.run(request, reply, (decision) => settle(request, reply, done, decision), done);
  }

  function settle(request: FastifyRequest, reply: FastifyReply, done: Done, decision: Decision | undefined): void {
    if (decision === undefined) {
      done();
      return;
    }
    request.rateLimit = decision;
    gate.writeFields(reply, decision);
    if (decision.allowed) gate.passOn(reply, decision, done);
    else refuse(request, reply, done, decision);
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, done: Done, decision: Decision): void {
    if (handler !== undefined) {
      reply.code(gate.statusCode);
      answerWith(handler, request, reply, done, decision);
    } else if (gate.messageJson !== undefined) {
      reply.code(gate.statusCode).type('application/json; charset=utf-8').send(gate.messageJson);
    } else {
      done(new RateLimitError(gate.statusCode, gate.messageFor(decision), decision));
    }
  }

  return { hook: validate.oneOf('hook', options.hook ?? 'onRequest', HOOKS), run: rateLimitHook };
}

/** Lets the user's handler answer, whether it sends something itself or returns it. */
function answerWith(
  handler: NonNullable<RateLimitOptions['handler']>,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
  decision: Decision,
): void {
  new Promise((resolve) => resolve(handler(request, reply, decision)))
    .then((body) => {
      if (body !== undefined && body !== reply && !reply.sent) reply.send(body);
    })
    .catch((thrown) => {
      reply.code(500); // The handler's failure is no refusal; an error with a status of its own keeps that.
      done(toError(thrown));
    });
}
