import type { LogFormat } from './formats/format.js';
import { createLineParser } from './line-parser.js';
import type { Request, Selectors } from './request.js';
import { layersOf, unwrapAll } from './wrappers/index.js';
import type { Wrapper } from './wrappers/wrapper.js';

/** How to read the lines of a log. */
export interface DetectedFormat {
  readonly format: LogFormat;
  readonly wrappers: readonly Wrapper[];
  readonly note: string | undefined;
  readonly parse: (line: string) => Request | string | undefined;
}

/** Finds the format and the wrappers that read most lines of the sample, or `undefined` if none reads any. */
export function detectFormat(
  sample: readonly string[],
  formats: readonly LogFormat[],
  selectors: Selectors,
): DetectedFormat | undefined {
  let best: DetectedFormat | undefined;
  let [mostKeys, mostRequests] = [0, 0];
  for (const candidate of candidatesOf(sample, formats, selectors)) {
    const requests = sample.map(candidate.parse).filter((request) => typeof request === 'object');
    const keys = requests.filter(({ key }) => key !== undefined).length;
    if (keys > mostKeys || (keys === mostKeys && requests.length > mostRequests)) {
      [best, mostKeys, mostRequests] = [candidate, keys, requests.length];
    }
  }
  return best;
}

/** Each combination of wrappers and a format that a line of the sample looks like. */
function candidatesOf(
  sample: readonly string[],
  formats: readonly LogFormat[],
  selectors: Selectors,
): DetectedFormat[] {
  const found = new Map<string, DetectedFormat>();
  for (const { wrappers, line } of sample.flatMap(layersOf)) {
    for (const format of formats) {
      const name = [...wrappers, format].map((each) => each.name).join('\n');
      if (found.has(name) || !format.isLike(line)) continue;
      found.set(name, toDetectedFormat(format, wrappers, sample, selectors));
    }
  }
  const isGuess = ({ wrappers }: DetectedFormat) => wrappers.some((wrapper) => wrapper.isGuess);
  const all = [...found.values()];
  return [...all.filter((candidate) => !isGuess(candidate)), ...all.filter(isGuess)];
}

function toDetectedFormat(
  format: LogFormat,
  wrappers: readonly Wrapper[],
  sample: readonly string[],
  selectors: Selectors,
): DetectedFormat {
  const inner = sample.map((line) => unwrapAll(line, wrappers)?.line).filter((line) => line !== undefined);
  const { parse, note } = format.createParser(selectors, inner);
  return { format, wrappers, note, parse: createLineParser(wrappers, parse) };
}
