import { parseDuration as durationMs, validate } from '@rollgate/core/store';
import { UsageError } from './errors.js';
import { ALGORITHMS, type Algorithm, makeLimit, type NamedQuota } from './limits.js';
import { FORMATS, type Format } from './log/read-log.js';
import type { By } from './log/request.js';

const QUOTA = /^(?:([^=]*)=)?(\d+)\/(.+)$/;
const NAME = /^[a-z0-9][\w.-]{0,63}$/i;

const EXPECTED_QUOTA = 'a number of requests for a time, such as `100/1m` or `burst=10/1s`';

/** Of `100/1m`, `100/m` or `burst=10/1s`; without a name, it is called by its numbers. */
export function parseQuota(text: string): NamedQuota {
  const [, given, limitText, time] = QUOTA.exec(text) ?? [];
  if (limitText === undefined || time === undefined) throw usage('--limit', EXPECTED_QUOTA, text);
  const limit = Number(limitText);
  const name = given ?? `${limitText}-per-${time.trim().replaceAll(' ', '')}`;
  if (!Number.isSafeInteger(limit) || limit === 0) throw usage('--limit', EXPECTED_QUOTA, text);
  if (!NAME.test(name)) {
    throw usage('--limit', "a name of 1 to 64 letters, digits, '_', '.' or '-' before the `=`", text);
  }
  const windowMs = windowOf(/^\d/.test(time) ? time : `1${time}`);
  if (windowMs === undefined) throw usage('--limit', `${EXPECTED_QUOTA}, with a time of 100 years at most`, text);
  return { name, limit, windowMs };
}

/** @throws UsageError when two have one name, or the algorithm cannot do with the numbers. */
export function checkQuotas(algorithm: Algorithm, quotas: readonly NamedQuota[]): void {
  for (const [index, quota] of quotas.entries()) {
    const { name, limit, windowMs } = quota;
    if (quotas.findIndex((other) => other.name === name) < index) throw usage('--limit', 'a name for each limit', name);
    try {
      makeLimit(algorithm, quota);
    } catch (error) {
      throw new UsageError(
        `--limit ${limit}/${windowMs}ms is nothing for --algorithm ${algorithm}: ${(error as Error).message}`,
      );
    }
  }
}

/** Milliseconds of `10s`, `1m` or `2h`. */
export function parseDuration(option: string, text: string): number {
  try {
    return durationMs(option, text);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function windowOf(text: string): number | undefined {
  try {
    return durationMs('--limit', text);
  } catch {
    return undefined;
  }
}

/** As {@link parseDuration}, or 0. */
export function parseTolerance(text: string): number {
  return /^0\s*[a-z]*$/i.test(text) ? 0 : parseDuration('--tolerance', text);
}

/** Of `0.1%`, from 0 to 1. The sign is asked for: without it, 0.1 might be a tenth. */
export function parseShare(text: string): number {
  const [, percent] = /^(\d+(?:\.\d+)?) ?%$/.exec(text) ?? [];
  const share = Number(percent) / 100;
  if (percent === undefined || share >= 1) throw usage('--refuse', 'a share below 100% such as `0.1%`', text);
  return share;
}

export function parseAlgorithm(text: string): Algorithm {
  return oneOf('--algorithm', ALGORITHMS, text);
}

export function parseFormat(text: string): Format {
  return oneOf('--format', FORMATS, text);
}

export function parseIpv6Prefix(text: string): number {
  const bits = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (bits < 1 || bits > 128) throw usage('--ipv6-prefix', 'a number of bits from 1 to 128', text);
  return bits;
}

export function parseTop(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw usage('--top', 'a number of callers up to 999999', text);
  return Number(text);
}

/** Of the name of a field, in JSON lines. */
export function parseField(option: string): (text: string) => string {
  return (text) => {
    if (text === '') throw usage(option, 'the name of a field', text);
    return text;
  };
}

/** @throws UsageError when there is no such field in the format that was named. */
export function parseBy(by: string, keyField: string | undefined, format: Format | undefined): By {
  if (by === 'field' && keyField === undefined) {
    throw new UsageError('`--by field` needs the name of the field: `--key-field <name>`, or at once `--by <name>`');
  }
  const isKind = by === 'ip' || by === 'user' || by === 'path' || by === 'field';
  if (!isKind && keyField !== undefined) {
    throw usage('--by', '`ip`, `user`, `path` or `field` beside `--key-field`', by);
  }
  const found: By = isKind ? { kind: by, field: keyField } : { kind: 'field', field: by };
  if (by === '' || (found.field !== undefined && format !== undefined && format !== 'json')) {
    const expected = '`ip`, `user` or `path`, or the name of a field of JSON lines';
    throw keyField === undefined ? usage('--by', expected, by) : usage('--key-field', expected, keyField);
  }
  return found;
}

function oneOf<const Choice extends string>(option: string, choices: readonly Choice[], text: string): Choice {
  try {
    return validate.oneOf(option, text, choices);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** The error for a value that is none of those expected. */
export function usage(option: string, expected: string, value: unknown): UsageError {
  return new UsageError(validate.invalidOption(option, expected, value).message);
}
