import type { RunState } from '../shared/protocol.js';
import { isScenario, type Scenario } from '../shared/settings.js';
import { describeOutcomes, describePlan, describeResult } from './describe-run.js';
import { element, setText } from './elements.js';
import { explain } from './explain.js';
import { formatSecondsRoundedUp } from './format.js';
import type { Host, Problem } from './host.js';
import type { Model } from './model.js';

const traffic = element('#traffic');
const begins = element('#begins');
const result = element('#result');
const stop = element<HTMLButtonElement>('#stop');

/** The buttons that send requests, and the text about their results. */
export class TrafficPanel {
  readonly #host: Host;
  readonly #model: Model;
  readonly #onUse: () => void;
  readonly #introduction = result.textContent;
  /** The run and the single request that the texts have been about. */
  #shown: { readonly run: string | undefined; readonly single: string | undefined } = {
    run: undefined,
    single: undefined,
  };
  /** What the last command came to, until an update shows it. Older updates may still arrive after the response. */
  #success: string | undefined;

  /** @param onUse Called when the user presses a button. */
  constructor(host: Host, model: Model, onUse: () => void) {
    this.#host = host;
    this.#model = model;
    this.#onUse = onUse;
    const listen = (button: HTMLElement, act: () => void) =>
      button.addEventListener('click', () => {
        onUse();
        act();
      });
    for (const button of document.querySelectorAll<HTMLButtonElement>('[data-scenario]')) {
      const { scenario } = button.dataset;
      if (!isScenario(scenario)) continue;
      button.addEventListener('click', () => this.start(scenario));
    }
    listen(stop, () => this.#run(host.stop()));
    listen(element('#reset'), () =>
      this.#run(host.reset(), 'The reset failed. ', 'All requests are deleted, and every limit is full again.'),
    );
  }

  /** Starts a scenario for the user. */
  start(scenario: Scenario): void {
    this.#onUse();
    stop.disabled = false;
    this.#run(this.#host.run(scenario, false));
  }

  /** Sends one request. */
  send(): void {
    this.#run(this.#host.send());
  }

  /** Shows what the current scenario does, or what the last one or the last request came to. */
  show(nowMs: number): void {
    const { run, attempts } = this.#model;
    const last = attempts.at(-1);
    const ofRun =
      run && JSON.stringify([run.id, run.status, run.outcomes, run.planned, run.id === last?.run && last.id]);
    const single = last?.run === undefined && run?.status !== 'running' ? last?.id : undefined;
    // The text is about what happened last.
    if (ofRun !== this.#shown.run && run !== undefined) this.#showRun(run);
    else if (single !== this.#shown.single && single !== undefined) this.#showSingle();
    else if (run === undefined && last === undefined) this.#showNothing();
    this.#shown = { run: ofRun, single: single ?? this.#shown.single };
    const firstMs = run?.status === 'running' ? run.planned[0]?.atMs : undefined;
    setText(
      begins,
      firstMs !== undefined && firstMs > nowMs ? `It begins in ${formatSecondsRoundedUp(firstMs - nowMs)}.` : '',
    );
  }

  #showRun(run: RunState): void {
    const isRunning = run.status === 'running';
    if (!isRunning && document.activeElement === stop)
      element(`[data-scenario="${run.scenario}"], [data-scene="${run.scenario}"]`).focus();
    stop.disabled = !isRunning;
    setText(traffic, isRunning ? '' : describeOutcomes(run));
    // Until it has ended, the last result is that of an earlier scenario.
    setText(result, isRunning ? describePlan(run) : describeResult(run, (name) => this.#model.row(name)));
  }

  #showSingle(): void {
    const { settings } = this.#model.state;
    const row = this.#model.row(settings.algorithm);
    const { id, allowed } = this.#model.attempts.at(-1)!;
    const mark = row.marks.findLast(({ attempt }) => attempt.id === id);
    setText(traffic, allowed ? 'The last request was allowed.' : 'The last request was rejected.');
    if (mark !== undefined) setText(result, explain(row, mark));
  }

  #showNothing(): void {
    setText(result, this.#introduction);
    if (this.#success !== undefined) setText(traffic, this.#success);
    this.#success = undefined;
  }

  #run(command: Promise<Problem>, prefix = '', success?: string): void {
    this.#success = undefined;
    void command.then((problem) => {
      this.#success = problem === undefined ? success : undefined;
      const text = problem === undefined ? success : `${prefix}${problem}`;
      if (text !== undefined) setText(traffic, text);
    });
  }
}
