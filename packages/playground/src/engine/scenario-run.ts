import type { LastResponse, Outcomes, Planned, RunState } from '../shared/protocol.js';
import type { Scenario, Settings } from '../shared/settings.js';
import { pause } from './pause.js';
import { STEPS } from './scenarios.js';

/** Sends one request, and returns its response. Without a response, it returns how the request ended. */
export type Send = (run: string | undefined, signal: AbortSignal) => Promise<LastResponse | 'canceled' | 'lost'>;

/** What a run needs of its engine. */
export interface RunContext {
  readonly settings: () => Settings;
  readonly now: () => number;
  readonly send: (run: string, signal: AbortSignal) => Promise<keyof Outcomes>;
  /** Called after each change of {@link ScenarioRun.state}. */
  readonly onChange: () => void;
}

const NONE: Outcomes = { allowed: 0, rejected: 0, failed: 0, canceled: 0, lost: 0 };

/** One run of a scenario, and the outcomes of its requests. */
export class ScenarioRun {
  readonly #context: RunContext;
  readonly #stopper = new AbortController();
  readonly #pending = new Set<Promise<void>>();
  #state: RunState;

  constructor(id: string, scenario: Scenario, isAuto: boolean, context: RunContext) {
    this.#context = context;
    const settings = context.settings();
    const status = 'running';
    this.#state = { id, scenario, isAuto, settings, planned: [], status, isOutdated: false, outcomes: NONE };
  }

  get state(): RunState {
    return this.#state;
  }

  /** Resolves when the run has ended and all of its requests have. */
  async start(earliestMs: number): Promise<void> {
    const { signal } = this.#stopper;
    const { settings, scenario } = this.#state;
    const { now } = this.#context;
    try {
      const scenarioContext = {
        ...{ settings, now, send: () => this.#sendTracked() },
        haveChanged: () => JSON.stringify(this.#context.settings()) !== JSON.stringify(settings),
        pause: (ms: number) => pause(ms, signal),
        plan: (planned: readonly Planned[]) => this.#update({ planned }),
        stop: () => {
          this.#update({ isOutdated: true });
          this.stop();
        },
      };
      await STEPS[scenario](scenarioContext, earliestMs);
    } catch (error) {
      if (error !== signal.reason) throw error;
    }
    await Promise.all(this.#pending);
    this.#update({ status: signal.aborted ? 'stopped' : 'done', planned: [] });
  }

  /** Stops the run and cancels its requests. */
  stop(): void {
    this.#stopper.abort();
  }

  #sendTracked(): Promise<void> {
    const sent = this.#send();
    this.#pending.add(sent);
    return sent.finally(() => this.#pending.delete(sent));
  }

  async #send(): Promise<void> {
    if (this.#stopper.signal.aborted) return;
    const outcome = await this.#context.send(this.#state.id, this.#stopper.signal);
    const { outcomes } = this.#state;
    this.#update({ outcomes: { ...outcomes, [outcome]: outcomes[outcome] + 1 } });
  }

  #update(change: Partial<RunState>): void {
    this.#state = { ...this.#state, ...change };
    this.#context.onChange();
  }
}
