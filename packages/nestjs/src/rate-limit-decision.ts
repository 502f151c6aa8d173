import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Decision } from '@rollgate/core';
import { findMessage, messageOf, requestOf } from './nest-framework.js';

declare global {
  namespace Express {
    interface Request {
      /** The decision of the rate limiter about this request. With several limiters, the last one's. */
      rateLimit?: Decision;
    }
  }
}

/** By the `info` of each call, because the fields of a GraphQL operation share their request. */
const decisionsOfFields = new WeakMap<object, Decision>();

type Decided = { rateLimit?: Decision | null };

/** Puts the decision where handlers can read it. */
export function attachDecision(context: ExecutionContext, decision: Decision): void {
  (requestOf(context) as Decided).rateLimit = decision;
  const type = context.getType<string>();
  if (type === 'graphql') decisionsOfFields.set(context.getArgByIndex(3), decision);
  else if (type === 'ws') messageOf(context).decision = decision;
}

/**
 * Passes the decision about a call to its handler: `search(@RateLimitDecision() decision: Decision | undefined)`. It is
 * `undefined` if no limit applies.
 */
export const RateLimitDecision: () => ParameterDecorator = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Decision | undefined => {
    const type = context.getType<string>();
    if (type === 'graphql') return decisionsOfFields.get(context.getArgByIndex(3));
    if (type === 'ws') return findMessage(context)?.decision;
    return (requestOf(context) as Decided).rateLimit ?? undefined;
  },
);
