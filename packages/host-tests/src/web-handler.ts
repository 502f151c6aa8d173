import { type Behavior, PARTS, toBody, toStatus } from './scenarios.js';

/** Creates a handler's response. It throws for the behavior `throw`. */
export function respond(behavior: Behavior): Response {
  if (behavior === 'throw') throw new Error('The handler failed');
  const headers = { 'content-type': 'text/plain' };
  if (behavior !== 'stream' && behavior !== 'endless')
    return new Response(toBody(behavior), { headers, status: toStatus(behavior) });
  const encoder = new TextEncoder();
  let part = 0;
  const body = new ReadableStream({
    async pull(controller) {
      if (part > 0 && behavior === 'endless') {
        // Some platforms notice a disconnect only when they write.
        await new Promise((resolve) => setTimeout(resolve, 10));
        controller.enqueue(encoder.encode(' '));
        return;
      }
      controller.enqueue(encoder.encode(PARTS[part]));
      part += 1;
      if (part === PARTS.length) controller.close();
    },
  });
  return new Response(body, { headers });
}
