import type { StoreKind } from '../shared/protocol.js';
import { ALGORITHM_NAMES, type Algorithm, BOUNDS, ROWS, type Settings } from '../shared/settings.js';
import { copyOnClick, pageAddress } from './copy.js';
import { element, setText } from './elements.js';
import { formatSeconds } from './format.js';
import type { Host } from './host.js';
import { toSnippet } from './snippet.js';

const NAMES = Object.keys(BOUNDS) as (keyof typeof BOUNDS)[];
/** The least time between two values that a dragged slider sends. */
const MIN_SEND_INTERVAL_MS = 100;

/** A short description of each algorithm. */
const NOTES: Readonly<Record<Algorithm, string>> = {
  rolling: 'Exact. It stores the time of every request in the window.',
  bucketed: 'Never exceeds the limit. It counts in tenths of the window, so it may reject for up to a tenth longer.',
  counter: 'An estimate from two counters. It sometimes allows too many or too few requests.',
  fixed: 'One counter, which restarts with each window. It allows twice the limit around a restart.',
  token: 'A burst of the limit, then requests at the refill rate.',
  leaky: 'A queue that starts one request per window ÷ limit. It has no minimum difference.',
};

/** The heading of the page by algorithm. */
const HEADLINES: Readonly<Record<Algorithm, string>> = {
  rolling: 'A fixed window allows twice its limit. A rolling window does not.',
  bucketed: 'A fixed window allows twice its limit. A bucketed window does not.',
  counter: 'A sliding window counter estimates, so it may allow too many requests.',
  fixed: 'A fixed window allows twice its limit when its counter restarts.',
  token: 'A token bucket allows a burst, and then a steady rate.',
  leaky: 'A leaky bucket lets requests wait, and starts them at a steady rate.',
};

const headline = element('#headline');
const storeNote = element('#store-note');
const algorithm = element<HTMLSelectElement>('#algorithm');
const note = element('#settings-note');
const problem = element('#settings-problem');
const snippet = element('#snippet');
const slider = (name: string) => element<HTMLInputElement>(`#${name}`);

/** The settings, which all tabs share. Sends changes in this tab, and shows those in others. */
export class Controls {
  readonly #host: Host;
  /** Whether the host has not yet confirmed a change in this tab. Until then, its updates are older. */
  #isUnsent = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #store: StoreKind = 'memory';

  /** @param onUse Called when the user changes a setting. */
  constructor(host: Host, onUse: () => void) {
    this.#host = host;
    algorithm.append(...ALGORITHM_NAMES.map((name) => new Option(ROWS[name], name)));
    for (const name of NAMES) {
      slider(name).min = String(BOUNDS[name].min);
      slider(name).max = String(BOUNDS[name].max);
    }
    element('#settings').addEventListener('input', () => {
      onUse();
      this.#changed();
    });
    copyOnClick(element('#copy'), () => snippet.textContent ?? '');
    copyOnClick(element('#copy-link'), pageAddress);
  }

  show(settings: Settings, store: StoreKind): void {
    this.#store = store;
    storeNote.hidden = store === 'memory';
    if (this.#isUnsent) return;
    algorithm.value = settings.algorithm;
    for (const name of NAMES) slider(name).value = String(settings[name]);
    showValues(this.#store);
  }

  #changed(): void {
    showValues(this.#store);
    this.#isUnsent = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#send();
    }, MIN_SEND_INTERVAL_MS);
  }

  async #send(): Promise<void> {
    const failure = await this.#host.change(currentSettings(), false);
    setText(problem, failure === undefined ? '' : `Not changed. ${failure}`);
    if (this.#timer === undefined) this.#isUnsent = false;
  }
}

function currentSettings(): Settings {
  const values = Object.fromEntries(NAMES.map((name) => [name, slider(name).valueAsNumber]));
  return { algorithm: algorithm.value, ...values } as unknown as Settings;
}

function showValues(store: StoreKind): void {
  const isQueue = algorithm.value === 'leaky';
  slider('minDifferenceMs').disabled = isQueue;
  setText(note, NOTES[algorithm.value as Algorithm]);
  setText(headline, HEADLINES[algorithm.value as Algorithm]);
  setText(snippet, toSnippet(currentSettings(), store));
  for (const name of NAMES) {
    const value = slider(name).valueAsNumber;
    const isNone = value === 0 || (isQueue && name === 'minDifferenceMs');
    const text = name === 'limit' ? String(value) : isNone ? 'none' : formatSeconds(value);
    setText(element(`output[for="${name}"]`), text);
    slider(name).setAttribute('aria-valuetext', text);
  }
}
