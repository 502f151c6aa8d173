import { element, setText } from './elements.js';
import type { Model } from './model.js';
import { Run } from './pattern-run.js';
import { pause } from './pause.js';
import { PATTERNS, type Sender } from './request-patterns.js';
import { sendCommand } from './send-command.js';
import type { ServerClock } from './server-clock.js';

const stop = element<HTMLButtonElement>('#stop');
const status = element('#traffic');

/** The buttons that send requests. One pattern runs at a time, and the next one ends it. */
export class Buttons {
  readonly #model: Model;
  readonly #clock: ServerClock;
  #running: Run | undefined;
  /** The requests without a response, even those of earlier runs. */
  readonly #pending = new Set<Promise<void>>();

  constructor(model: Model, clock: ServerClock) {
    this.#model = model;
    this.#clock = clock;
    for (const button of document.querySelectorAll<HTMLButtonElement>('[data-sends]')) {
      button.addEventListener('click', () => void this.#run(button.dataset.sends!));
    }
    stop.addEventListener('click', () => this.#running?.stop());
    element('#reset').addEventListener('click', () => void this.#reset());
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
    await Promise.all(this.#pending);
    if (this.#running !== running) return;
    this.#running = undefined;
    setText(status, running.describe());
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
      showStatus: (text) => setText(status, text),
      stop: (why) => {
        run.why = ` ${why}`;
        run.stop();
      },
    };
  }

  async #hit(run: Run): Promise<void> {
    const hit = run.hit();
    this.#pending.add(hit);
    await hit;
    this.#pending.delete(hit);
  }

  async #reset(): Promise<void> {
    this.#running?.stop();
    await Promise.all(this.#pending); // The reset would not delete a request that arrives later.
    const wrong = await sendCommand('reset', { method: 'POST' });
    setText(status, wrong === undefined ? 'All requests are deleted.' : `The reset failed. ${wrong}`);
  }
}
