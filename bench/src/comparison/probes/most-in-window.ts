import { ipv4Key } from '../../subjects.js';
import { toFigure, whole } from '../../table.js';
import { mostInAnyWindow } from '../../trial.js';
import { createTimed, type Probe, type TimedLimiter } from '../probe.js';

const LIMIT = 10;
const WINDOW_MS = 60_000;
/** Just before and at the end of a window, whether it starts with the clock's minute or with the first request. */
const MOMENTS = [0, WINDOW_MS - 2, WINDOW_MS - 1, WINDOW_MS, 2 * WINDOW_MS - 2, 2 * WINDOW_MS];
/** How many requests may come at a moment. The last one stands for as many as the limiter allows. */
const BURSTS = [0, 1, 3 * LIMIT];
const MOST_MOMENTS = 3;

export const mostInWindow: Probe = {
  title: 'most allowed in a window, limit 10',
  method:
    'Sends requests at up to three moments, each at the end of a minute or just before it. At each moment, sends one request, or as many as the library allows. Tries every combination, and reports the most requests allowed within one minute. An exact limiter allows 10.',
  async run(library) {
    const timed = await createTimed(library, { limit: LIMIT, windowMs: WINDOW_MS });
    if (timed === undefined) return undefined;
    let most = 0;
    for (const [index, bursts] of choices().entries()) {
      most = Math.max(most, mostInAnyWindow(await allowedTimes(timed, ipv4Key(index), bursts), WINDOW_MS));
    }
    return toFigure(most, whole);
  },
};

/** The bursts at the moments, for every choice. */
function choices(): number[][] {
  let all: number[][] = [[]];
  for (const _ of MOMENTS) all = all.flatMap((bursts) => BURSTS.map((burst) => [...bursts, burst]));
  return all.filter((bursts) => bursts.filter((burst) => burst > 0).length <= MOST_MOMENTS);
}

async function allowedTimes(
  { limiter, time }: TimedLimiter,
  key: string,
  bursts: readonly number[],
): Promise<number[]> {
  const times: number[] = [];
  const start = time.ms - (time.ms % WINDOW_MS) + 5 * WINDOW_MS;
  for (const [index, burst] of bursts.entries()) {
    time.moveTo(start + MOMENTS[index]!);
    for (let request = 0; request < burst; request++) {
      if (!(await limiter.check(key)).allowed) break;
      times.push(time.ms);
    }
  }
  return times;
}
