/** How a client rates a media type: its quality, and how specific the range is that matches it. */
type Rating = readonly [quality: number, specificity: number];

const UNACCEPTABLE: Rating = [0, 0];

/**
 * Whether a client prefers plain text to JSON (RFC 9110, section 12.5.1). JSON wins a tie, also for a client that accepts
 * neither.
 *
 * @param accept The value of the header `Accept`.
 */
export function prefersText(accept: string | null | undefined): boolean {
  if (!accept || accept === '*/*') return false;
  const ranges = accept.toLowerCase().split(',').map(parseRange);
  const [textQuality, textSpecificity] = rate(ranges, 'text', 'plain');
  const [jsonQuality, jsonSpecificity] = rate(ranges, 'application', 'json');
  return textQuality === jsonQuality ? textQuality > 0 && textSpecificity > jsonSpecificity : textQuality > jsonQuality;
}

function parseRange(range: string): { type: string; quality: number } {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  return { type, quality: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
}

/** Returns the rating by the most specific range that matches. */
function rate(ranges: readonly { type: string; quality: number }[], type: string, subtype: string): Rating {
  const candidates = [`${type}/${subtype}`, `${type}/*`, '*/*'];
  for (const [index, candidate] of candidates.entries()) {
    const range = ranges.find((other) => other.type === candidate);
    if (range !== undefined) return range.quality === 0 ? UNACCEPTABLE : [range.quality, 3 - index];
  }
  return UNACCEPTABLE;
}
