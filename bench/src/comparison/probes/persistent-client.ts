import { toFigure, whole } from '../../table.js';
import { createTimed, type Probe } from '../probe.js';

const MINUTES = 10;

export const persistentClient: Probe = {
  title: 'allowed to a client that keeps trying',
  method: `Sends a request every second for ${MINUTES} minutes, with a limit of 10 a minute, so 100 should be allowed. A limiter that blocks the client for some time after a rejection allows fewer. One that counts every rejected request allows nothing after the first ten.`,
  async run(library) {
    const timed = await createTimed(library, { limit: 10, windowMs: 60_000 });
    if (timed === undefined) return undefined;
    const { limiter, time } = timed;
    let allowed = 0;
    for (let second = 0; second < MINUTES * 60; second++) {
      time.moveTo(second * 1000);
      if ((await limiter.check('192.0.2.1')).allowed) allowed += 1;
    }
    return toFigure(allowed, whole);
  },
};
