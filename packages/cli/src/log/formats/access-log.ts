import { copyString } from '@rollgate/core/store';
import { toPlainText } from '../../report/escape-invisible.js';

import { entriesOf, isAddress, isAddressList, valueOrUndefined } from '../client.js';
import { parseBracketedTime } from '../parse-time.js';
import { type Parse, type RequestParts, type Selectors, toRequest } from '../request.js';
import type { LogFormat } from './format.js';

const [BACKSLASH, DASH, QUOTE, SLASH, SPACE, ZERO] = [92, 45, 34, 47, 32, 48];

const NOT_ACCESS_LOG = 'it is not in the common or combined format';

// The time has a limited length. Otherwise, a line with many brackets would take quadratic time.
const LIKE = / \[(?=\d|[A-Z][a-z]{2},? )[^\]]{0,64}\](?: [^\s"]+){0,3} ?"/;
const TIME = / \[(?=\d|[A-Z][a-z]{2},? )([^\]]{0,64})\](?: [^\s"]+){0,3} ?"/g;

/**
 * The common and the combined format and their relatives: `address identity user [time] "request" status size`. Anything may
 * precede it, such as a virtual host or a prefix of a log collector. The rest of the line is only read for
 * `X-Forwarded-For`, which is the last quoted field of nginx's format `main`.
 */
export const accessLog: LogFormat = {
  name: 'combined',
  hasFields: false,
  isLike: (line) => !line.startsWith('{"') && LIKE.test(line),
  createParser(selectors, sample) {
    const parse = createParse(selectors);
    const prefix = sample.map((line) => locate(line)?.prefix).find((text) => text !== undefined);
    // A line may consist almost entirely of its prefix, so the note shows only the start.
    const note = prefix === undefined ? undefined : `skipped the prefix ${toPlainText(JSON.stringify(prefix))}`;
    return { parse, note };
  },
};

function createParse(selectors: Selectors): Parse {
  const readTime = createTimeParser();
  const isByIp = selectors.keySource.kind === 'ip' && !selectors.needsTarget;
  const isForwarded = selectors.keySource.kind === 'forwarded';
  return (line) => {
    const found = locate(line);
    if (found === undefined) return NOT_ACCESS_LOG;
    const request = requestAt(line, found.request);
    if (request === undefined) return NOT_ACCESS_LOG;
    const micros = readTime(line, found.time, found.timeEnd);
    if (typeof micros === 'string') return micros;
    if (isByIp && found.isPlain) return { micros, key: valueOrUndefined(found.address), cost: 1 };
    return toRequest(selectors, micros, {
      address: found.address,
      forwarded: isForwarded ? (forwardedOf(line, request.end) ?? found.forwarded) : undefined,
      user: line.slice(found.user, found.userEnd),
      request: line.slice(request.start, request.end),
    } satisfies RequestParts);
  };
}

/**
 * The first quoted field that is a list of addresses, after the referrer and the name of the browser, which clients choose. The
 * address of the server that responded may follow it. A lone field is neither of the two.
 */
function forwardedOf(line: string, request: number): string | undefined {
  const quoted: string[] = [];
  for (let end = request, start = 0; ; ) {
    start = line.indexOf('"', end + 1) + 1;
    end = start === 0 ? -1 : endOfQuoted(line, start);
    if (end === -1) break;
    quoted.push(line.slice(start, end));
  }
  return quoted.slice(quoted.length === 1 ? 0 : 2).find(isAddressList);
}

interface AccessLine {
  /** `undefined` if the line has none. */
  address: string | undefined;
  /** Whether the address needs no further reading. */
  isPlain: boolean;
  /** A list of forwarded addresses that precedes the time. */
  forwarded: string | undefined;
  /** What precedes the address, if it has a meaning. */
  prefix: string | undefined;
  user: number;
  userEnd: number;
  time: number;
  timeEnd: number;
  /** Behind a quote. The request may follow in a later one. */
  request: number;
}

/** Reused for each line, because most lines are located in the same way. */
const usual: AccessLine = {
  ...{ address: '', isPlain: true, forwarded: undefined, prefix: undefined },
  ...{ user: 0, userEnd: 0, time: 0, timeEnd: 0, request: 0 },
};

/** Finds the parts of a line. Nearly always, the address is the first field, and the second is a dash. */
function locate(line: string): AccessLine | undefined {
  const addressEnd = line.indexOf(' ');
  if (line.charCodeAt(addressEnd + 1) !== DASH || line.charCodeAt(addressEnd + 2) !== SPACE)
    return locateAfterPrefix(line);
  const userEnd = line.indexOf(' [', addressEnd + 2);
  const timeEnd = userEnd === -1 ? -1 : line.indexOf(']', userEnd + 2);
  const isUsual = timeEnd !== -1 && line.charCodeAt(timeEnd + 2) === QUOTE && line.charCodeAt(timeEnd + 1) === SPACE;
  const address = line.slice(0, addressEnd);
  if (!isUsual || !WORD.test(address)) return locateAfterPrefix(line);
  usual.address = address;
  usual.user = addressEnd + 3;
  usual.userEnd = userEnd;
  usual.time = userEnd + 2;
  usual.timeEnd = timeEnd;
  usual.request = timeEnd + 3;
  return usual;
}

/** An address or a host, and not only a dash. */
const WORD = /^(?!-$)[a-z\d.:-]+$/i;

/** A field before the time: one or more texts, if blanks or brackets hold them together. */
interface Field {
  readonly text: string;
  readonly start: number;
  /** Whether it consists of addresses. */
  readonly isAddress: boolean;
  /** Whether it is a list, or in brackets or quotes, so that it rather is a header than the peer. */
  readonly isList: boolean;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what text does not have
const CONTROL = /[\0-\x08\x0a-\x1f]/;

/** Finds the parts of a line when something precedes the address, or the identity is not a dash. */
function locateAfterPrefix(line: string): AccessLine | undefined {
  TIME.lastIndex = 0;
  const match = TIME.exec(line);
  if (match === null || CONTROL.test(line.slice(0, match.index))) return undefined;
  const fields = fieldsOf(line, match.index);
  const index = indexOfAddress(fields);
  const address = fields[index];
  const other = fields.findLast(
    (field, at) => at !== index && field.isAddress && (field.isList || Math.abs(at - index) === 1),
  );
  const isListAddress = address?.isAddress === true && entriesOf(address.text).length > 1;
  // The identity follows, unless it is a list of addresses, or the only field.
  const next = fields[index + 1] === other && other !== undefined ? index + 2 : index + 1;
  const user = fields[Math.min(next + 1, fields.length - 1)];
  const prefix = line.slice(0, address?.start ?? 0);
  const time = line.indexOf('[', match.index) + 1;
  return {
    address: address?.text,
    isPlain: false,
    forwarded: isListAddress ? address.text : other?.text,
    prefix: valueOrUndefined(prefix.replace(/^[\s"'(-]+$/, '')),
    user: user !== undefined && user.start > (address?.start ?? -1) ? user.start : match.index,
    userEnd: match.index,
    time,
    timeEnd: time + match[1]!.length,
    request: match.index + match[0].length,
  };
}

/** Matches texts in quotes, a text in brackets, a list whose parts end with commas, or a word. */
const FIELD = /\([^()]*\)|\{[^{}]*\}|(?:[\w-]+=)?"[^"]*"(?:, *"[^"]*")*|[^\s,]+(?: *, *[^\s,]+)*,?/g;

function fieldsOf(line: string, end: number): Field[] {
  return Array.from(line.slice(0, end).matchAll(FIELD)).flatMap(({ 0: text, index }) => {
    // `$http_x_forwarded_for/$remote_addr`
    const parts = text.split('/');
    const isPair =
      parts.length > 1 && parts.every((part) => isAddressList(part) || valueOrUndefined(part) === undefined);
    let start = index;
    return (isPair ? parts : [text]).map((part) => {
      const field = toField(part, start);
      start += part.length + 1;
      return field;
    });
  });
}

function toField(text: string, start: number): Field {
  const isList = /[,()"]/.test(text);
  return { text, start, isAddress: isAddressList(text), isList };
}

/** The third field before the time, unless only another one is an address. -1 if there is none. */
function indexOfAddress(fields: readonly Field[]): number {
  const third = fields.length - 3;
  const isPeer = ({ isAddress: isOne, isList }: Field) => isOne && !isList;
  for (const fits of [isPeer, ({ isAddress: isOne }: Field) => isOne]) {
    const before = fields.slice(0, third + 1).findLastIndex(fits);
    const found = before === -1 ? fields.findIndex(fits) : before;
    if (found !== -1) return found;
  }
  // A host name, which may be the only field.
  return fields.findIndex(({ text }, at) => at >= third && valueOrUndefined(text) !== undefined && isHost(text));
}

const isHost = (text: string): boolean => !isAddress(text) && /^[\w.:-]+$/.test(text);

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

/** A status, and a size or a dash. */
const STATUS_AND_SIZE = / \d{3} [\d-]/y;

/** A field such as the host or the process may precede the request. */
const MAX_QUOTED_BEFORE = 2;

/** Where the request is, which a status and a size follow. */
function requestAt(line: string, first: number): { readonly start: number; readonly end: number } | undefined {
  let start = first;
  for (let quoted = 0; quoted <= MAX_QUOTED_BEFORE && start > 0; quoted++) {
    const end = endOfQuoted(line, start);
    if (end === -1) return undefined;
    STATUS_AND_SIZE.lastIndex = end + 1;
    if (STATUS_AND_SIZE.test(line)) return { start, end };
    start = line.indexOf('"', end + 1) + 1;
  }
  return undefined;
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
