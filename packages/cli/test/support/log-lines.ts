/** A request as the tests make them. */
export interface Hit {
  /** Milliseconds since the epoch. */
  readonly ms: number;
  readonly ip: string;
  readonly user?: string;
  readonly path?: string;
}

/** Where generated logs begin: 2026-03-01, 00:00 UTC. */
export const START_MS = Date.UTC(2026, 2, 1);

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (number: number) => String(number).padStart(2, '0');

/** As in `17/May/2015:10:05:03 +0000`. */
export function commonDate(ms: number): string {
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

export function toLog(hits: readonly Hit[], toLine = combinedLine): string {
  return hits.map((hit) => `${toLine(hit)}\n`).join('');
}

/** Numbers from 0 to 1 that look like chance and are the same each time. */
export function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/**
 * Some callers with a steady trickle, some who come in bursts; written when the requests end, and so up to a minute out of
 * order.
 */
export function busyHits(count: number, seed = 1): Hit[] {
  const random = chance(seed);
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
