import type { Decision } from '@rollgate/core';
import { validate } from '@rollgate/core';
import { type Framework, Gate, isThenable, RateLimitError } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { HOOKS, type Hook, type RateLimitOptions } from './options.js';

const FASTIFY: Framework<FastifyRequest, FastifyReply> = {
  name: 'rateLimit',
  ownOptions: ['hook', 'handler'],
  resetUnit: 'delta',
  addressOf: (request) => request.ip,
  setField: (reply, name, value) => {
    reply.header(name, value);
  },
};

type Done = (error?: Error) => void;

/** A hook function of Fastify's, and in which hook it belongs. */
export interface RateLimitHook {
  readonly hook: Hook;
  readonly run: (...args: never[]) => void;
}

/**
 * Makes the hook that decides a route's requests. It takes a callback, because an async hook would cost each request a
 * promise.
 *
 * @throws TypeError, RangeError naming the option that is wrong.
 */
export function createHook(options: RateLimitOptions): RateLimitHook {
  const gate = new Gate(FASTIFY, options);
  const { handler } = options;
  const hook = validate.oneOf('hook', options.hook ?? 'onRequest', HOOKS);
  validate.optionalFunction('handler', handler);

  function rateLimitHook(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    let decision: ReturnType<typeof gate.decide>;
    try {
      decision = gate.decide(request);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (isThenable(decision)) decision.then((settled) => settle(request, reply, done, settled), done);
    else settle(request, reply, done, decision);
  }

  function settle(request: FastifyRequest, reply: FastifyReply, done: Done, decision: Decision | undefined): void {
    if (decision === undefined) {
      done();
      return;
    }
    request.rateLimit = decision;
    if (reply.sent) return; // While the decision was awaited somebody else, a timeout perhaps, has answered.
    gate.writeFields(reply, decision);
    if (decision.allowed) done();
    else refuse(request, reply, done, decision);
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, done: Done, decision: Decision): void {
    const { statusCode, message } = gate;
    if (handler !== undefined) {
      reply.code(statusCode);
      answerWith(handler, request, reply, done, decision);
    } else if (typeof message === 'object') {
      reply.code(statusCode).send(message);
    } else {
      done(new RateLimitError(statusCode, gate.messageFor(decision), decision));
    }
  }

  return {
    hook,
    run:
      hook === 'preParsing'
        ? (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: Done) =>
            rateLimitHook(request, reply, done)
        : rateLimitHook,
  };
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
    .catch((error) => {
      reply.code(500); // The handler's failure is no refusal; an error with a status of its own keeps that.
      done(error);
    });
}
