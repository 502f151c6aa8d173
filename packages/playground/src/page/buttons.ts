import { element, say } from './elements.js';
import type { Model } from './model.js';
import { Run } from './pattern-run.js';
import { PATTERNS, type Sender } from './request-patterns.js';
import { sendCommand } from './send-command.js';
import type { ServerClock } from './server-clock.js';
import { pause } from './wait.js';

const stop = element<HTMLButtonElement>('#stop');
const status = element('#traffic');

/** The buttons that send requests, one pattern at a time; another one ends it. */
export class Buttons {
  readonly #model: Model;
  readonly #clock: ServerClock;
  #running: Run | undefined;
  /** Of all runs, those included that another one has ended. */
  readonly #unanswered = new Set<Promise<void>>();

  constructor(model: Model, clock: ServerClock) {
    this.#model = model;
    this.#clock = clock;
    for (const button of document.querySelectorAll<HTMLButtonElement>('[data-sends]')) {
      button.addEventListener('click', () => void this.#run(button.dataset.sends!));
    }
    stop.addEventListener('click', () => this.#running?.stop());
    element('#forget').addEventListener('click', () => void this.#forget());
  }

  async #run(name: string): Promise<void> {
    this.#running?.stop();
    const running = new Run();
    this.#running = running;
    stop.disabled = false;
    try {
      await PATTERNS[name]!(this.#sender(running));
    } catch (error) {
      if (error !== running.signal.reason) throw error;
    }
    await Promise.all(this.#unanswered);
    if (this.#running !== running) return;
    this.#running = undefined;
    say(status, running.inWords());
    if (document.activeElement === stop) element(`[data-sends="${name}"]`).focus();
    stop.disabled = true;
  }

  #sender(run: Run): Sender {
    const { settings } = this.#model.state;
    return {
      settings,
      haveChanged: () => JSON.stringify(this.#model.state.settings) !== JSON.stringify(settings),
      now: () => this.#clock.now(),
      hit: () => this.#hit(run),
      pause: (ms) => pause(ms, run.signal),
      tell: (text) => say(status, text),
      stop: (why) => {
        run.why = ` ${why}`;
        run.stop();
      },
    };
  }

  async #hit(run: Run): Promise<void> {
    const hit = run.hit();
    this.#unanswered.add(hit);
    await hit;
    this.#unanswered.delete(hit);
  }

  async #forget(): Promise<void> {
    this.#running?.stop();
    await Promise.all(this.#unanswered); // One that came after it would not be forgotten.
    const wrong = await sendCommand('reset', { method: 'POST' });
    say(status, wrong === undefined ? 'All requests are deleted.' : `The reset failed. ${wrong}`);
  }
}
