import type { Scenario } from '../shared/settings.js';
import type { Host } from './host.js';
import type { Model } from './model.js';

/** The interval at which the page tries to start a scenario. The engine decides when the next scenario can begin. */
const TRY_INTERVAL_MS = 500;
/** Without a running scenario for this long, the next one is planned. So its result stays visible for a while. */
const IDLE_MS = 4000;

const REDUCED_MOTION = matchMedia('(prefers-reduced-motion: reduce)');

/** Starts a scenario again and again until the user takes over. With reduced motion, nothing starts by itself. */
export class Autoplay {
  readonly #host: Host;
  readonly #model: Model;
  readonly #scenario: Scenario;
  #isOver: boolean;
  #lastActiveMs: number | undefined;

  constructor(host: Host, model: Model, scenario: Scenario, isOn: boolean) {
    this.#host = host;
    this.#model = model;
    this.#scenario = scenario;
    this.#isOver = !isOn;
    setInterval(() => this.#tryToStart(), TRY_INTERVAL_MS);
  }

  /** Ends it, because the user acts. */
  end(): void {
    this.#isOver = true;
  }

  /** Starts the first scenario at once. */
  begin(): void {
    this.#lastActiveMs = -Infinity;
    this.#tryToStart();
  }

  #tryToStart(): void {
    const { run, hasUserActed } = this.#model;
    if (hasUserActed) this.#isOver = true;
    if (this.#isOver || REDUCED_MOTION.matches || document.hidden || this.#lastActiveMs === undefined) return;
    const nowMs = performance.now();
    if (run?.status === 'running') this.#lastActiveMs = nowMs;
    if (nowMs - this.#lastActiveMs < IDLE_MS) return;
    this.#lastActiveMs = nowMs;
    void this.#host.run(this.#scenario, true);
  }
}
