import { isAddress } from '../address.js';

const BACKSLASH = 92;

/** The indexes of the parts of an access log's line. */
export interface AccessLine {
  readonly address: number;
  readonly addressEnd: number;
  readonly user: number;
  readonly userEnd: number;
  readonly time: number;
  readonly timeEnd: number;
  /** Behind the quote. */
  readonly request: number;
  /** Whether a forwarded list, such as `client, proxy`, replaces the address. */
  readonly isList: boolean;
}

// The time has a limited length. Otherwise, a line with many brackets would take quadratic time.
const TIME = / \[(?=\d)([^\]]{0,64})\] ?"/g;
/** `address identity user`, then other forms: a user name of several words, or fewer fields. */
const IDENTITY_AND_USER = 2;

/** Finds the parts of a line when something precedes the address, or the identity is not a dash. */
export function locateAfterPrefix(line: string): AccessLine | undefined {
  TIME.lastIndex = 0;
  const match = TIME.exec(line);
  if (match === null) return undefined;
  const starts = startsOfFields(line, match.index);
  const index = indexOfAddress(line, starts, match.index);
  if (index === -1) return undefined;
  const ends = (field: number) => (field + 1 < starts.length ? starts[field + 1]! - 1 : match.index);
  const first = startOfList(line, starts, index);
  const user = Math.min(index + IDENTITY_AND_USER, starts.length - 1);
  return {
    address: starts[first]!,
    addressEnd: ends(index),
    user: user > index ? starts[user]! : match.index,
    userEnd: match.index,
    time: match.index + 2,
    timeEnd: match.index + 2 + match[1]!.length,
    request: match.index + match[0].length,
    isList: first < index,
  };
}

function startsOfFields(line: string, end: number): number[] {
  const starts = [0];
  for (let at = line.indexOf(' '); at !== -1 && at < end; at = line.indexOf(' ', at + 1)) starts.push(at + 1);
  return starts;
}

/** The third field before the time, unless only another one is an address. -1 if there is none. */
function indexOfAddress(line: string, starts: readonly number[], end: number): number {
  const isAddressAt = (field: number) =>
    field >= 0 && isAddress(line.slice(starts[field], field + 1 < starts.length ? starts[field + 1]! - 1 : end));
  const usual = starts.length - 1 - IDENTITY_AND_USER;
  for (let field = usual; field >= 0; field--) if (isAddressAt(field)) return field;
  for (let field = Math.max(0, usual + 1); field < starts.length; field++) if (isAddressAt(field)) return field;
  return usual;
}

/** The first field of a list whose fields end with commas, except the last. */
function startOfList(line: string, starts: readonly number[], index: number): number {
  let first = index;
  while (first > 0 && line[starts[first]! - 2] === ',') first -= 1;
  return first;
}

/** The index of the quote that ends the text from `start`, or -1. */
export function endOfQuoted(line: string, start: number): number {
  for (let at = line.indexOf('"', start); at !== -1; at = line.indexOf('"', at + 1)) {
    let before = at - 1;
    while (before >= start && line.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return -1;
}
