import type { Connector, Listen } from '../clients/connector.js';
import { quoteText } from '../sql/quote.js';
import { withConnection } from './with-connection.js';

/** PostgreSQL rejects a notification of 8,000 bytes or more. */
const MOST_BYTES = 7999;

/** The most keys that wait to be sent, while the server is slow. */
const MOST_KEYS = 10_000;

/**
 * Notifies other processes of the keys that have free quota again, by `NOTIFY`. It has its own transactions, after those of the
 * checks, because a commit with a notification waits for all others with one on the server. Without other changes, such a commit
 * does not wait for the disk.
 */
export class Notifications {
  readonly #channel: string;
  #freedKeys = new Set<string>();
  #isPublishing = false;

  constructor(
    table: string,
    private readonly listen: Listen,
    private readonly connector: Connector,
  ) {
    this.#channel = `rollgate_${table.replace('.', '_')}`.slice(0, 63);
  }

  /** Calls `wake` with the keys that any process has freed. A failure to listen only makes callers wait longer. */
  subscribe(wake: (keys: readonly string[]) => void): void {
    const onMessage = (payload: string) => {
      try {
        wake(JSON.parse(payload));
      } catch {
        // Something else uses the channel.
      }
    };
    this.listen(this.#channel, onMessage).catch(() => {});
  }

  /**
   * Notifies of these keys in the background, and of those that come until they are sent. A failure, or more keys than it holds,
   * only makes callers wait longer.
   */
  publish(keys: readonly string[]): void {
    for (const key of keys) if (this.#freedKeys.size < MOST_KEYS) this.#freedKeys.add(key);
    if (this.#isPublishing || this.#freedKeys.size === 0) return;
    this.#isPublishing = true;
    this.#publishAll()
      .catch(() => this.#freedKeys.clear())
      .finally(() => {
        this.#isPublishing = false;
        this.publish([]); // Keys may have come since the last transaction.
      });
  }

  async #publishAll(): Promise<void> {
    await withConnection(this.connector, async (connection) => {
      while (this.#freedKeys.size > 0) {
        const texts = this.#textsFor([...this.#freedKeys]);
        this.#freedKeys.clear();
        if (texts.length > 0) await connection.run(texts.join(';'));
      }
    });
  }

  /** Each key fits into one notification, or callers do not hear of it. */
  #textsFor(keys: readonly string[]): string[] {
    const payloads = keys.map((key) => JSON.stringify([key]));
    return payloads
      .filter((payload) => Buffer.byteLength(payload) <= MOST_BYTES)
      .map((payload) => `NOTIFY "${this.#channel}", ${quoteText(payload)}`);
  }
}
