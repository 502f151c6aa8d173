import type { ExecutionContext } from '@nestjs/common';
import type { Decision } from '@rollgate/core';

/**
 * What the guard knows about one message of a gateway. The guard, the interceptors and the decorators of a message each get
 * their own context, and only the arguments of these are the same. A payload may be a text, so the guard adds this argument.
 */
class GatewayMessage {
  /** The decision of the last limiter. */
  decision: Decision | undefined;
}

/** Returns what the guard knows about the message of any of its contexts; `undefined` if no limit applies to it. */
export function findMessage(context: ExecutionContext): GatewayMessage | undefined {
  return context.getArgs<unknown[]>().find((argument) => argument instanceof GatewayMessage);
}

/** The same in the guard, for a message with a limit. */
export function messageOf(context: ExecutionContext): GatewayMessage {
  const found = findMessage(context);
  if (found !== undefined) return found;
  const message = new GatewayMessage();
  // Nest expects the pattern at the end. It passes handlers only the arguments that they declare.
  context.getArgs<unknown[]>().splice(-1, 0, message);
  return message;
}
