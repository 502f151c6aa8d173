import type { Update } from '../shared/protocol.js';

/** The server speaks every second: if it has not for so long, it is taken for lost. */
const SILENCE_MS = 4000;
const RETRY_MS = 500;

/**
 * The connection over which the server tells what happens. It is made again for as long as it takes; each begins with
 * everything, so that nothing is missed and nothing counts twice. A page that nobody sees lets go of its connection, for a
 * browser has only six to a server, for all its tabs.
 */
export class LiveUpdates {
  readonly #hear: (update: Update) => void;
  readonly #tell: (isConnected: boolean) => void;
  #source: EventSource | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(hear: (update: Update) => void, tell: (isConnected: boolean) => void) {
    this.#hear = hear;
    this.#tell = tell;
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
      this.#tell(true);
      this.#hear(JSON.parse(data) as Update);
    };
    source.onerror = () => this.#lose();
  }

  #lose(): void {
    this.#close();
    this.#tell(false);
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
