import { parseTime } from './parse-time.js';
import type { Parse } from './request.js';
import { unwrapAll } from './wrappers/index.js';
import type { Wrapper } from './wrappers/wrapper.js';

const NO_TIME = 'it has no time in a field with a common name; name it with `--time-field`';

/** Creates a parser for lines inside of wrappers. A line without a time gets the time of the innermost wrapper with one. */
export function createLineParser(wrappers: readonly Wrapper[], parse: Parse): Parse {
  return (line) => {
    if (wrappers.length === 0) {
      const request = parse(line);
      return typeof request === 'object' && Number.isNaN(request.micros) ? NO_TIME : request;
    }
    const unwrapped = unwrapAll(line, wrappers);
    if (unwrapped === undefined)
      return `it does not begin like lines of ${wrappers.map(({ name }) => name).join(', ')}`;
    const request = parse(unwrapped.line);
    if (typeof request !== 'object' || !Number.isNaN(request.micros)) return request;
    const micros = unwrapped.time === undefined ? NO_TIME : parseTime(unwrapped.time);
    return typeof micros === 'string' ? micros : { ...request, micros };
  };
}
