import { isIPv6 } from 'node:net';
import { copyString } from '@rollgate/core/store';
import { commonTime } from './parse-time.js';
import { type CommonBy, type Parse, type Request, withoutQuery } from './request.js';

const BACKSLASH = 92;
const DASH = 45;
const SPACE = 32;
const ZERO = 48;

const NOT_COMMON = 'it is not in the common or combined format';

/**
 * Reads lines of the common and the combined format, which begin alike:
 * `address identity user [time] "request" status size`. The rest of the line is ignored. The name of the virtual host may
 * precede it, as Debian's Apache writes it.
 */
export function commonParser(by: CommonBy): Parse {
  const readTime = createTimeParser();
  return (line) => {
    const start = startOfAddress(line);
    const address = line.indexOf(' ', start);
    if (address < 1 || !isPrintable(line, address)) return NOT_COMMON;
    const identity = line.indexOf(' ', address + 1);
    const user = identity === -1 ? -1 : line.indexOf(' [', identity + 1);
    if (user === -1) return NOT_COMMON;
    const time = line.indexOf('] "', user + 2);
    if (time === -1) return NOT_COMMON;
    const request = endOfQuoted(line, time + 3);
    if (request === -1 || !hasStatusAndSize(line, request + 1)) return NOT_COMMON;
    const micros = readTime(line, user + 2, time);
    if (typeof micros === 'string') return micros;
    if (by === 'ip') return { micros, key: line.slice(start, address), cost: 1 } satisfies Request;
    const key = by === 'user' ? line.slice(identity + 1, user) : targetOf(line.slice(time + 3, request));
    return { micros, key: valueOrUndefined(key), cost: 1 } satisfies Request;
  };
}

/** Matches `host:port address identity user [`, but not an address with a port before a user name of two words. */
const VIRTUAL_HOST = /^\S+:\d+ (?=[^ -]\S* \S+ [^ [])/;

/** The index behind the virtual host, if there is one. Without one, the second field is nearly always a dash. */
function startOfAddress(line: string): number {
  const first = line.indexOf(' ');
  if (line.charCodeAt(first + 1) === DASH) return 0;
  const [host = ''] = VIRTUAL_HOST.exec(line) ?? [];
  return isIPv6(host.trimEnd()) ? 0 : host.length;
}

/** Returns the path of `"GET /path HTTP/1.1` without its query. */
function targetOf(request: string): string {
  const [, target = ''] = request.split(' ', 2);
  return withoutQuery(target);
}

/** Returns `undefined` for dashes, which stand for a missing value. */
function valueOrUndefined(text: string): string | undefined {
  return text === '' || /^[- ]+$/.test(text) ? undefined : text;
}

/** Where the seconds of `17/May/2015:10:05:03 +0200` begin, and where the zone does. */
const SECONDS = 18;
const ZONE = 20;

/** Creates a parser that parses the rest of a date once, because lines of one minute differ in two digits only. */
function createTimeParser(): (line: string, start: number, end: number) => number | string {
  let [minute, zone, micros] = ['', '', 0];
  return (line, start, end) => {
    const tens = line.charCodeAt(start + SECONDS) - ZERO;
    const ones = line.charCodeAt(start + SECONDS + 1) - ZERO;
    const isKnown =
      end - start === ZONE + zone.length && line.startsWith(minute, start) && line.startsWith(zone, start + ZONE);
    if (isKnown && tens >= 0 && tens < 6 && ones >= 0 && ones < 10) return micros + (tens * 10 + ones) * 1e6;
    const text = line.slice(start, end);
    const found = commonTime(text);
    const hasFraction = text.charCodeAt(ZONE) !== SPACE;
    if (typeof found === 'number' && !hasFraction && tens < 6) {
      [minute, zone] = [copyString(text.slice(0, SECONDS)), copyString(text.slice(ZONE))];
      micros = found - (tens * 10 + ones) * 1e6;
    }
    return found;
  };
}

function isPrintable(line: string, end: number): boolean {
  for (let at = 0; at < end; at++) if (line.charCodeAt(at) < SPACE) return false;
  return true;
}

/** The index of the quote that ends the text from `start`, or -1. */
function endOfQuoted(line: string, start: number): number {
  for (let at = line.indexOf('"', start); at !== -1; at = line.indexOf('"', at + 1)) {
    let before = at - 1;
    while (before >= start && line.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return -1;
}

/** Whether a status and a size (or a dash) begin at `start`. */
function hasStatusAndSize(line: string, start: number): boolean {
  const size = line.charCodeAt(start + 5);
  return (
    line.charCodeAt(start) === SPACE &&
    isDigit(line.charCodeAt(start + 1)) &&
    isDigit(line.charCodeAt(start + 2)) &&
    isDigit(line.charCodeAt(start + 3)) &&
    line.charCodeAt(start + 4) === SPACE &&
    (isDigit(size) || size === DASH)
  );
}

function isDigit(code: number): boolean {
  return code >= ZERO && code < ZERO + 10;
}
