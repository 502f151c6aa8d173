import { clarifyUnit, parseWindowText, validateOneOf } from '@rollgate/core/store';
import { ALGORITHMS, type Algorithm, createLimit, type NamedQuota, toAlgorithmName } from './algorithms.js';
import { parsePeriods, type Span } from './calendar-span.js';
import { UsageError } from './errors.js';
import { Networks, privateNetworks, type TrustedProxies } from './log/client.js';
import type { LogFormat } from './log/formats/format.js';
import { FORMAT_NAMES, formatOf } from './log/formats/index.js';
import { createPatternFormat } from './log/formats/pattern.js';
import type { KeySource } from './log/request.js';
import { parseDurationOption, usage } from './usage.js';

const QUOTA = /^(?:([^=]*)=)?(\d+)\/(.+)$/;
const NAME = /^[a-z0-9][\w.-]{0,63}$/i;

const EXPECTED_QUOTA = 'a number of requests for a time, such as `100/1m`, `burst=10/1s` or `1000/month`';

/** Parses `100/1m`, `100/m`, `burst=10/1s` or `1000/month`. The default name repeats the quota, such as `100-per-1m`. */
export function parseQuota(text: string): NamedQuota {
  const [, given, limitText, time] = QUOTA.exec(text) ?? [];
  if (limitText === undefined || time === undefined) throw usage('--limit', EXPECTED_QUOTA, text);
  const limit = Number(limitText);
  const name = given ?? `${limitText}-per-${time.trim().replaceAll(' ', '')}`;
  if (!Number.isSafeInteger(limit) || limit === 0) throw usage('--limit', EXPECTED_QUOTA, text);
  if (!NAME.test(name)) {
    throw usage('--limit', "a name of 1 to 64 letters, digits, '_', '.' or '-' before the `=`", text);
  }
  const span = parsePeriods(time.trim());
  if (span !== undefined) return { name, limit, ...span };
  const parsed = parseWindowText(`${limitText}/${time}`);
  if (parsed === undefined)
    throw usage(
      '--limit',
      clarifyUnit(text) ?? `${EXPECTED_QUOTA}, with a unit such as \`s\` or \`m\`, at most 100 years`,
      text,
    );
  return { name, ...parsed };
}

/** @throws UsageError when two quotas have the same name, or the algorithm does not support one. */
export function checkQuotas(algorithm: Algorithm, quotas: readonly NamedQuota[]): void {
  for (const [index, quota] of quotas.entries()) {
    const { name, limit, windowMs } = quota;
    if (quotas.findIndex((other) => other.name === name) < index) throw usage('--limit', 'a name for each limit', name);
    try {
      createLimit(algorithm, quota);
    } catch (error) {
      throw new UsageError(
        `\`--algorithm ${algorithm}\` does not support \`--limit ${limit}/${windowMs}ms\`: ${(error as Error).message}`,
      );
    }
  }
}

/** Parses `1m` or `month`. */
export function parseWindow(text: string): Span {
  return parsePeriods(text) ?? { windowMs: parseDurationOption('--window', text) };
}

/** Like {@link parseDurationOption}, and also accepts 0. */
export function parseTolerance(text: string): number {
  return /^0\s*[a-z]*$/i.test(text) ? 0 : parseDurationOption('--tolerance', text);
}

/** Parses `0.1%` to a number from 0 to 1. The sign is required, because 0.1 without it could mean a tenth. */
export function parseShare(text: string): number {
  const [, percent] = /^(\d+(?:\.\d+)?) ?%$/.exec(text) ?? [];
  const share = Number(percent) / 100;
  if (percent === undefined || share >= 1) throw usage('--reject', 'a share below 100% such as `0.1%`', text);
  return share;
}

export function parseAlgorithm(text: string): Algorithm {
  return oneOf('--algorithm', ALGORITHMS, toAlgorithmName(text));
}

export function parseFormat(text: string): LogFormat {
  return formatOf(oneOf('--format', FORMAT_NAMES, text));
}

/** Parses a regular expression with the groups `key` and `time`. */
export function parsePattern(text: string): LogFormat {
  let pattern: RegExp;
  try {
    pattern = new RegExp(text);
  } catch (error) {
    throw usage('--pattern', `a regular expression (${(error as Error).message})`, text);
  }
  for (const group of ['key', 'time']) {
    if (!text.includes(`(?<${group}>`)) {
      throw usage('--pattern', 'a regular expression with the groups `(?<key>…)` and `(?<time>…)`', text);
    }
  }
  return createPatternFormat(pattern);
}

const EXPECTED_PROXIES = '`private`, a number of proxies, or addresses and networks such as `10.0.0.0/8,192.0.2.1`';

/** Parses `private`, `2` or `10.0.0.0/8,192.0.2.1`. */
export function parseTrustedProxies(text: string): TrustedProxies {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  try {
    return text === 'private' ? privateNetworks : new Networks(text.split(',').map((network) => network.trim()));
  } catch {
    throw usage('--trusted-proxies', EXPECTED_PROXIES, text);
  }
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

export function parseField(option: string): (text: string) => string {
  return (text) => {
    if (text === '') throw usage(option, 'the name of a field', text);
    return text;
  };
}

/** @throws UsageError when the format has no such field. */
export function parseKeySource(by: string, keyField: string | undefined, format: LogFormat | undefined): KeySource {
  if (by === 'field' && keyField === undefined) {
    throw new UsageError('`--by field` requires the name of the field. Add `--key-field <name>`, or use `--by <name>`');
  }
  const isKind = by === 'ip' || by === 'forwarded' || by === 'user' || by === 'path' || by === 'field';
  if (!isKind && keyField !== undefined) {
    throw usage('--by', '`ip`, `forwarded`, `user`, `path` or `field` together with `--key-field`', by);
  }
  const found: KeySource = isKind ? { kind: by, field: keyField } : { kind: 'field', field: by };
  if (by === '' || (found.field !== undefined && format !== undefined && !format.hasFields)) {
    const expected = '`ip`, `forwarded`, `user`, `path` or the name of a field';
    throw keyField === undefined ? usage('--by', expected, by) : usage('--key-field', expected, keyField);
  }
  return found;
}

function oneOf<const Choice extends string>(option: string, choices: readonly Choice[], text: string): Choice {
  try {
    return validateOneOf(option, text, choices);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
