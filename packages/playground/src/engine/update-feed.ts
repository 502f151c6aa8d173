import type { Attempt, Next, Update } from '../shared/protocol.js';
import { LONGEST_SHOWN_MS } from '../shared/retention.js';
import type { RowName } from '../shared/settings.js';
import type { Playground } from './playground.js';
import type { Traffic } from './traffic.js';

/** The least time between two updates. */
const MIN_INTERVAL_MS = 50;
/** The time between updates without news. They contain the engine's time, and show that it is alive. */
const HEARTBEAT_MS = 1000;

type SendToPage = (update: Update) => void;

/**
 * Sends updates to all pages. A new page first gets the whole state. Without a page, the feed neither calls the limiters
 * nor keeps attempts.
 */
export class UpdateFeed {
  readonly #playground: Playground;
  readonly #traffic: Traffic;
  readonly #pages = new Set<SendToPage>();
  readonly #heartbeat: ReturnType<typeof setInterval>;
  #unsent: Attempt[] = [];
  /** Whether the next update replaces everything that the pages have. */
  #isWhole = false;
  #next: Readonly<Record<RowName, Next>> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sentMs = 0;

  constructor(playground: Playground, traffic: Traffic) {
    this.#playground = playground;
    this.#traffic = traffic;
    traffic.subscribe(() => this.#sendSoon());
    playground.log.subscribe((event) => {
      if (this.#pages.size === 0) return;
      if (event.kind === 'attempt') this.#unsent.push(event.attempt);
      else if (event.kind === 'aborted' || (event.kind === 'state' && event.clears)) this.#isWhole = true;
      this.#sendSoon();
    });
    this.#heartbeat = setInterval(() => this.#sendSoon(), HEARTBEAT_MS);
  }

  /** Sends everything to this page, and all updates from now on. Returns a function that ends this. */
  add(page: SendToPage): () => void {
    if (this.#pages.size === 0) {
      this.#next = undefined; // It is outdated, because there was no page.
      this.#traffic.allowAutoplay(); // A new visitor has done nothing yet.
    }
    this.#send(); // The new page gets everything, so the others must get the rest before.
    page(this.#toUpdate(true, this.#allShown()));
    this.#pages.add(page);
    this.#sendSoon();
    return () => this.#pages.delete(page);
  }

  close(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    this.#pages.clear();
  }

  #sendSoon(): void {
    if (this.#timer !== undefined || this.#pages.size === 0) return;
    const waitMs = Math.max(1, MIN_INTERVAL_MS - (performance.now() - this.#sentMs));
    this.#timer = setTimeout(() => {
      this.#timer = undefined; // Events during the call of the limiters cause another update.
      this.#playground
        .next()
        .then((next) => {
          this.#next = next;
        })
        .catch(() => {}) // The last known value remains.
        .finally(() => this.#send());
    }, waitMs);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sentMs = performance.now();
    const update = this.#toUpdate(this.#isWhole, this.#isWhole ? this.#allShown() : this.#unsent);
    this.#unsent = [];
    this.#isWhole = false;
    for (const page of this.#pages) page(update);
  }

  #allShown(): Attempt[] {
    const sinceMs = this.#playground.now() - LONGEST_SHOWN_MS;
    return this.#playground.log.records.attempts.filter(({ atMs }) => atMs > sinceMs);
  }

  #toUpdate(isWhole: boolean, attempts: readonly Attempt[]): Update {
    const { state, totals } = this.#playground.log;
    const { run, response, hasUserActed } = this.#traffic;
    return {
      ...{ nowMs: this.#playground.now(), store: this.#playground.storeKind, state, ...totals },
      ...{ next: this.#next, run, response, hasUserActed, isWhole, attempts },
    };
  }
}
