import type { Store } from '@rollgate/core';
import { formatValue, getOrInsert, type ParsedLimits, warnOnce } from '@rollgate/core/store';
import { parseAddress } from '../client/ip-address.js';
import { originalRequest, type RequestReader } from '../host/host.js';
import { limitsByName } from '../limits/limits-by-name.js';
import { describeWarning, type UsageWarningCode, type WarningCode } from './warnings.js';

/** A mistake shows in a limiter's first requests, so later requests do not pay for the checks. */
const INSPECTED_REQUESTS = 100;

/** An app does not create this many limiters for its routes while it serves requests, each with one request. */
const TOO_MANY_SINGLE_USE_LIMITERS = 100;

/** The namespaces of the limits on each store, by the backend that keeps the keys. */
const namespacesOf = new WeakMap<object, Set<string>>();

/** The page that explains each code. */
const PAGE = 'https://rollgate-js.github.io/rollgate/errors';

/** The limiters that were created since the first request and have decided one request so far. */
let singleUseLimiters = 0;
let isServing = false;

/** Detects common mistakes in the use of one limiter, and warns about each once. */
export class UsageChecks {
  /** Whether to inspect requests and keys. */
  isInspecting = true;
  #inspectionsLeft = INSPECTED_REQUESTS;
  readonly #seenRequests = new WeakSet<object>();
  #mayBeSingleUse: boolean;

  constructor(private readonly silence: readonly WarningCode[]) {
    this.#mayBeSingleUse = isServing && !silence.includes('ROLLGATE_LIMITER_PER_REQUEST');
  }

  /** Warns if another limiter has the same keys in the store, because each would count the other's requests. */
  inspectKeySharing(store: Store | undefined, prefix: string, limits: ParsedLimits): void {
    if (store === undefined) return;
    const { backend = store } = store;
    const known = getOrInsert(namespacesOf, backend, () => new Set());
    const namespaces = Object.entries(limitsByName(limits)).map(
      ([name, { algorithm }]) => `${prefix}:${name}:${algorithm}`,
    );
    if (namespaces.some((namespace) => known.has(namespace))) this.#warn('ROLLGATE_SHARED_KEYS', prefix);
    for (const namespace of namespaces) known.add(namespace);
  }

  /** Inspects a request. `isByAddress` is whether the limiter uses the client's address. */
  inspectRequest<Request>(reader: RequestReader<Request>, request: Request, isByAddress: boolean): void {
    if (this.#inspectionsLeft === INSPECTED_REQUESTS) this.#startServing();
    else if (this.#mayBeSingleUse) this.#markAsReused();
    this.#inspectionsLeft -= 1;
    this.isInspecting = this.#inspectionsLeft > 0;
    if (!reader.countsRepeatedly) this.#inspectRepetition(originalRequest(reader, request));
    if (isByAddress) this.inspectAddress(reader, request);
  }

  /** Inspects where the address of a request comes from. */
  inspectAddress<Request>(reader: RequestReader<Request>, request: Request): void {
    const mistake = reader.findProxyMistake?.(request);
    if (mistake !== undefined) this.#emit(mistake.code, mistake.text);
  }

  /** Inspects a key that the option `key` returned. */
  inspectKey(key: unknown): void {
    const keys = typeof key === 'object' && key !== null ? Object.values(key) : [key];
    if (keys.some(isFullIPv6Address)) this.#warn('ROLLGATE_IPV6_KEY');
  }

  #inspectRepetition(request: object): void {
    if (this.#seenRequests.has(request)) this.#warn('ROLLGATE_COUNTED_TWICE');
    this.#seenRequests.add(request);
  }

  #startServing(): void {
    isServing = true;
    if (!this.#mayBeSingleUse) return;
    singleUseLimiters += 1;
    if (singleUseLimiters >= TOO_MANY_SINGLE_USE_LIMITERS) {
      this.#warn('ROLLGATE_LIMITER_PER_REQUEST', String(TOO_MANY_SINGLE_USE_LIMITERS));
    }
  }

  #markAsReused(): void {
    this.#mayBeSingleUse = false;
    singleUseLimiters -= 1;
  }

  /** Warns about the failure of an option function that no request can report any more. */
  reportFailure(code: UsageWarningCode, thrown: unknown): void {
    this.#warn(code, String(thrown instanceof Error ? thrown : formatValue(thrown)));
  }

  /** Warns about a mistake of any host. `detail` is what differs from case to case. */
  #warn(code: UsageWarningCode, detail?: string): void {
    this.#emit(code, describeWarning(code, detail));
  }

  /** Emits a process warning, once for each code. */
  #emit(code: WarningCode, text: string): void {
    if (this.silence.includes(code)) return;
    warnOnce(code, text, `Silence it with \`silence: ['${code}']\`. ${PAGE}#${code.toLowerCase()}`);
  }
}

/** Excludes link-local addresses, because they have no prefix that would identify one client. */
function isFullIPv6Address(key: unknown): boolean {
  return (
    typeof key === 'string' && key.includes(':') && parseAddress(key) !== undefined && !/^(?:::ffff:|fe80:)/i.test(key)
  );
}
