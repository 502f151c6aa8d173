/** How a client rates a media type: its quality, and how specific the range is that matches it. */
type Rating = readonly [quality: number, specificity: number];

const UNACCEPTABLE: Rating = [0, 0];

/** The last negotiation, because many rejections in a row are of one client. */
let lastAccept = '';
let lastTypes: readonly string[] = [];
let lastType = '';

/**
 * Returns the type that a client prefers (RFC 9110, section 12.5.1). The first one wins a tie, also for a client that accepts
 * none of them.
 *
 * @param accept The value of the header `Accept`.
 * @param types Values of the header `Content-Type`. There is at least one.
 */
export function negotiate(accept: unknown, types: readonly string[]): string {
  if (types.length === 1 || typeof accept !== 'string' || accept === '' || accept === '*/*') return types[0]!;
  if (accept !== lastAccept || types !== lastTypes) lastType = choose(accept, types);
  lastAccept = accept;
  lastTypes = types;
  return lastType;
}

function choose(accept: string, types: readonly string[]): string {
  let preferred = types[0]!;
  const ranges = accept.toLowerCase().split(',').map(parseRange);
  let best = UNACCEPTABLE;
  for (const type of types) {
    const [quality, specificity] = rate(ranges, type);
    const isBetter = quality === best[0] ? quality > 0 && specificity > best[1] : quality > best[0];
    if (!isBetter) continue;
    preferred = type;
    best = [quality, specificity];
  }
  return preferred;
}

function parseRange(range: string): { type: string; quality: number } {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, quality: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
}

/** Returns the rating by the most specific range that matches. */
function rate(ranges: readonly { type: string; quality: number }[], contentType: string): Rating {
  const type = contentType.split(';', 1)[0]!;
  const candidates = [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*'];
  for (const [index, candidate] of candidates.entries()) {
    const range = ranges.find((other) => other.type === candidate);
    if (range !== undefined) return range.quality === 0 ? UNACCEPTABLE : [range.quality, 3 - index];
  }
  return UNACCEPTABLE;
}
