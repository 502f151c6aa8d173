import { isIPv6 } from 'node:net';
import type { Limits, Store } from '@rollgate/core';
import { validate } from '@rollgate/core/store';
import type { Framework } from './framework.js';
import { byName } from './policies.js';
import { type WarningCode, warnOnce } from './warnings.js';

/** A mistake shows in the first requests; the others are not to pay for looking. */
const LOOKED_AT = 100;

/** So many limiters, each asked once, all made after requests had begun to come, are no set of routes. */
const TOO_MANY = 100;

/** Where limits keep their keys, by what keeps them. */
const spacesOf = new WeakMap<object, Set<string>>();

/** How many limiters were made since the first request, and not asked again since their first. */
let madeWhileServing = 0;
let isServing = false;

/** Looks out for the usual mistakes with one limiter, and warns of each once. */
export class Mistakes {
  readonly #isSilent: (code: WarningCode) => boolean;
  #toLookAt = LOOKED_AT;
  readonly #seen = new WeakSet<object>();
  #isNew: boolean;

  constructor(silent: readonly WarningCode[]) {
    this.#isSilent = (code) => silent.includes(code);
    this.#isNew = isServing && !silent.includes('ROLLGATE_LIMITER_PER_REQUEST');
  }

  /** Two adapters' limiters with the same keys in one store: hits of either count for both. */
  sharesKeys(store: Store | undefined, prefix: string, limits: Limits): void {
    if (store === undefined) return;
    const { backend = store } = store;
    const known = spacesOf.get(backend) ?? new Set();
    spacesOf.set(backend, known);
    const spaces = Object.entries(byName(limits)).map(([name, { algorithm }]) => `${prefix}:${name}:${algorithm}`);
    if (spaces.some((space) => known.has(space))) {
      this.#warn(
        'ROLLGATE_SHARED_KEYS',
        `Two limiters on one store have the prefix '${prefix}', so their limits of the same name and kind share their keys. Give each a \`prefix\` of its own`,
      );
    }
    for (const space of spaces) known.add(space);
  }

  /** Looks at a request, which counts for the client's address if `isByAddress`. */
  lookAt<Request>(framework: Framework<Request, never>, request: Request, isByAddress: boolean): void {
    if (this.#toLookAt === 0) return;
    if (this.#toLookAt === LOOKED_AT) this.#lookAtFirst();
    else if (this.#isNew) this.#askedAgain();
    this.#toLookAt -= 1;
    this.#lookForTwice(request as object);
    if (!isByAddress || framework.headersOf(request)['x-forwarded-for'] === undefined) return;
    const trusted = framework.proxyTrust(request);
    if (trusted === 'none') {
      this.#warn(
        'ROLLGATE_UNTRUSTED_PROXY',
        'A request has the field X-Forwarded-For, but the app trusts no proxy: all clients behind one count as one. Tell the framework which proxy it may trust, or give the option `key`',
      );
    } else if (trusted === 'every') {
      this.#warn(
        'ROLLGATE_TRUSTS_EVERY_PROXY',
        'The app trusts every proxy, so a client can choose with X-Forwarded-For whom it counts for. Tell the framework which proxy it may trust',
      );
    }
  }

  /** Looks at a key that the user's function returned. */
  lookAtKey(key: unknown): void {
    if (this.#toLookAt === 0) return;
    const keys = typeof key === 'object' && key !== null ? Object.values(key) : [key];
    if (!keys.some(isWholeIPv6)) return;
    this.#warn(
      'ROLLGATE_IPV6_KEY',
      '`key` returned a whole IPv6 address. A client commonly holds billions of them, and could use another one for each request. Pass addresses through `createClientKey(56)`',
    );
  }

  #lookForTwice(request: object): void {
    if (this.#seen.has(request)) {
      this.#warn(
        'ROLLGATE_COUNTED_TWICE',
        'One limiter has decided twice about one request, which so counts twice: is it added twice? Add it once, or make two',
      );
    }
    this.#seen.add(request);
  }

  #lookAtFirst(): void {
    isServing = true;
    if (!this.#isNew) return;
    madeWhileServing += 1;
    if (madeWhileServing < TOO_MANY) return;
    this.#warn(
      'ROLLGATE_LIMITER_PER_REQUEST',
      `${TOO_MANY} limiters were made while requests came, and each decided one: is one made for each request? Then nothing is ever limited. Make it once, when the app starts`,
    );
  }

  #askedAgain(): void {
    this.#isNew = false;
    madeWhileServing -= 1;
  }

  /** Tells of a failure that no request can be told of any more. */
  failed(code: WarningCode, thrown: unknown): void {
    const said = thrown instanceof Error ? thrown : validate.formatValue(thrown);
    this.#warn(code, `A function of the limiter's options failed, and no request was told of it: ${said}`);
  }

  #warn(code: WarningCode, message: string): void {
    if (!this.#isSilent(code)) warnOnce(code, message);
  }
}

/** Link-local addresses have no prefix to cut them to. */
function isWholeIPv6(key: unknown): boolean {
  return typeof key === 'string' && isIPv6(key) && !/^(?:::ffff:|fe80:)/i.test(key);
}
