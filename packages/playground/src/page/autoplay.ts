import type { Scenario } from '../shared/settings.js';
import type { Host } from './host.js';
import type { Model } from './model.js';

/** The time after which the page asks again. The engine decides when the next scenario can begin. */
const EVERY_MS = 500;
/** Without a running scenario for this long, the next one is planned. So its result stays visible for a while. */
const REST_MS = 4000;

const CALM = matchMedia('(prefers-reduced-motion: reduce)');

/** Starts a scenario again and again until the user takes over. With reduced motion, nothing starts by itself. */
export class Autoplay {
  readonly #host: Host;
  readonly #model: Model;
  readonly #scenario: Scenario;
  #isOver: boolean;
  #restingMs: number | undefined;

  constructor(host: Host, model: Model, scenario: Scenario, isOn: boolean) {
    this.#host = host;
    this.#model = model;
    this.#scenario = scenario;
    this.#isOver = !isOn;
    setInterval(() => this.#play(), EVERY_MS);
  }

  /** Ends it, because the user acts. */
  end(): void {
    this.#isOver = true;
  }

  /** Starts the first scenario at once. */
  begin(): void {
    this.#restingMs = -Infinity;
    this.#play();
  }

  #play(): void {
    const { run, isTaken } = this.#model;
    if (isTaken) this.#isOver = true;
    if (this.#isOver || CALM.matches || document.hidden || this.#restingMs === undefined) return;
    const nowMs = performance.now();
    if (run?.status === 'running') this.#restingMs = nowMs;
    if (nowMs - this.#restingMs < REST_MS) return;
    this.#restingMs = nowMs;
    void this.#host.run(this.#scenario, true);
  }
}
