import { ALGORITHMS, type Algorithm, BOUNDS, type Settings } from '../shared/settings.js';
import { element, say, seconds } from './elements.js';
import { sendCommand } from './send-command.js';

const NAMES = Object.keys(BOUNDS) as (keyof typeof BOUNDS)[];
/** A slider that is dragged sends its value no more often. */
const LEAST_MS = 100;

/** What one can know about an algorithm before one tries it. */
const NOTES: Readonly<Record<Algorithm, string>> = {
  rolling: 'Exact. Remembers the time of every request in the window.',
  bucketed:
    'Never exceeds the limit. Remembers tenths of the window, so it rejects up to a tenth of the window longer.',
  counter: 'An estimate from two counters: sometimes it allows too many requests, or too few.',
  fixed: 'The same as below, plus the minimum distance. It allows twice the limit around a boundary.',
  token: 'A burst of the limit, then requests at the refill rate.',
  leaky: 'A queue that delays requests to one per window ÷ limit. It has no minimum distance.',
};

const algorithm = element<HTMLSelectElement>('#algorithm');
const note = element('#settings-note');
const problem = element('#settings-problem');
const slider = (name: string) => element<HTMLInputElement>(`#${name}`);

/** The settings that all tabs share: sends what is set here, shows what was set elsewhere. */
export class Controls {
  /** Set here, and not yet confirmed by the server: until then what it says is older. */
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
    tellValues();
  }

  #changed(): void {
    tellValues();
    this.#isUnsent = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#send();
    }, LEAST_MS);
  }

  async #send(): Promise<void> {
    const numbers = Object.fromEntries(NAMES.map((name) => [name, slider(name).valueAsNumber]));
    const body = JSON.stringify({ algorithm: algorithm.value, ...numbers });
    const headers = { 'Content-Type': 'application/json' };
    const wrong = await sendCommand('settings', { method: 'PUT', headers, body });
    say(problem, wrong === undefined ? '' : `Not changed. ${wrong}`);
    if (this.#timer === undefined) this.#isUnsent = false;
  }
}

function tellValues(): void {
  const isQueue = algorithm.value === 'leaky';
  slider('minDifferenceMs').disabled = isQueue;
  say(note, NOTES[algorithm.value as Algorithm]);
  for (const name of NAMES) {
    const value = slider(name).valueAsNumber;
    const text =
      name === 'limit'
        ? String(value)
        : value === 0 || (isQueue && name === 'minDifferenceMs')
          ? 'none'
          : seconds(value);
    say(element(`output[for="${name}"]`), text);
    slider(name).setAttribute('aria-valuetext', text);
  }
}
