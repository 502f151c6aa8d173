import type { ServerResponse } from 'node:http';
import type { Attempt, Next, Update } from '../shared/protocol.js';
import { LONGEST_SHOWN_MS } from '../shared/retention.js';
import type { Playground } from './playground.js';

/** At most so often are the pages told what is new. */
const LEAST_MS = 50;
/** So often they are told when nothing is: by this they know the server's clock, and that it is alive. */
const HEARTBEAT_MS = 1000;
/** A page that takes in nothing any more is cut off, and may come again. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/**
 * Tells all pages what happens, as server-sent events: each page all of it first, and then what is new. While there is none,
 * nothing is asked of the limiter or kept for anybody.
 */
export class Events {
  readonly #playground: Playground;
  readonly #pages = new Set<ServerResponse>();
  readonly #heartbeat: NodeJS.Timeout;
  #unsent: Attempt[] = [];
  /** Whether the pages are to forget what they know. */
  #isWhole = false;
  #next: Next | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sentMs = 0;

  constructor(playground: Playground) {
    this.#playground = playground;
    playground.book.listen((news) => {
      if (this.#pages.size === 0) return;
      if (news.kind === 'attempt') this.#unsent.push(news.attempt);
      else if (news.kind === 'left' || (news.kind === 'state' && news.forgets)) this.#isWhole = true;
      this.#sendSoon();
    });
    this.#heartbeat = setInterval(() => this.#sendSoon(), HEARTBEAT_MS);
  }

  /** Tells this page everything, and from now on what is new. */
  add(page: ServerResponse): void {
    page.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    if (this.#pages.size === 0) this.#next = undefined; // It is from when there was a page last.
    this.#send(); // What the others do not know yet is part of what this one is told now.
    page.write(toEvent(this.#update(true, this.#allShown())));
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
      this.#timer = undefined; // What happens while the limiter is asked is sent after it, with an answer of its own.
      this.#playground
        .next()
        .then((next) => {
          this.#next = next;
        })
        .catch(() => {}) // What was known last has to do.
        .finally(() => this.#send());
    }, waitMs);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sentMs = performance.now();
    const event = toEvent(this.#update(this.#isWhole, this.#isWhole ? this.#allShown() : this.#unsent));
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

  #update(isWhole: boolean, attempts: readonly Attempt[]): Update {
    const { state, totals } = this.#playground.book;
    return { nowMs: this.#playground.now(), state, ...totals, next: this.#next, isWhole, attempts };
  }
}

function toEvent(update: Update): string {
  return `data: ${JSON.stringify(update)}\n\n`;
}
