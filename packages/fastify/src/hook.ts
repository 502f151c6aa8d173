import type { Decision, RateLimiter } from '@rollgate/core';
import { isThenable, validate } from '@rollgate/core/store';
import { Gate, RateLimitError, type Rejection, toError } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FASTIFY } from './framework.js';
import { HOOKS, type Hook, type RateLimitOptions } from './options.js';

export type Done = (error?: Error) => void;

/** Decides the requests of one route, or of all, in one of Fastify's hooks. */
export interface RateLimitHook {
  readonly hook: Hook;
  readonly limiter: RateLimiter;
  readonly run: (request: FastifyRequest, reply: FastifyReply, done: Done) => void;
}

/**
 * Makes a hook. It takes a callback, because an async hook would cost each request a promise.
 *
 * @throws TypeError, RangeError naming the option that is wrong.
 */
export function createHook(options: RateLimitOptions): RateLimitHook {
  const { handler } = options;
  validate.optionalFunction('handler', handler);
  const gate = new Gate(FASTIFY, options, {
    note(request, decision) {
      request.rateLimit = decision;
    },
    refuse(request, reply, done, decision) {
      if (handler === undefined) refuse(request, reply, done, decision);
      else {
        reply.code(gate.statusCode);
        answerWith(handler, request, reply, done, gate, decision);
      }
    },
  });

  function rateLimitHook(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    gate.run(request, reply, done);
  }

  function refuse(request: FastifyRequest, reply: FastifyReply, done: Done, decision: Decision): void {
    const say = (refusal: Rejection) => {
      if ('error' in refusal) {
        reply.code(gate.statusCode); // Fastify uses it for an error that has no status.
        done(refusal.error);
      } else if ('text' in refusal) done(new RateLimitError(gate.statusCode, refusal.text, decision));
      else reply.code(gate.statusCode).type(refusal.type).send(refusal.json);
    };
    const fail = (thrown: unknown) => failInstead(gate, reply, done, thrown);
    try {
      const refusal = gate.createRejection(request, decision);
      if (!isThenable(refusal)) say(refusal);
      else
        Promise.resolve(refusal)
          .then((known) => {
            if (!reply.sent && !gate.endIfStarted(reply)) say(known);
          })
          .catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  }

  const hook = validate.oneOf('hook', options.hook ?? 'onRequest', HOOKS);
  return { hook, limiter: gate.limiter, run: rateLimitHook };
}

/** Lets the user's handler answer, whether it sends something itself or returns it. */
function answerWith(
  handler: NonNullable<RateLimitOptions['handler']>,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
  gate: Gate<FastifyRequest, FastifyReply>,
  decision: Decision,
): void {
  let isAsync = false;
  new Promise((resolve) => {
    const answer = handler(request, reply, decision);
    isAsync = isThenable(answer);
    resolve(answer);
  })
    .then((body) => {
      // As of a route's handler: one that returns nothing at once sends later, one that promises nothing has no body.
      if ((body !== undefined || isAsync) && body !== reply && !reply.sent) reply.send(body);
    })
    .catch((thrown) => {
      reply.code(500); // The handler's failure is no refusal; an error with a status of its own keeps that.
      failInstead(gate, reply, done, thrown);
    });
}

/** Hands on what failed while the request was refused, without what told the refusal. */
function failInstead(gate: Gate<FastifyRequest, FastifyReply>, reply: FastifyReply, done: Done, thrown: unknown): void {
  if (gate.endIfStarted(reply)) return;
  const error = toError(thrown);
  gate.withdraw(reply, error);
  done(error);
}
