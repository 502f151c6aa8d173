import type { ServerResponse } from 'node:http';
import type { UpdateFeed } from '../engine/update-feed.js';
import type { Update } from '../shared/protocol.js';

/** The server disconnects a page with more unread bytes. The page may reconnect. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Sends updates to pages as server-sent events. */
export class EventStream {
  readonly #feed: UpdateFeed;
  readonly #pages = new Set<ServerResponse>();
  /** The last update as an event, because all pages get the same one. */
  #last: { update?: Update; event: string } = { event: '' };

  constructor(feed: UpdateFeed) {
    this.#feed = feed;
  }

  /** Sends everything to this page, and all updates from now on. */
  add(page: ServerResponse): void {
    page.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    const leave = this.#feed.add((update) => {
      if (page.writableLength > MAX_UNREAD_BYTES) page.destroy();
      else page.write(this.#toEvent(update));
    });
    this.#pages.add(page);
    page.on('close', () => {
      leave();
      this.#pages.delete(page);
    });
  }

  close(): void {
    this.#feed.close();
    for (const page of this.#pages) page.destroy();
  }

  #toEvent(update: Update): string {
    if (this.#last.update !== update) this.#last = { update, event: `data: ${JSON.stringify(update)}\n\n` };
    return this.#last.event;
  }
}
