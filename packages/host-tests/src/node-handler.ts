import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Behavior, PARTS, toBody, toStatus } from './scenarios.js';

/** Sends a handler's response with Node's objects. It throws for the behavior `throw`. */
export function respond(behavior: Behavior, response: ServerResponse): void {
  if (behavior === 'throw') throw new Error('The handler failed');
  if (response.headersSent) {
    response.end(PARTS[1]);
    return;
  }
  response.statusCode = toStatus(behavior);
  response.setHeader('Content-Type', 'text/plain');
  if (behavior !== 'stream' && behavior !== 'endless') {
    response.end(toBody(behavior) ?? undefined);
    return;
  }
  response.write(PARTS[0]);
  if (behavior === 'stream') setTimeout(() => response.end(PARTS[1]), 1);
}

/** Sends the head of a response and a part of its body, as code that runs before the limiter might. */
export function startResponse(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/plain' });
  response.write(PARTS[0]);
}
