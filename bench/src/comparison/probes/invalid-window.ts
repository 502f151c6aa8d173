import { createTimed, type Probe } from '../probe.js';

export const invalidWindow: Probe = {
  title: 'a window of `NaN`',
  method:
    'Creates a limiter whose window is `NaN`, and checks a key. Reports "logged" if the library only logs the mistake.',
  async run(library) {
    let warnings = 0;
    for (const method of ['warn', 'error'] as const) {
      console[method] = () => {
        warnings += 1;
      };
    }
    try {
      const timed = await createTimed(library, { limit: 1, windowMs: Number.NaN });
      if (timed === undefined) return undefined;
      await timed.limiter.check('192.0.2.1');
    } catch {
      return 'error';
    }
    return warnings > 0 ? 'logged' : 'accepted';
  },
};
