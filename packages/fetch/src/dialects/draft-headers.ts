import { type BareItem, type Item, parseDictionary, parseList } from 'structured-headers';
import type { Dialect, QuotaReport, ResponseHead } from './dialect.js';
import { UNKNOWN_RESET_MS } from './x-rate-limit.js';

/** The names of the remaining units and of the seconds until more are free: of draft 11, then of the editor's copy of draft 12. */
const REMAINING = ['r', 'a'];
const RESET = ['t', 'w'];

type Parameters = ReadonlyMap<string, BareItem>;

/**
 * Reads the headers `RateLimit` and `RateLimit-Policy` of the IETF drafts since the seventh. Add `xRateLimit()` for the separate
 * headers of earlier drafts.
 *
 * The reset of these headers is the time until *some* units are free, so a quota is `'rolling'`.
 */
export function draftHeaders(): Dialect {
  return {
    name: 'draft-headers',
    units: ['requests'],
    read(response) {
      const header = response.header('ratelimit');
      if (header === undefined) return undefined;
      const policies = readPolicies(response);
      const quotas = readList(header)?.flatMap((item) => toQuota(item, policies) ?? []) ?? readDictionary(header);
      if (quotas.length === 0) return undefined;
      // The name of a single policy distinguishes nothing.
      return { quotas: quotas.length === 1 ? [{ ...quotas[0]!, name: undefined }] : quotas };
    },
  };
}

/** The parameters of each policy by its name. */
function readPolicies(response: ResponseHead): ReadonlyMap<string, Parameters> {
  const policies = readList(response.header('ratelimit-policy') ?? '') ?? [];
  return new Map(policies.map(([name, parameters]) => [String(name), parameters]));
}

/** A decimal without a fraction, which the parser would return like an integer, next to a string, which may contain one. */
const DECIMAL = /"(?:[^"\\]|\\.)*"|(\d)\.0{1,3}(?!\d)/g;

/** Replaces decimals by some that are no integers, because only integers count. */
function withoutDecimals(header: string): string {
  return header.replace(DECIMAL, (text, digit?: string) => (digit === undefined ? text : `${digit}.5`));
}

/** Returns the items of a list without inner lists, or `undefined` if the header is anything else. */
function readList(header: string): readonly Item[] | undefined {
  const list = orUndefined(() => parseList(withoutDecimals(header)));
  return list?.filter((item): item is Item => !Array.isArray(item[0]));
}

function toQuota([name, parameters]: Item, policies: ReadonlyMap<string, Parameters>): QuotaReport | undefined {
  const policy = policies.get(String(name));
  const remaining = firstInteger(parameters, REMAINING);
  const unit = String(policy?.get('qu') ?? 'requests');
  if (remaining === undefined || unit === 'concurrent-requests') return undefined;
  const seconds = firstInteger(parameters, RESET) ?? firstInteger(policy, ['w']);
  const resetMs = seconds === undefined ? UNKNOWN_RESET_MS : seconds * 1000;
  // Draft 11 calls the default unit "requests", and earlier ones "request".
  const counted = unit === 'request' ? 'requests' : unit;
  return { unit: counted, name: String(name), limit: firstInteger(policy, ['q']), remaining, resetMs, kind: 'rolling' };
}

/** Reads `limit=100, remaining=50, reset=5`, the form of draft 7. */
function readDictionary(header: string): QuotaReport[] {
  const members = orUndefined(() => parseDictionary(withoutDecimals(header)));
  const numberOf = (key: string) => toInteger(members?.get(key)?.[0]);
  const remaining = numberOf('remaining');
  if (remaining === undefined) return [];
  const seconds = numberOf('reset');
  const resetMs = seconds === undefined ? UNKNOWN_RESET_MS : seconds * 1000;
  return [{ unit: 'requests', limit: numberOf('limit'), remaining, resetMs, kind: 'rolling' }];
}

function firstInteger(parameters: Parameters | undefined, names: readonly string[]): number | undefined {
  return names.map((name) => toInteger(parameters?.get(name))).find((value) => value !== undefined);
}

function toInteger(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** The parser throws for malformed headers, which a client has to ignore. */
function orUndefined<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
