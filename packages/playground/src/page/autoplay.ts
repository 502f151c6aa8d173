import type { Scenario } from '../shared/settings.js';
import type { Host } from './host.js';
import type { Model } from './model.js';

/** The interval at which the page tries to start a scenario. The engine decides when the next scenario can begin. */
const TRY_INTERVAL_MS = 250;
/** How long a result stays before the next scenario starts. No request follows for at most four seconds in all. */
const RESULT_MS = 3400;
/** The same before an attack on the boundary, which begins later by the rest. */
const RESULT_BEFORE_BOUNDARY_MS = 1900;

const REDUCED_MOTION = matchMedia('(prefers-reduced-motion: reduce)');

/** Starts scenarios, one after the other and again, until the user takes over. With reduced motion, nothing starts by itself. */
export class Autoplay {
  readonly #host: Host;
  readonly #model: Model;
  readonly #scenarios: readonly Scenario[];
  #next = 0;
  #isOver: boolean;
  #lastActiveMs: number | undefined;

  constructor(host: Host, model: Model, scenarios: readonly Scenario[], isOn: boolean) {
    this.#host = host;
    this.#model = model;
    this.#scenarios = scenarios;
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
    const scenario = this.#scenarios[this.#next]!;
    const idleMs = scenario === 'boundary' ? RESULT_BEFORE_BOUNDARY_MS : RESULT_MS;
    if (nowMs - this.#lastActiveMs < idleMs) return;
    this.#lastActiveMs = nowMs;
    this.#next = (this.#next + 1) % this.#scenarios.length;
    void this.#host.run(scenario, true);
  }
}
