import { ALGORITHMS, type Algorithm, BOUNDS, type Settings } from '../shared/settings.js';
import { element, seconds, setText } from './elements.js';
import { sendCommand } from './send-command.js';

const NAMES = Object.keys(BOUNDS) as (keyof typeof BOUNDS)[];
/** The least time between two values that a dragged slider sends. */
const LEAST_MS = 100;

/** A short description of each algorithm. */
const NOTES: Readonly<Record<Algorithm, string>> = {
  rolling: 'Exact. Stores the time of every request in the window.',
  bucketed:
    'Never exceeds the limit. Counts in tenths of the window, so it may reject for up to a tenth of the window longer.',
  counter: 'An estimate from two counters. It sometimes allows too many or too few requests.',
  fixed: 'The same as the row below, plus the minimum distance. It allows twice the limit around a boundary.',
  token: 'A burst of the limit, then requests at the refill rate.',
  leaky: 'A queue that starts one request per window ÷ limit. It has no minimum distance.',
};

const algorithm = element<HTMLSelectElement>('#algorithm');
const note = element('#settings-note');
const problem = element('#settings-problem');
const slider = (name: string) => element<HTMLInputElement>(`#${name}`);

/** The settings, which all tabs share. Sends changes in this tab, and shows those in others. */
export class Controls {
  /** Whether the server has not yet confirmed a change in this tab. Until then, its updates are older. */
  #isUnsent = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    algorithm.append(...Object.entries(ALGORITHMS).map(([value, text]) => new Option(text, value)));
    for (const name of NAMES) {
      slider(name).min = String(BOUNDS[name].least);
      slider(name).max = String(BOUNDS[name].most);
    }
    element('#settings').addEventListener('input', () => this.#changed());
  }

  show(settings: Settings): void {
    if (this.#isUnsent) return;
    algorithm.value = settings.algorithm;
    for (const name of NAMES) slider(name).value = String(settings[name]);
    showValues();
  }

  #changed(): void {
    showValues();
    this.#isUnsent = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#send();
    }, LEAST_MS);
  }

  async #send(): Promise<void> {
    const values = Object.fromEntries(NAMES.map((name) => [name, slider(name).valueAsNumber]));
    const body = JSON.stringify({ algorithm: algorithm.value, ...values });
    const headers = { 'Content-Type': 'application/json' };
    const wrong = await sendCommand('settings', { method: 'PUT', headers, body });
    setText(problem, wrong === undefined ? '' : `Not changed. ${wrong}`);
    if (this.#timer === undefined) this.#isUnsent = false;
  }
}

function showValues(): void {
  const isQueue = algorithm.value === 'leaky';
  slider('minDifferenceMs').disabled = isQueue;
  setText(note, NOTES[algorithm.value as Algorithm]);
  for (const name of NAMES) {
    const value = slider(name).valueAsNumber;
    const text =
      name === 'limit'
        ? String(value)
        : value === 0 || (isQueue && name === 'minDifferenceMs')
          ? 'none'
          : seconds(value);
    setText(element(`output[for="${name}"]`), text);
    slider(name).setAttribute('aria-valuetext', text);
  }
}
