import type { Update } from '../shared/protocol.js';

/** The server sends an update every second. After this time without one, the connection counts as lost. */
const SILENCE_MS = 4000;
const RETRY_MS = 500;

/**
 * The connection for updates from the server. It reconnects until it succeeds. Each connection begins with the whole
 * state, so that nothing is missed or counted twice. A hidden page closes its connection, because a browser opens only
 * six to a server for all of its tabs.
 */
export class LiveUpdates {
  readonly #onUpdate: (update: Update) => void;
  readonly #onConnection: (isConnected: boolean) => void;
  #source: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onUpdate: (update: Update) => void, onConnection: (isConnected: boolean) => void) {
    this.#onUpdate = onUpdate;
    this.#onConnection = onConnection;
    document.addEventListener('visibilitychange', () => this.#follow());
    this.#follow();
  }

  #follow(): void {
    if (document.hidden) this.#close();
    else if (this.#source === undefined) this.#open();
  }

  #open(): void {
    this.#close();
    const source = new EventSource('events');
    this.#source = source;
    this.#lostAfter(SILENCE_MS);
    source.onmessage = ({ data }: MessageEvent<string>) => {
      this.#lostAfter(SILENCE_MS);
      this.#onConnection(true);
      this.#onUpdate(JSON.parse(data) as Update);
    };
    source.onerror = () => this.#lose();
  }

  #lose(): void {
    this.#close();
    this.#onConnection(false);
    this.#timer = setTimeout(() => this.#follow(), RETRY_MS);
  }

  #lostAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#lose(), ms);
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }
}
