import { element, say } from './elements.js';
import { showAnswer } from './last-answer.js';
import type { Model } from './model.js';
import { pause } from './pause.js';
import type { ServerClock } from './server-clock.js';
import { PATTERNS, type Sender } from './traffic.js';

const stop = element<HTMLButtonElement>('#stop');
const status = element('#traffic');

/** What happened to the requests of one press of a button. */
interface Outcome {
  letThrough: number;
  refused: number;
  lost: number;
}

/** The buttons that send requests, one pattern at a time; another one ends it. */
export class Buttons {
  readonly #model: Model;
  readonly #clock: ServerClock;
  #running: AbortController | undefined;

  constructor(model: Model, clock: ServerClock) {
    this.#model = model;
    this.#clock = clock;
    for (const button of document.querySelectorAll<HTMLButtonElement>('[data-sends]')) {
      button.addEventListener('click', () => void this.#run(button.dataset.sends!));
    }
    stop.addEventListener('click', () => this.#running?.abort());
    element('#forget').addEventListener('click', () => void this.#forget());
  }

  async #run(name: string): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    stop.disabled = false;
    const outcome = { letThrough: 0, refused: 0, lost: 0 };
    try {
      await PATTERNS[name]!(this.#sender(running.signal, outcome));
    } catch (error) {
      if (error !== running.signal.reason) throw error;
    }
    if (this.#running !== running) return;
    this.#running = undefined;
    say(status, `${running.signal.aborted ? 'Stopped' : 'Done'}: ${inWords(outcome)}.`);
    if (document.activeElement === stop) element(`[data-sends="${name}"]`).focus();
    stop.disabled = true;
  }

  #sender(signal: AbortSignal, outcome: Outcome): Sender {
    return {
      settings: this.#model.state.settings,
      now: () => this.#clock.now(),
      hit: () => hit(outcome),
      pause: (ms) => pause(ms, signal),
      tell: (text) => say(status, text),
    };
  }

  async #forget(): Promise<void> {
    this.#running?.abort();
    const isDone = await fetch('reset', { method: 'POST', priority: 'high' }).then(
      ({ ok }) => ok,
      () => false,
    );
    say(status, isDone ? 'All is forgotten.' : 'The server does not answer: nothing is forgotten.');
  }
}

async function hit(outcome: Outcome): Promise<void> {
  try {
    const response = await fetch('hit', { method: 'POST', priority: 'low' });
    outcome[response.ok ? 'letThrough' : 'refused'] += 1;
    showAnswer(response);
    await response.text(); // Else the browser keeps the connection for it.
  } catch {
    outcome.lost += 1;
  }
}

function inWords({ letThrough, refused, lost }: Outcome): string {
  return `${letThrough} let through, ${refused} refused${lost === 0 ? '' : `, ${lost} not answered by the server`}`;
}
