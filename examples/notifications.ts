// Push notifications that do not flood a person. In any 30 minutes, at most 100 in total and 10 of one category are sent,
// and one check decides both.   npm run example notifications.ts
import { MemoryStore, RateLimiter } from '@rollgate/core';

const MINUTE_MS = 60_000;

// Simulates 40 minutes. Without the option `clock`, the store uses real time.
let now = 0;
const limiter = new RateLimiter({
  limits: {
    global: '100/30m',
    category: '10/30m',
  },
  prefix: 'push',
  store: new MemoryStore({ clock: { now: () => now } }),
});

/** Checks some notifications of one category at the same time, and prints the outcomes. */
async function send(minute: number, category: string, count: number): Promise<void> {
  now = minute * MINUTE_MS;
  let marks = '';
  let why = '';
  for (let push = 0; push < count; push++) {
    const decision = await limiter.check({ global: 'teacher 7', category: `teacher 7 ${category}` });
    marks += decision.allowed ? '✓' : '·';
    if (!decision.allowed) why = `${decision.violated.join(' and ')} full for ${decision.retryAfterMs / MINUTE_MS} min`;
  }
  console.log(`${String(minute).padStart(3)} min  ${category.padEnd(12)} ${marks.padEnd(14)} ${why}`);
}

console.log('✓ sent   · rejected\n');
await send(0, 'absences', 12);
await send(0, 'absences', 1);
await send(5, 'homework', 4);
for (const room of 'ABCDEFGHIJ') await send(10, `door ${room}`, 10);
await send(15, 'fire alarm', 2);
await send(29, 'absences', 1);
await send(30, 'absences', 12);
await send(40, 'fire alarm', 2);
await limiter.close();
