import type { LastResponse, Outcomes, RunState } from '../shared/protocol.js';
import type { Scenario } from '../shared/settings.js';
import type { Playground } from './playground.js';
import { ScenarioRun, type Send } from './scenario-run.js';
import { startsOver } from './scenarios.js';

/** The time until an automatic attack reaches its boundary. A visitor understands it within 5 s. */
const AUTOPLAY_LEAD_MS = 1900;
/** By scenario, the part of the window until the fixed window's counter restarts. It must not disturb the first part. */
const AUTOPLAY_LEADS: Readonly<Partial<Record<Scenario, number>>> = { fill: 0.6, roll: 0.75 };

/** Sends requests: scenarios, of which one runs at a time, and single requests. */
export class Traffic {
  readonly #playground: Playground;
  readonly #send: Send;
  readonly #subscribers = new Set<() => void>();
  #current: ScenarioRun | undefined;
  #running: Promise<void> | undefined;
  #runs = 0;
  #hasUserActed = false;
  #response: LastResponse | undefined;
  /** Cancels the single requests. */
  #singlesStopper = new AbortController();
  readonly #pending = new Set<Promise<unknown>>();

  constructor(playground: Playground, send: Send) {
    this.#playground = playground;
    this.#send = send;
  }

  /** The current or last run. */
  get run(): RunState | undefined {
    return this.#current?.state;
  }

  /** The response to the last request that was sent here since the current run began. */
  get response(): LastResponse | undefined {
    return this.#response;
  }

  /** Whether a user has acted, so that no scenario starts by itself. */
  get hasUserActed(): boolean {
    return this.#hasUserActed;
  }

  /** Calls `subscriber` after each change. */
  subscribe(subscriber: () => void): void {
    this.#subscribers.add(subscriber);
  }

  /** Ends automatic scenarios, because a user acts. */
  endAutoplay(): void {
    if (this.#hasUserActed) return;
    this.#hasUserActed = true;
    if (this.#current?.state.isAuto === true) this.#current.stop();
    this.#publish();
  }

  /** Lets scenarios start by themselves again. */
  allowAutoplay(): void {
    this.#hasUserActed = false;
  }

  /** Starts a scenario, which ends the current one. An automatic one never displaces another, nor a user's requests. */
  async start(scenario: Scenario, isAuto: boolean): Promise<void> {
    if (isAuto && (this.#hasUserActed || this.#running !== undefined)) return;
    if (!isAuto) this.endAutoplay();
    this.#current?.stop();
    const playground = this.#playground;
    const { windowMs } = playground.settings;
    if (isAuto) {
      await playground.clearOwn();
      if (this.#hasUserActed || this.#running !== undefined) return;
      const lead = AUTOPLAY_LEADS[scenario];
      playground.skipToBoundary(lead === undefined ? AUTOPLAY_LEAD_MS : lead * windowMs);
    }
    let earliestMs = playground.now();
    if (startsOver(scenario)) {
      // An attack is clear only while no earlier request counts. An automatic one waits for that.
      const freeMs = playground.log.lastMs + windowMs;
      if (isAuto) earliestMs = Math.max(earliestMs, freeMs);
      else if (freeMs > earliestMs) await playground.startOver(false);
    }
    this.#begin(scenario, isAuto, earliestMs);
  }

  #begin(scenario: Scenario, isAuto: boolean, earliestMs: number): void {
    this.#runs += 1;
    const run = new ScenarioRun(`${scenario}-${this.#playground.name}-${this.#runs}`, scenario, isAuto, {
      settings: () => this.#playground.settings,
      now: () => this.#playground.now(),
      send: (id, signal) => this.#sendRequest(id, signal),
      onChange: () => this.#publish(),
    });
    this.#current = run;
    this.#response = undefined;
    const running = run.start(earliestMs).finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    this.#publish();
  }

  /** Sends single requests, without waiting for their responses. */
  sendSingles(count: number): void {
    this.endAutoplay();
    for (let index = 0; index < count; index++) void this.#sendRequest(undefined, this.#singlesStopper.signal);
  }

  stop(): void {
    this.endAutoplay();
    this.#current?.stop();
    this.#singlesStopper.abort();
    this.#singlesStopper = new AbortController();
  }

  /**
   * Cancels all requests in flight, and then deletes all requests.
   *
   * @throws ResetError if Redis does not confirm it.
   */
  async clear(): Promise<void> {
    this.stop();
    await this.#running;
    await Promise.all(this.#pending); // The reset would not delete a request that arrives later.
    this.#current = undefined;
    this.#response = undefined;
    await this.#playground.startOver(true);
  }

  async #sendRequest(run: string | undefined, signal: AbortSignal): Promise<keyof Outcomes> {
    const current = this.#current;
    const sent = this.#send(run, signal);
    this.#pending.add(sent);
    const response = await sent.finally(() => this.#pending.delete(sent));
    if (typeof response === 'string') return response;
    if (current === this.#current) {
      this.#response = response;
      this.#publish();
    }
    return response.outcome;
  }

  #publish(): void {
    for (const subscriber of this.#subscribers) subscriber();
  }
}
