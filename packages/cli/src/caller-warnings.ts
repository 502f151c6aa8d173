import { type ForwardedCounts, isAddress, isPrivateAddress, toBareAddress } from './log/client.js';
import type { Callers } from './log/entry.js';
import type { LogFormat } from './log/formats/format.js';
import type { KeySource } from './log/request.js';
import { toPlainText } from './report/escape-invisible.js';
import { formatCount, formatInteger, formatPercent } from './report/format-number.js';
import { SEVERE_SHARE, type Warning } from './warnings.js';

/** With fewer requests, an unusual distribution proves nothing. */
const MIN_SINGLE = 10;
const MIN_ONLY = 20;

/** What callers are identified by. */
interface Identification {
  readonly keySource: KeySource;
  readonly forwarded: ForwardedCounts;
  readonly format: LogFormat | undefined;
}

/** Returns warnings about keys that are probably not the clients. */
export function createCallerWarnings({ keySource, forwarded, format }: Identification, callers: Callers): Warning[] {
  const { kind, field } = keySource;
  const counts = countCallers(callers);
  // The group `key` of a pattern may be anything.
  const isOtherKey = format?.name === 'pattern' && counts.otherKeys === counts.requests;
  const isByAddress = field === undefined && (kind === 'ip' || kind === 'forwarded') && !isOtherKey;
  const texts = isByAddress ? [...describeAddresses(kind, counts)] : [];
  if (kind === 'forwarded' && forwarded.lists === 0 && forwarded.missing > 0) {
    texts.push('No line contains a forwarded address, so each caller is the address that sent the request');
  }
  if (forwarded.ignored > 0) {
    texts.push(
      `${formatPercent(forwarded.ignored, forwarded.lists)} of the forwarded lists were ignored, because addresses outside of the trusted networks sent them; see --trusted-proxies`,
    );
  }
  if (kind === 'field' && counts.withPort * 2 > counts.requests) {
    texts.push(`Most callers are addresses with a port. Use --by ip --key-field ${field}`);
  }
  if (counts.requests >= MIN_SINGLE && counts.requests === counts.count) {
    texts.push(
      `Each of the ${formatInteger(counts.count)} callers has exactly one request, so no limit would reject any. ` +
        'Is the key the client? See --by',
    );
  }
  const isSevere = (text: string) =>
    !text.includes('not an address') || counts.otherKeys / counts.requests > SEVERE_SHARE;
  return texts.map((text) => ({ text, isSevere: isSevere(text) }));
}

type CallerCounts = ReturnType<typeof countCallers>;

function countCallers(callers: Callers) {
  const counts = { count: 0, requests: 0, otherKeys: 0, firstOtherKey: '', topKey: '', topRequests: 0, withPort: 0 };
  for (const { key, requests } of callers.all()) {
    counts.count += 1;
    counts.requests += requests;
    if (requests > counts.topRequests) [counts.topKey, counts.topRequests] = [key, requests];
    if ((toBareAddress(key) ?? key) !== key) counts.withPort += requests;
    if (isAddress(key.replace(/\/\d+$/, ''))) continue;
    if (counts.otherKeys === 0) counts.firstOtherKey = key;
    counts.otherKeys += requests;
  }
  return counts;
}

function* describeAddresses(kind: KeySource['kind'], counts: CallerCounts): Generator<string> {
  const { requests, otherKeys, firstOtherKey, topKey, topRequests } = counts;
  const of = (count: number) => `${formatInteger(count)} of ${formatCount(requests, 'request')}`;
  if (otherKeys > 0) {
    const shown = toPlainText(JSON.stringify(firstOtherKey));
    yield `${of(otherKeys)} (${formatPercent(otherKeys, requests)}) have a caller that is not an address, such as ${shown}; see --by`;
  }
  const share = `${of(topRequests)} (${formatPercent(topRequests, requests)})`;
  const hint = kind === 'ip' ? '; if the log contains X-Forwarded-For, use --by forwarded' : '; see --trusted-proxies';
  if (isPrivateAddress(topKey) && topRequests * 2 > requests) {
    yield `${topKey} is a private address and sent ${share}. It is probably a proxy${hint}`;
  } else if (counts.count === 1 && requests >= MIN_ONLY && otherKeys === 0) {
    yield `${topKey} sent all ${formatCount(requests, 'request')}. It may be a proxy${hint}`;
  }
}
