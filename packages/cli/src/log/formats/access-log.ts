import { copyString } from '@rollgate/core/store';
import { toPlainText } from '../../report/format.js';
import { isAddressList } from '../forwarded.js';
import { parseBracketedTime } from '../parse-time.js';
import { keyOf, type Parse, type Request, type Selectors, valueOrUndefined } from '../request.js';
import { type AccessLine, endOfQuoted, locateAfterPrefix } from './access-line.js';
import type { LogFormat } from './format.js';

const DASH = 45;
const QUOTE = 34;
const SLASH = 47;
const SPACE = 32;
const ZERO = 48;

const NOT_ACCESS_LOG = 'it is not in the common or combined format';

/**
 * The common and the combined format and their relatives: `address identity user [time] "request" status size`. Anything may
 * precede it, such as a virtual host or a prefix of a log collector. The rest of the line is only read for
 * `X-Forwarded-For`, which is the last quoted field of nginx's format `main`.
 */
export const accessLog: LogFormat = {
  name: 'combined',
  hasFields: false,
  isLike: (line) => /\[\d[^\]]{0,64}\] ?"/.test(line),
  createParser(selectors, sample) {
    const parse = createParse(selectors);
    const prefix = sample.map(prefixOf).find((text) => text !== '');
    // A line may consist almost entirely of its prefix, so the note shows only the start.
    const note = prefix === undefined ? undefined : `skipped the prefix ${toPlainText(JSON.stringify(prefix))}`;
    return { parse, note };
  },
};

function createParse(selectors: Selectors): Parse {
  const readTime = createTimeParser();
  const isByIp = selectors.keySource.kind === 'ip';
  return (line) => {
    const at = locate(line);
    if (at === undefined || !isPrintable(line, at.addressEnd)) return NOT_ACCESS_LOG;
    const request = endOfQuoted(line, at.request);
    if (request === -1 || !hasStatusAndSize(line, request + 1)) return NOT_ACCESS_LOG;
    const micros = readTime(line, at.time, at.timeEnd);
    if (typeof micros === 'string') return micros;
    const address = line.slice(at.address, at.addressEnd);
    if (isByIp && !at.isList) return { micros, key: address, cost: 1 } satisfies Request;
    return { micros, key: otherKeyOf(selectors, line, at, request), cost: 1 } satisfies Request;
  };
}

function otherKeyOf(selectors: Selectors, line: string, at: AccessLine, request: number): string | undefined {
  const { selectClient, keySource } = selectors;
  const first = line.slice(at.address, at.addressEnd);
  // Some servers write the list of forwarded addresses instead of the address.
  const address = at.isList ? selectClient(first, undefined) : first;
  return keyOf(selectors, {
    address,
    forwarded: keySource.kind === 'forwarded' && !at.isList ? forwardedOf(line, at, request) : undefined,
    user: line.slice(at.user, at.userEnd),
    request: line.slice(at.request, request),
  });
}

/** The last quoted field, or else the prefix, if it is a list of addresses. */
function forwardedOf(line: string, { address }: AccessLine, request: number): string | undefined {
  const end = line.lastIndexOf('"');
  const last = end > request ? line.slice(line.lastIndexOf('"', end - 1) + 1, end) : '';
  if (isAddressList(last)) return last;
  const prefix = line.slice(0, address).trim();
  return prefix !== '' && isAddressList(prefix) ? prefix : undefined;
}

function prefixOf(line: string): string {
  const at = locate(line);
  return at === undefined ? '' : (valueOrUndefined(line.slice(0, at.address)) ?? '');
}

/** Reused for each line, because most lines are located in the same way. */
const found = { address: 0, addressEnd: 0, user: 0, userEnd: 0, time: 0, timeEnd: 0, request: 0, isList: false };

/** Finds the parts of a line. Nearly always, the address is the first field, and the second is a dash. */
function locate(line: string): AccessLine | undefined {
  const addressEnd = line.indexOf(' ');
  if (line.charCodeAt(addressEnd + 1) !== DASH || line.charCodeAt(addressEnd + 2) !== SPACE) {
    return locateAfterPrefix(line);
  }
  const userEnd = line.indexOf(' [', addressEnd + 2);
  const timeEnd = userEnd === -1 ? -1 : line.indexOf(']', userEnd + 2);
  const isUsual = timeEnd !== -1 && line.charCodeAt(timeEnd + 2) === QUOTE && line.charCodeAt(timeEnd + 1) === SPACE;
  if (addressEnd < 1 || !isUsual) return locateAfterPrefix(line);
  found.addressEnd = addressEnd;
  found.user = addressEnd + 3;
  found.userEnd = userEnd;
  found.time = userEnd + 2;
  found.timeEnd = timeEnd;
  found.request = timeEnd + 3;
  return found;
}

/** Where the seconds of `17/May/2015:10:05:03 +0200` begin, and where the zone does. */
const SECONDS = 18;
const ZONE = 20;

/** Creates a parser that parses the rest of a date once, because lines of one minute differ in two digits only. */
function createTimeParser(): (line: string, start: number, end: number) => number | string {
  // No line contains this minute.
  let [minute, zone, micros] = ['\n', '', 0];
  return (line, start, end) => {
    const tens = line.charCodeAt(start + SECONDS) - ZERO;
    const ones = line.charCodeAt(start + SECONDS + 1) - ZERO;
    const isKnown =
      end - start === ZONE + zone.length && line.startsWith(minute, start) && line.startsWith(zone, start + ZONE);
    if (isKnown && tens >= 0 && tens < 6 && ones >= 0 && ones < 10) return micros + (tens * 10 + ones) * 1e6;
    const text = line.slice(start, end);
    const parsed = parseBracketedTime(text);
    const isCommon = text.charCodeAt(ZONE) === SPACE && text.charCodeAt(2) === SLASH;
    if (typeof parsed === 'number' && isCommon && tens < 6) {
      [minute, zone] = [copyString(text.slice(0, SECONDS)), copyString(text.slice(ZONE))];
      micros = parsed - (tens * 10 + ones) * 1e6;
    }
    return parsed;
  };
}

function isPrintable(line: string, end: number): boolean {
  for (let at = 0; at < end; at++) if (line.charCodeAt(at) < SPACE) return false;
  return true;
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
