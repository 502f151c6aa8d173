import { Race, type Settings, type Shot } from '../race.js';
import { createSend, hasServer, type Send } from './host.js';

/** A response with how long it took, in milliseconds. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** When it arrived, by `performance.now()`. */
  readonly arrivedMs: number;
  /** Whether the server's memory decided, because Redis did not respond. */
  readonly isDegraded: boolean;
}

/** The requests since the page started over, and what became of them. */
export class Session {
  readonly race: Race;
  /** Grows with each change. */
  version = 0;
  /** The response to the latest request that has one. */
  reply: Reply | undefined;
  /** Why the last request has no response. */
  problem: string | undefined;
  readonly #isLocal: boolean;
  readonly #send: Send;
  readonly #onChange: () => void;
  #startMs: number | undefined;
  #planned: readonly number[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #repliedTo = -1;

  /** @param isLocal Whether the page decides, for requests of the past. */
  constructor(settings: Settings, onChange: () => void, isLocal = !hasServer) {
    this.race = new Race(settings);
    this.#isLocal = isLocal;
    this.#send = createSend(settings, isLocal);
    this.#onChange = onChange;
  }

  /** Milliseconds since the first request, or 0 before it. */
  get nowMs(): number {
    return this.#startMs === undefined ? 0 : performance.now() - this.#startMs;
  }

  /** The times that will be sent by themselves. */
  get planned(): readonly number[] {
    return this.#planned;
  }

  /** Sends a request now. */
  shoot(): void {
    this.#startMs ??= performance.now();
    this.#shootAt(Math.round(this.nowMs));
  }

  /**
   * Sends requests at these times. Each has exactly the time that was planned.
   *
   * @param elapsedMs How long ago the first time was.
   */
  play(times: readonly number[], elapsedMs = 0): void {
    this.#planned = times;
    this.#startMs ??= performance.now() - elapsedMs;
    this.#playDue();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#planned = [];
  }

  #playDue(): void {
    const due = this.#planned.filter((atMs) => atMs <= this.nowMs);
    this.#planned = this.#planned.slice(due.length);
    for (const atMs of due) this.#shootAt(atMs);
    const [next] = this.#planned;
    if (next !== undefined) this.#timer = setTimeout(() => this.#playDue(), next - this.nowMs);
  }

  #shootAt(atMs: number): void {
    const shot = this.race.add(atMs);
    void this.#receive(shot, this.race.shots.length);
    this.#changed();
  }

  async #receive(shot: Shot, number: number): Promise<void> {
    try {
      const sentMs = performance.now();
      const response = await this.#send(shot.atMs);
      if (response.status !== 200 && response.status !== 429) throw new Error(await response.text());
      const isDegraded = response.ok && 'store' in ((await response.json()) as object);
      if (!this.#isLocal) this.#setOutcome(shot, response.ok, performance.now() - sentMs);
      if (number < this.#repliedTo) return this.#changed();
      this.#repliedTo = number;
      const { status, headers } = response;
      this.reply = { status, headers, arrivedMs: performance.now(), isDegraded };
      this.problem = undefined;
    } catch (error) {
      this.problem = `The request got no decision: ${error instanceof Error ? error.message : error}`;
    }
    this.#changed();
  }

  /** The server decides about its limit, at some time until its response. The page only compares. */
  #setOutcome({ delays }: Shot, isAllowed: boolean, tookMs: number): void {
    const { race } = this;
    const { algorithm } = race.settings;
    const delayMs = delays[algorithm] ?? 0;
    race.toleranceMs = Math.max(race.toleranceMs, tookMs - delayMs);
    delays[algorithm] = isAllowed ? delayMs : null;
  }

  #changed(): void {
    this.version += 1;
    this.#onChange();
  }
}
