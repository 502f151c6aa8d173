// The playground with a clock that its parent moves: each message says how, and is answered with the time it is then. Besides, it
// publishes attempts that nobody made.
import { monotonicClock } from '@rollgate/core';
import { MemoryBacking } from '../../dist/server/backing.js';
import { serve } from '../../dist/server/serve.js';

let aheadMs = 0;
/** While it stands still. */
let stillMs;
const clock = { now: () => stillMs ?? monotonicClock.now() + aheadMs };

const backing = new MemoryBacking(clock);
let published = 0;

/** As if so many requests had come, of which the first were let through. */
function publish({ letThrough, refused }) {
  for (let index = 0; index < letThrough + refused; index++) {
    const allowed = index < letThrough;
    const limits = { limit: letThrough, remaining: 0, degraded: false };
    const id = `published-${published++}`;
    backing.publish({
      kind: 'attempt',
      attempt: { id, atMs: clock.now(), delayMs: 0, allowed, fixedAllowed: allowed, ...limits },
    });
  }
}

process.on('message', ({ toMs, stands, attempts }) => {
  if (attempts !== undefined) publish(attempts);
  if (toMs !== undefined) aheadMs = toMs - monotonicClock.now();
  stillMs = stands ? (toMs ?? clock.now()) : undefined;
  process.send(clock.now());
});

const { port, close } = await serve(0, undefined, backing);
process.once('SIGTERM', () => {
  process.disconnect();
  close();
});
console.log(`http://127.0.0.1:${port} Ctrl-C`);
