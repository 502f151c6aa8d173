import type { ServerResponse } from 'node:http';
import type { Attempt, Next, Update } from '../shared/protocol.js';
import { LONGEST_SHOWN_MS } from '../shared/retention.js';
import type { Playground } from './playground.js';

/** The least time between two updates. */
const LEAST_MS = 50;
/** The time between updates without news. They contain the server's time, and show that it is alive. */
const HEARTBEAT_MS = 1000;
/** The server disconnects a page with more unread bytes. The page may reconnect. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/**
 * Sends updates to all pages as server-sent events. A new page first gets the whole state. Without a page, the stream
 * neither calls the limiter nor keeps attempts.
 */
export class UpdateStream {
  readonly #playground: Playground;
  readonly #pages = new Set<ServerResponse>();
  readonly #heartbeat: NodeJS.Timeout;
  #unsent: Attempt[] = [];
  /** Whether the next update replaces everything that the pages have. */
  #isWhole = false;
  #next: Next | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sentMs = 0;

  constructor(playground: Playground) {
    this.#playground = playground;
    playground.book.subscribe((event) => {
      if (this.#pages.size === 0) return;
      if (event.kind === 'attempt') this.#unsent.push(event.attempt);
      else if (event.kind === 'aborted' || (event.kind === 'state' && event.clears)) this.#isWhole = true;
      this.#sendSoon();
    });
    this.#heartbeat = setInterval(() => this.#sendSoon(), HEARTBEAT_MS);
  }

  /** Sends everything to this page, and all updates from now on. */
  add(page: ServerResponse): void {
    page.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    if (this.#pages.size === 0) this.#next = undefined; // It is outdated, because there was no page.
    this.#send(); // The new page gets everything, so the others must get the rest before.
    page.write(toEvent(this.#toUpdate(true, this.#allShown())));
    this.#pages.add(page);
    page.on('close', () => this.#pages.delete(page));
    this.#sendSoon();
  }

  close(): void {
    clearInterval(this.#heartbeat);
    clearTimeout(this.#timer);
    for (const page of this.#pages) page.destroy();
  }

  #sendSoon(): void {
    if (this.#timer !== undefined || this.#pages.size === 0) return;
    const waitMs = Math.max(1, LEAST_MS - (performance.now() - this.#sentMs));
    this.#timer = setTimeout(() => {
      this.#timer = undefined; // Events during the call of the limiter cause another update.
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
    const event = toEvent(this.#toUpdate(this.#isWhole, this.#isWhole ? this.#allShown() : this.#unsent));
    this.#unsent = [];
    this.#isWhole = false;
    for (const page of this.#pages) {
      if (page.writableLength > MAX_UNREAD_BYTES) page.destroy();
      else page.write(event);
    }
  }

  #allShown(): Attempt[] {
    const sinceMs = this.#playground.now() - LONGEST_SHOWN_MS;
    return this.#playground.book.records.attempts.filter(({ atMs }) => atMs > sinceMs);
  }

  #toUpdate(isWhole: boolean, attempts: readonly Attempt[]): Update {
    const { state, totals } = this.#playground.book;
    return { nowMs: this.#playground.now(), state, ...totals, next: this.#next, isWhole, attempts };
  }
}

function toEvent(update: Update): string {
  return `data: ${JSON.stringify(update)}\n\n`;
}
