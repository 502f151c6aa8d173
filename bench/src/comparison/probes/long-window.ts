import { createTimed, type Probe } from '../probe.js';

const DAY_MS = 86_400_000;

export const longWindow: Probe = {
  title: 'enforces 1 in 30 days',
  method:
    'Allows one request in 30 days, and sends a second one after a minute. A limiter that resets its counter with a Node timer does so too early, because a timer of more than 24.8 days fires at once.',
  async run(library) {
    const timed = await createTimed(library, { limit: 1, windowMs: 30 * DAY_MS });
    if (timed === undefined) return undefined;
    await timed.limiter.check('192.0.2.1');
    timed.time.moveTo(60_000);
    return (await timed.limiter.check('192.0.2.1')).allowed ? 'no' : 'yes';
  },
};
