import { createTimed, type Probe } from '../probe.js';

export const oddKey: Probe = {
  title: 'limits the key `__proto__`',
  method: 'Checks the key `__proto__` three times, with a limit of two.',
  async run(library) {
    if (library.hasKeys === false) return undefined;
    const timed = await createTimed(library, { limit: 2, windowMs: 60_000 });
    if (timed === undefined) return undefined;
    try {
      const outcomes = [];
      for (let check = 0; check < 3; check++) outcomes.push((await timed.limiter.check('__proto__')).allowed);
      return String(outcomes) === 'true,true,false' ? 'yes' : 'no';
    } catch {
      return 'no, it throws';
    }
  },
};
