import { isAddress, isPrivateAddress } from './log/address.js';
import type { Callers } from './log/entry.js';
import type { LogFormat } from './log/formats/format.js';
import type { ForwardedCounts } from './log/forwarded.js';
import type { By } from './log/request.js';
import { formatCount, formatInteger, formatPercent, toPlainText } from './report/format.js';
import { SEVERE_SHARE, type Warning } from './warnings.js';

/** With fewer requests, a strange distribution proves nothing. */
const MIN_SINGLE = 10;
const MIN_ONLY = 20;

/** What callers are identified by. */
interface Identification {
  readonly by: By;
  readonly forwarded: ForwardedCounts;
  readonly format: LogFormat | undefined;
}

/** Returns warnings about keys that are probably not the clients. */
export function callerWarnings({ by, forwarded, format }: Identification, callers: Callers): Warning[] {
  const { kind, field } = by;
  const found = inspect(callers);
  // The group `key` of a pattern may be anything.
  const isOtherKey = format?.name === 'pattern' && found.strange === found.requests;
  const isByAddress = field === undefined && (kind === 'ip' || kind === 'forwarded') && !isOtherKey;
  const texts = isByAddress ? [...addressWarnings(kind, found)] : [];
  if (kind === 'forwarded' && forwarded.lists === 0 && forwarded.missing > 0) {
    texts.push('No line contains a forwarded address, so each caller is the address that sent the request');
  }
  if (found.requests >= MIN_SINGLE && found.requests === found.count) {
    texts.push(
      `Each of the ${formatInteger(found.count)} callers has exactly one request, so no limit would reject any. ` +
        'Is the key the client? See --by',
    );
  }
  const isSevere = (text: string) => !text.includes('not an address') || found.strange / found.requests > SEVERE_SHARE;
  return texts.map((text) => ({ text, isSevere: isSevere(text) }));
}

type Found = ReturnType<typeof inspect>;

function inspect(callers: Callers) {
  const found = { count: 0, requests: 0, strange: 0, firstStrange: '', topKey: '', topRequests: 0 };
  for (const { key, requests } of callers.all()) {
    found.count += 1;
    found.requests += requests;
    if (requests > found.topRequests) [found.topKey, found.topRequests] = [key, requests];
    if (isAddress(key.replace(/\/\d+$/, ''))) continue;
    if (found.strange === 0) found.firstStrange = key;
    found.strange += requests;
  }
  return found;
}

function* addressWarnings(kind: By['kind'], found: Found): Generator<string> {
  const { requests, strange, firstStrange, topKey, topRequests } = found;
  const of = (count: number) => `${formatInteger(count)} of ${formatCount(requests, 'request')}`;
  if (strange > 0) {
    const shown = toPlainText(JSON.stringify(firstStrange));
    yield `${of(strange)} (${formatPercent(strange, requests)}) have a caller that is not an address, such as ${shown}; see --by`;
  }
  const share = `${of(topRequests)} (${formatPercent(topRequests, requests)})`;
  const hint = kind === 'ip' ? '; if the log contains X-Forwarded-For, use --by forwarded' : '; see --trusted-proxies';
  if (isPrivateAddress(topKey) && topRequests * 2 > requests) {
    yield `${topKey} is a private address and sent ${share}. It is probably a proxy${hint}`;
  } else if (found.count === 1 && requests >= MIN_ONLY && strange === 0) {
    yield `${topKey} sent all ${formatCount(requests, 'request')}. It may be a proxy${hint}`;
  }
}
