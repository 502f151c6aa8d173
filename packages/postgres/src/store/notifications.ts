import type { Listen } from '../clients/connector.js';
import { quoteText } from '../sql/quote.js';

/** PostgreSQL rejects a notification of 8,000 bytes or more. */
const MOST_BYTES = 7999;

/** Notifies other processes of the keys that have free quota again, by `NOTIFY`. */
export class Notifications {
  readonly #channel: string;
  readonly #listen: Listen;

  constructor(table: string, listen: Listen) {
    this.#channel = `rollgate_${table.replace('.', '_')}`.slice(0, 63);
    this.#listen = listen;
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
    this.#listen(this.#channel, onMessage).catch(() => {});
  }

  /** The statements of a transaction that notify of these keys. Each fits into one notification. */
  textsFor(keys: readonly string[]): string[] {
    const payloads = keys.map((key) => JSON.stringify([key]));
    return payloads
      .filter((payload) => Buffer.byteLength(payload) <= MOST_BYTES)
      .map((payload) => `NOTIFY "${this.#channel}", ${quoteText(payload)}`);
  }
}
