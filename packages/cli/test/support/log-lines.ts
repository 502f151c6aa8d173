/** A request in a generated log. */
export interface Hit {
  /** Milliseconds since the epoch. */
  readonly ms: number;
  readonly ip: string;
  readonly user?: string;
  readonly path?: string;
  /** @defaultValue 1 */
  readonly cost?: number;
}

/** Where generated logs begin: 2026-03-01, 00:00 UTC. */
export const START_MS = Date.UTC(2026, 2, 1);

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (number: number) => String(number).padStart(2, '0');

/** As in `17/May/2015:10:05:03 +0000`. */
function commonDate(ms: number): string {
  const date = new Date(ms);
  const day = `${two(date.getUTCDate())}/${MONTHS[date.getUTCMonth()]}/${date.getUTCFullYear()}`;
  return `${day}:${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} +0000`;
}

/** A line of the common format, without its end. */
export function commonLine({ ms, ip, user = '-', path = '/' }: Hit): string {
  return `${ip} - ${user} [${commonDate(ms)}] "GET ${path} HTTP/1.1" 200 512`;
}

/** A line of the combined format. */
export function combinedLine(hit: Hit): string {
  return `${commonLine(hit)} "https://example.com/" "Mozilla/5.0 (X11; \\"quoted\\") [x]"`;
}

export function toLog<Logged extends Hit>(
  hits: readonly Logged[],
  toLine: (hit: Logged) => string = combinedLine,
): string {
  return hits.map((hit) => `${toLine(hit)}\n`).join('');
}

/** Creates a generator of pseudo-random numbers from 0 to 1 that repeats with its seed. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/**
 * Requests of steady callers and of bursts. They are logged when they end, so up to a minute out of order.
 */
export function busyHits(count: number, seed = 1): Hit[] {
  const random = createRandom(seed);
  const hits: Hit[] = [];
  let ms = START_MS;
  while (hits.length < count) {
    ms += Math.floor(random() * 20) * 1000;
    const ip = `192.0.2.${Math.floor(random() ** 2 * 40)}`;
    const burst = random() < 0.1 ? Math.ceil(random() * 40) : 1;
    for (let index = 0; index < burst && hits.length < count; index++) {
      hits.push({ ms: ms + Math.floor(random() * burst) * 1000, ip });
    }
  }
  return hits;
}
